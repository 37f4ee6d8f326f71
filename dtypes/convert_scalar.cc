// Conversion of one number. Written apart from the loops over buffers, which are tested against it.

#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string>

#include "dtypes/base/status.h"
#include "dtypes/convert.h"
#include "dtypes/wide.h"

namespace lathe {
namespace {

Scalar LeastInteger(DType dtype) {
  return IsSigned(dtype) ? WrapInt(int64_t{1} << (BitWidth(dtype) - 1), dtype) : int64_t{0};
}
Scalar GreatestInteger(DType dtype) {
  return ~uint64_t{0} >> (64 - BitWidth(dtype)) >> (IsSigned(dtype) ? 1 : 0);
}

double GreatestFloat(DType dtype) {
  switch (dtype) {
    case DType::kF8E4M3FN:
      return 448;
    case DType::kF8E5M2:
    case DType::kF8E5M2FNUZ:
      return 57344;
    case DType::kF8E4M3FNUZ:
      return 240;
    case DType::kF8E8M0FNU:
      return 0x1p127;
    case DType::kF16:
      return 65504;
    case DType::kBF16:
      return 0x1.fep127;
    case DType::kF32:
      return static_cast<double>(std::numeric_limits<float>::max());
    default:
      return std::numeric_limits<double>::max();
  }
}

bool HasInfinity(DType dtype) {
  return std::isinf(Convert(std::numeric_limits<double>::infinity(), dtype).ToDouble());
}

// The nearest number of the type, for a number that does not fit; nullopt for one that does.
std::optional<Scalar> NearestInteger(const Scalar& value, DType dtype) {
  if (value.is_float() && std::isnan(value.ToDouble())) return Scalar(0);
  const Scalar whole = value.is_float() ? Scalar(std::trunc(value.ToDouble())) : value;
  const Scalar least = LeastInteger(dtype), greatest = GreatestInteger(dtype);
  if (whole < least) return least;
  if (greatest < whole) return greatest;
  return std::nullopt;
}
std::optional<Scalar> NearestFloat(const Scalar& value, DType dtype) {
  const double number = value.ToDouble();
  if (std::isnan(number)) return std::nullopt;
  const double greatest = GreatestFloat(dtype);
  if (dtype == DType::kF8E8M0FNU && number < 0x1p-127) return Scalar(0x1p-127);
  if (std::isinf(number) && HasInfinity(dtype)) return std::nullopt;
  if (std::isfinite(Convert(value, dtype).ToDouble())) return std::nullopt;
  return Scalar(number < 0 ? -greatest : greatest);
}
std::optional<Scalar> NearestReal(const Scalar& value, DType dtype) {
  if (IsFloat(dtype)) return NearestFloat(value, dtype);
  if (IsInteger(dtype)) return NearestInteger(value, dtype);
  if (value == Scalar(0) || value == Scalar(1)) return std::nullopt;
  return Scalar(true);
}

std::optional<Scalar> Nearest(const Scalar& value, DType dtype) {
  const std::complex<double> parts = value.ToComplex();
  if (!IsComplex(dtype)) {
    if (!value.is_complex()) return NearestReal(value, dtype);
    if (IsBool(dtype) && parts.imag() != 0) return Scalar(true);
    const std::optional<Scalar> real = NearestReal(parts.real(), dtype);
    if (real.has_value() || parts.imag() == 0) return real;
    return Convert(parts.real(), dtype);
  }
  const DType part = ComplexPart(dtype);
  const Scalar real_part = value.is_complex() ? Scalar(parts.real()) : value;
  const std::optional<Scalar> real = NearestFloat(real_part, part);
  const std::optional<Scalar> imaginary = NearestFloat(parts.imag(), part);
  if (!real.has_value() && !imaginary.has_value()) return std::nullopt;
  return Scalar(std::complex<double>(
      real.has_value() ? real->ToDouble() : Convert(real_part, part).ToDouble(),
      imaginary.has_value() ? imaginary->ToDouble() : Convert(parts.imag(), part).ToDouble()));
}

}  // namespace

absl::StatusOr<Scalar> ConvertAs(const Scalar& value, DType dtype, ConvertMode mode) {
  if (dtype == DType::kF4E2M1FNx2) {
    return InvalidArgument("an element of f4e2m1fn_x2 is a pair of numbers");
  }
  if (mode == ConvertMode::kWrap) return Convert(value, dtype);
  const std::optional<Scalar> nearest = Nearest(value, dtype);
  if (!nearest.has_value()) return Convert(value, dtype);
  if (mode == ConvertMode::kSaturate) return *nearest;
  if (!IsInteger(dtype)) return OutOfRange(value.ToString(), " does not fit ", Name(dtype));
  const int unused = 64 - BitWidth(dtype);
  const Scalar least = IsSigned(dtype) ? Scalar(INT64_MIN >> unused) : Scalar(0);
  const Scalar most = IsSigned(dtype) ? Scalar(INT64_MAX >> unused) : Scalar(UINT64_MAX >> unused);
  return OutOfRange(value.ToString(), " does not fit ", Name(dtype), ", whose numbers are ",
                    least.ToString(), " to ", most.ToString());
}

}  // namespace lathe
