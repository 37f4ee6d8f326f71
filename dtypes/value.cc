#include "dtypes/value.h"

#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace lathe {
namespace {

std::string Shown(absl::string_view text) {
  constexpr size_t kShown = 60;
  return absl::StrCat("\"", absl::CEscape(text.substr(0, kShown)),
                      text.size() > kShown ? "...\"" : "\"");
}

absl::StatusOr<Scalar> IntegerElement(absl::string_view text, const Scalar& value, DType dtype) {
  if (!value.is_int()) {
    return InvalidArgument("an element of ", Name(dtype), " is an integer, not ", Shown(text));
  }
  const Scalar element = Convert(value, dtype);
  if (element == value) return element;
  const int bits = BitWidth(dtype);
  const std::string range = IsSigned(dtype) ? absl::StrCat("[-2^", bits - 1, ", 2^", bits - 1, ")")
                                            : absl::StrCat("[0, 2^", bits, ")");
  return InvalidArgument("integer outside the range of ", Name(dtype), ", ", range, ": ", text);
}

}  // namespace

absl::StatusOr<DType> DTypeNamed(absl::string_view name) {
  const std::optional<DType> dtype = ParseDType(name);
  if (dtype.has_value()) return *dtype;
  std::string known;
  for (DType other : AllDTypes()) absl::StrAppend(&known, known.empty() ? "" : ", ", Name(other));
  return InvalidArgument("unknown dtype ", Shown(name), "; there are ", known);
}

absl::StatusOr<Scalar> ParseElement(absl::string_view text, DType dtype) {
  if (dtype == DType::kF4E2M1FNx2) {
    return InvalidArgument("an element of f4e2m1fn_x2 is a pair of numbers, not ", Shown(text));
  }
  LATHE_ASSIGN_OR_RETURN(const Scalar value, ParseScalar(text));
  if (IsInteger(dtype)) return IntegerElement(text, value, dtype);
  if (IsBool(dtype)) {
    if (value.is_bool() || (value.is_int() && (value == Scalar(0) || value == Scalar(1)))) {
      return Scalar(value.ToBool());
    }
    return InvalidArgument("an element of bool is true, false, 0 or 1, not ", Shown(text));
  }
  if (value.is_bool() || (value.is_complex() && !IsComplex(dtype))) {
    return InvalidArgument("not an element of ", Name(dtype), ": ", Shown(text));
  }
  return Convert(value, dtype);
}

namespace value_internal {

absl::Status DivisionByZero(DType dtype) {
  return InvalidArgument("ZeroDivisionError: division of ", Name(dtype), " by zero");
}

}  // namespace value_internal
}  // namespace lathe
