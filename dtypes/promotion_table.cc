#include "dtypes/promotion_table.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dtypes/promotion.h"

namespace lathe {
namespace {

using Rank = PromotionOperand::Rank;

bool NumpyHas(DType d) {
  if (IsStorageOnly(d) || IsSubByte(d) || IsF8(d)) return false;
  return d != DType::kBF16;
}

// The float that NumPy takes to hold integers of a width: from 32 bits on f64, though it does not
// hold those of 64.
DType NumpyFloatFor(DType integral) {
  if (IsBool(integral) || BitWidth(integral) == 8) return DType::kF16;
  return BitWidth(integral) == 16 ? DType::kF32 : DType::kF64;
}

// The part of a complex type, an integer as a float, a float itself.
DType NumpyPart(DType d) {
  if (IsComplex(d)) return ComplexPart(d);
  return IsFloat(d) ? d : NumpyFloatFor(d);
}

DType NumpyIntegers(DType a, DType b) {
  if (IsBool(a)) return b;
  if (IsBool(b)) return a;
  if (IsSigned(a) == IsSigned(b)) return BitWidth(a) >= BitWidth(b) ? a : b;
  const DType with_sign = IsSigned(a) ? a : b, without = IsSigned(a) ? b : a;
  if (BitWidth(with_sign) > BitWidth(without)) return with_sign;
  switch (BitWidth(without)) {
    case 8:
      return DType::kI16;
    case 16:
      return DType::kI32;
    case 32:
      return DType::kI64;
    default:
      return DType::kF64;
  }
}

// A Python number beside an array, as NEP 50 has it: it takes the array's type within its category,
// else the category's default of 64 bits.
std::optional<DType> NumpyWithPython(DType array, DType python) {
  if (!NumpyHas(array)) return std::nullopt;
  if (IsBool(python)) return array;
  if (IsInteger(python)) return IsBool(array) ? DType::kI64 : array;
  if (IsFloat(python)) return IsIntegral(array) ? DType::kF64 : array;
  if (IsComplex(array)) return array;
  if (IsFloat(array) && array != DType::kF64) return DType::kC64;
  return DType::kC128;
}

std::string Text(const std::optional<DType>& dtype) {
  return dtype.has_value() ? std::string(Name(*dtype)) : "-";
}
std::string Text(const absl::StatusOr<DType>& dtype) {
  return dtype.ok() ? std::string(Name(*dtype)) : "error";
}

void AddRow(const std::string& types, const std::string& numpy,
            const absl::StatusOr<DType>& pytorch, const absl::StatusOr<DType>& extended,
            std::string& table) {
  if (numpy == Text(pytorch) && numpy == Text(extended)) return;
  absl::StrAppend(&table, "| ", types, " | ", numpy, " | ", Text(pytorch), " | ", Text(extended),
                  " |\n");
}

std::string TwoArrays() {
  std::string table;
  for (DType a : AllDTypes()) {
    for (DType b : AllDTypes()) {
      if (a > b || !NumpyHas(a) || !NumpyHas(b)) continue;
      AddRow(absl::StrCat(Name(a), ", ", Name(b)), Text(NumpyPromoteTypes(a, b)),
             PromoteTypes(a, b), PromoteTypes(a, b, PromotionRules::kExtended), table);
    }
  }
  return table;
}

std::string ArraysWithNumbers() {
  const std::pair<const char*, DType> numbers[] = {
      {"True", DType::kBool}, {"1", DType::kI64}, {"1.0", DType::kF64}, {"1j", DType::kC128}};
  std::string table;
  for (DType a : AllDTypes()) {
    if (!NumpyHas(a)) continue;
    for (const auto& [text, number] : numbers) {
      const PromotionOperand operands[] = {{a}, {number, Rank::kPythonScalar}};
      AddRow(absl::StrCat(Name(a), ", ", text), Text(NumpyWithPython(a, number)),
             ResultType(operands), ResultType(operands, PromotionRules::kExtended), table);
    }
  }
  return table;
}

std::string Lattice() {
  std::vector<DType> types;
  for (DType d : AllDTypes()) {
    if (IsIntegral(d)) types.push_back(d);
  }
  std::string table = "| |", line = "|---|";
  for (DType d : types) {
    absl::StrAppend(&table, " ", Name(d), " |");
    line += "---|";
  }
  absl::StrAppend(&table, "\n", line, "\n");
  for (DType a : types) {
    absl::StrAppend(&table, "| **", Name(a), "** |");
    for (DType b : types) {
      const absl::StatusOr<DType> join = PromoteTypes(a, b, PromotionRules::kExtended);
      absl::StrAppend(&table, " ", join.ok() ? Text(join) : "-", " |");
    }
    table += "\n";
  }
  return table;
}

}  // namespace

std::optional<DType> NumpyPromoteTypes(DType a, DType b) {
  if (!NumpyHas(a) || !NumpyHas(b)) return std::nullopt;
  if (IsIntegral(a) && IsIntegral(b)) return NumpyIntegers(a, b);
  const DType part_a = NumpyPart(a), part_b = NumpyPart(b);
  const DType part = BitWidth(part_a) >= BitWidth(part_b) ? part_a : part_b;
  if (!IsComplex(a) && !IsComplex(b)) return part;
  return part == DType::kF64 ? DType::kC128 : DType::kC64;  // NumPy has no c32
}

std::string PromotionTable() {
  const std::string head = "| types | NumPy | PyTorch | kExtended |\n|---|---|---|---|\n";
  return absl::StrCat(
      "# Where NumPy, PyTorch and lathe promote differently\n\n"
      "Written by `./bazelw run //dtypes:write_promotion_table`; a test compares it with the "
      "code.\n\n"
      "lathe's default rules are PyTorch's, so its column is theirs. `kExtended` also answers "
      "where PyTorch raises\n(`error`): two integers give the narrowest integer type that holds "
      "both without loss, an integer with a float\nor complex type gives the latter. Pairs on "
      "which all agree are left out.\n\n"
      "## Two arrays\n\n",
      head, TwoArrays(),
      "\n## An array and a Python number\n\n"
      "NumPy's column is that of NEP 50 (NumPy 2). NumPy raises when an integer does not fit the "
      "array's type;\nPyTorch and lathe wrap it.\n\n",
      head, ArraysWithNumbers(),
      "\n## Integers under kExtended\n\n"
      "The narrowest type that holds every value of both; `-`: there is none, and promotion is an "
      "error. NumPy has\nno sub-byte types; PyTorch promotes the unsigned ones with floats, and no "
      "others.\n\n",
      Lattice());
}

}  // namespace lathe
