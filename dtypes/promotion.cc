#include "dtypes/promotion.h"

#include <algorithm>
#include <optional>

#include "dtypes/base/check.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

// All unsigned types but u8: PyTorch promotes them with floats alone.
bool IsBareUnsigned(DType d) { return IsUnsigned(d) && d != DType::kU8; }

// The narrowest signed or unsigned type of at least `bits` bits; nullopt past 64.
std::optional<DType> NarrowestInteger(DTypeKind kind, int bits) {
  std::optional<DType> best;
  for (DType dtype : AllDTypes()) {
    if (Kind(dtype) != kind || BitWidth(dtype) < bits) continue;
    if (!best.has_value() || BitWidth(dtype) < BitWidth(*best)) best = dtype;
  }
  return best;
}

int ValueBits(DType integral) { return IsBool(integral) ? 1 : BitWidth(integral); }

// The least integral type that holds all values of both.
std::optional<DType> IntegerJoin(DType a, DType b) {
  if (a == b) return a;
  const int bits_a = ValueBits(a), bits_b = ValueBits(b);
  if (!IsSigned(a) && !IsSigned(b)) {
    return NarrowestInteger(DTypeKind::kUnsigned, std::max(bits_a, bits_b));
  }
  // An unsigned value needs one bit more among the signed ones.
  return NarrowestInteger(DTypeKind::kSigned,
                          std::max(bits_a + (IsSigned(a) ? 0 : 1), bits_b + (IsSigned(b) ? 0 : 1)));
}

int FloatOrder(DType part) {
  switch (part) {
    case DType::kF16:
    case DType::kBF16:
      return 0;
    case DType::kF32:
      return 1;
    default:
      return 2;
  }
}

// Of two f16, bf16, f32 or f64.
DType WiderFloat(DType a, DType b) {
  if (a == b) return a;
  if (FloatOrder(a) == 0 && FloatOrder(b) == 0) return DType::kF32;
  return FloatOrder(a) > FloatOrder(b) ? a : b;
}

// A float's complex partner; bf16 has the range of f32 and takes c64.
std::optional<DType> ComplexFor(DType float_dtype) {
  return float_dtype == DType::kBF16 ? DType::kC64 : ComplexOf(float_dtype);
}

// At least one of the two is complex, the other complex or a float.
std::optional<DType> ComplexJoin(DType a, DType b) {
  const std::optional<DType> of_a = IsComplex(a) ? a : ComplexFor(a);
  const std::optional<DType> of_b = IsComplex(b) ? b : ComplexFor(b);
  if (!of_a.has_value() || !of_b.has_value()) return std::nullopt;
  return ComplexOf(WiderFloat(ComplexPart(*of_a), ComplexPart(*of_b)));
}

// torch.promote_types; nullopt where it raises.
std::optional<DType> PyTorchJoin(DType a, DType b) {
  if (a == b) return a;
  if (IsF8(a) || IsF8(b)) return std::nullopt;
  if (a == DType::kF4E2M1FNx2 || b == DType::kF4E2M1FNx2) return std::nullopt;
  if (IsBareUnsigned(a) || IsBareUnsigned(b)) {
    if (IsFloat(a)) return a;
    if (IsFloat(b)) return b;
    return std::nullopt;
  }
  if (IsSubByte(a) || IsSubByte(b)) return std::nullopt;
  if (IsIntegral(a) && IsIntegral(b)) return IntegerJoin(a, b);
  if (IsIntegral(a)) return b;
  if (IsIntegral(b)) return a;
  if (IsComplex(a) || IsComplex(b)) return ComplexJoin(a, b);
  return WiderFloat(a, b);
}

std::optional<DType> Join(DType a, DType b, PromotionRules rules) {
  std::optional<DType> result = PyTorchJoin(a, b);
  if (result.has_value() || rules == PromotionRules::kPyTorch) return result;
  if (a == DType::kF4E2M1FNx2 || b == DType::kF4E2M1FNx2) return std::nullopt;
  if (IsIntegral(a) && IsIntegral(b)) return IntegerJoin(a, b);
  if (IsIntegral(a)) return b;
  if (IsIntegral(b)) return a;
  return std::nullopt;
}

absl::Status CannotPromote(DType a, DType b, PromotionRules rules) {
  if (rules == PromotionRules::kExtended) {
    return InvalidArgument("cannot promote ", Name(a), " with ", Name(b),
                           ": no type holds both without loss; convert one of them explicitly");
  }
  const std::optional<DType> extended = Join(a, b, PromotionRules::kExtended);
  return InvalidArgument(
      "cannot promote ", Name(a), " with ", Name(b),
      ": PyTorch defines no common type; convert one of them explicitly, or use kExtended "
      "promotion, ",
      extended.has_value() ? absl::StrCat("which gives ", Name(*extended))
                           : std::string("though it has none for these two either"));
}

DType DefaultOfPythonScalar(DType dtype) {
  if (IsComplex(dtype)) return DType::kC64;
  if (IsFloat(dtype)) return DType::kF32;
  return dtype;
}

// The common type of the operands of one rank; nullopt in it when there are none.
absl::StatusOr<std::optional<DType>> TypeOfRank(absl::Span<const PromotionOperand> operands,
                                                PromotionOperand::Rank rank, PromotionRules rules) {
  std::optional<DType> result;
  for (const PromotionOperand& operand : operands) {
    if (operand.rank != rank) continue;
    const bool is_python = rank == PromotionOperand::Rank::kPythonScalar;
    const DType dtype = is_python ? DefaultOfPythonScalar(operand.dtype) : operand.dtype;
    if (!result.has_value()) {
      result = dtype;
    } else {
      LATHE_ASSIGN_OR_RETURN(result, PromoteTypes(*result, dtype, rules));
    }
  }
  return result;
}

// The higher rank's type, unless the lower is of a higher category.
absl::StatusOr<DType> CombineRanks(DType higher, DType lower, PromotionRules rules) {
  if (IsComplex(higher)) return higher;
  if (IsFloat(higher)) {
    if (!IsComplex(lower)) return higher;
    const std::optional<DType> result = ComplexFor(higher);
    if (!result.has_value()) return CannotPromote(higher, lower, rules);
    return *result;
  }
  if (IsComplex(lower)) return lower;
  if (IsBool(higher) || IsFloat(lower)) return PromoteTypes(higher, lower, rules);
  return higher;
}

}  // namespace

absl::StatusOr<DType> PromoteTypes(DType a, DType b, PromotionRules rules) {
  const std::optional<DType> result = Join(a, b, rules);
  if (!result.has_value()) return CannotPromote(a, b, rules);
  return *result;
}

absl::StatusOr<DType> ResultType(absl::Span<const PromotionOperand> operands,
                                 PromotionRules rules) {
  using Rank = PromotionOperand::Rank;
  if (operands.empty()) return InvalidArgument("type promotion needs at least one operand");
  std::optional<DType> result;
  for (Rank rank : {Rank::kPythonScalar, Rank::kZeroDim, Rank::kDimensioned}) {
    LATHE_ASSIGN_OR_RETURN(const std::optional<DType> higher, TypeOfRank(operands, rank, rules));
    if (!higher.has_value()) continue;
    if (!result.has_value()) {
      result = higher;
    } else {
      LATHE_ASSIGN_OR_RETURN(result, CombineRanks(*higher, *result, rules));
    }
  }
  LATHE_CHECK(result.has_value()) << "an operand of unknown rank";
  return *result;
}

DType ToFloatType(DType dtype) { return IsIntegral(dtype) ? DType::kF32 : dtype; }

absl::StatusOr<DType> TrueDivType(absl::Span<const PromotionOperand> operands,
                                  PromotionRules rules) {
  LATHE_ASSIGN_OR_RETURN(const DType result, ResultType(operands, rules));
  return ToFloatType(result);
}

DType SumType(DType dtype) { return IsIntegral(dtype) ? DType::kI64 : dtype; }

absl::StatusOr<DType> MeanType(DType dtype) {
  if (!IsIntegral(dtype)) return dtype;
  return InvalidArgument("mean of ", Name(dtype),
                         ": the input must be float or complex, or a dtype be given");
}

absl::StatusOr<DType> BitwiseType(absl::Span<const PromotionOperand> operands,
                                  PromotionRules rules) {
  LATHE_ASSIGN_OR_RETURN(const DType result, ResultType(operands, rules));
  if (IsIntegral(result)) return result;
  return InvalidArgument("bitwise operations need integers or bool, not ", Name(result));
}

absl::StatusOr<DType> ComparisonType(Comparison comparison,
                                     absl::Span<const PromotionOperand> operands,
                                     PromotionRules rules) {
  LATHE_ASSIGN_OR_RETURN(const DType result, ResultType(operands, rules));
  if (comparison == Comparison::kEquality || !IsComplex(result)) return result;
  return InvalidArgument("complex numbers (", Name(result), ") have no order");
}

}  // namespace lathe
