#include <cmath>
#include <limits>

#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "dtypes/wide.h"
#include "ir/loops/recorder.h"

namespace lathe {
namespace {

constexpr absl::string_view kDivisionMessage = "ZeroDivisionError";

template <typename T>
T FloatSign(T x) {
  return static_cast<T>((T(0) < x) - (x < T(0)));
}

template <typename T>
T PythonMod(T a, T b) {
  T mod = std::fmod(a, b);
  if (mod != 0 && (b < 0) != (mod < 0)) mod += b;
  return mod;
}

template <typename T>
T PythonFloorDiv(T a, T b) {
  if (b == 0) return a / b;
  const T mod = std::fmod(a, b);
  T quotient = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0)) quotient -= T(1);
  if (quotient == 0) return std::copysign(T(0), a / b);
  T floored = std::floor(quotient);
  if (quotient - floored > T(0.5)) floored += T(1);
  return floored;
}

// f32 through double: one rounding more, far below what vector math promises.
double WideUnary(OpKind kind, double x) {
  switch (kind) {
    case OpKind::kExp:
      return std::exp(x);
    case OpKind::kExp2:
      return std::exp2(x);
    case OpKind::kExpm1:
      return std::expm1(x);
    case OpKind::kLog:
      return std::log(x);
    case OpKind::kLog2:
      return std::log2(x);
    case OpKind::kLog10:
      return std::log10(x);
    case OpKind::kLog1p:
      return std::log1p(x);
    case OpKind::kSin:
      return std::sin(x);
    case OpKind::kCos:
      return std::cos(x);
    case OpKind::kTan:
      return std::tan(x);
    case OpKind::kAsin:
      return std::asin(x);
    case OpKind::kAcos:
      return std::acos(x);
    case OpKind::kAtan:
      return std::atan(x);
    case OpKind::kSinh:
      return std::sinh(x);
    case OpKind::kCosh:
      return std::cosh(x);
    case OpKind::kTanh:
      return std::tanh(x);
    case OpKind::kAsinh:
      return std::asinh(x);
    case OpKind::kAcosh:
      return std::acosh(x);
    case OpKind::kAtanh:
      return std::atanh(x);
    case OpKind::kSigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case OpKind::kErf:
      return std::erf(x);
    case OpKind::kErfc:
      return std::erfc(x);
    default:
      LATHE_UNREACHABLE();
  }
}

template <typename T>
absl::StatusOr<Scalar> FloatUnary(OpKind kind, T x) {
  const auto value = [](T v) { return Scalar(static_cast<double>(v)); };
  switch (kind) {
    case OpKind::kNeg:
      return value(-x);
    case OpKind::kAbs:
      return value(std::fabs(x));
    case OpKind::kSign:
      return value(FloatSign(x));
    case OpKind::kLogicalNot:
      return Scalar(x == 0);
    case OpKind::kSqrt:
      return value(std::sqrt(x));
    case OpKind::kRsqrt:
      return value(T(1) / std::sqrt(x));
    case OpKind::kReciprocal:
      return value(T(1) / x);
    case OpKind::kFloor:
      return value(std::floor(x));
    case OpKind::kCeil:
      return value(std::ceil(x));
    case OpKind::kTrunc:
      return value(std::trunc(x));
    case OpKind::kRound:
      return value(std::nearbyint(x));
    case OpKind::kIsNan:
      return Scalar(static_cast<bool>(std::isnan(x)));
    case OpKind::kIsInf:
      return Scalar(static_cast<bool>(std::isinf(x)));
    case OpKind::kSignBit:
      return Scalar(static_cast<bool>(std::signbit(x)));
    case OpKind::kBitwiseNot:
      return InvalidArgument("bitwise_not of a float");
    default:
      return value(static_cast<T>(WideUnary(kind, x)));
  }
}

template <typename T>
absl::StatusOr<Scalar> FloatBinary(OpKind kind, T a, T b) {
  const auto value = [](T v) { return Scalar(static_cast<double>(v)); };
  const double wide_a = a, wide_b = b;
  switch (kind) {
    case OpKind::kAdd:
      return value(a + b);
    case OpKind::kSub:
      return value(a - b);
    case OpKind::kMul:
      return value(a * b);
    case OpKind::kMinimum:
      return value(a < b || a != a ? a : b);
    case OpKind::kMaximum:
      return value(a > b || a != a ? a : b);
    case OpKind::kFmin:
      return value(a < b || b != b ? a : b);
    case OpKind::kFmax:
      return value(a > b || b != b ? a : b);
    case OpKind::kDiv:
      return value(a / b);
    case OpKind::kFloorDiv:
      return value(PythonFloorDiv(a, b));
    case OpKind::kTruncDiv:
      return value(std::trunc(a / b));
    case OpKind::kRemainder:
      return value(PythonMod(a, b));
    case OpKind::kFmod:
      return value(std::fmod(a, b));
    case OpKind::kPow:
      return value(static_cast<T>(std::pow(wide_a, wide_b)));
    case OpKind::kAtan2:
      return value(static_cast<T>(std::atan2(wide_a, wide_b)));
    case OpKind::kCopySign:
      return value(std::copysign(a, b));
    case OpKind::kHypot:
      return value(static_cast<T>(std::hypot(wide_a, wide_b)));
    case OpKind::kNextAfter:
      return value(std::nextafter(a, b));
    case OpKind::kEq:
      return Scalar(a == b);
    case OpKind::kNe:
      return Scalar(a != b);
    case OpKind::kLt:
      return Scalar(a < b);
    case OpKind::kLe:
      return Scalar(a <= b);
    case OpKind::kGt:
      return Scalar(a > b);
    case OpKind::kGe:
      return Scalar(a >= b);
    default:
      return InvalidArgument(OpKindName(kind), " of floats");
  }
}

Scalar FromBits(int64_t bits, DType dtype) {
  if (IsBool(dtype)) return Scalar(bits != 0);
  return dtype == DType::kU64 ? Scalar(static_cast<uint64_t>(bits)) : Scalar(bits);
}

int64_t ToBits(const Scalar& value, DType dtype) {
  if (IsBool(dtype)) return value.ToBool();
  return dtype == DType::kU64 ? static_cast<int64_t>(value.ToUInt()) : value.ToInt();
}

int64_t IntPow(int64_t base, int64_t exponent, DType dtype) {
  if (exponent < 0 && dtype != DType::kU64) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  int64_t result = 1;
  for (uint64_t e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if (e & 1) result = WrapMul(result, base, dtype);
    base = WrapMul(base, base, dtype);
  }
  return result;
}

absl::StatusOr<Scalar> IntUnary(OpKind kind, DType dtype, int64_t x) {
  const auto value = [&](int64_t v) { return FromBits(WrapInt(v, dtype), dtype); };
  const bool negative = IsSigned(dtype) && x < 0;
  switch (kind) {
    case OpKind::kNeg:
      return value(WrapNeg(x, dtype));
    case OpKind::kAbs:
      return value(negative ? WrapNeg(x, dtype) : x);
    case OpKind::kSign:
      return value(negative ? -1 : x != 0);
    case OpKind::kBitwiseNot:
      return value(IsBool(dtype) ? x == 0 : ~x);
    case OpKind::kLogicalNot:
      return Scalar(x == 0);
    case OpKind::kFloor:
    case OpKind::kCeil:
    case OpKind::kTrunc:
    case OpKind::kRound:
      return value(x);
    case OpKind::kIsNan:
    case OpKind::kIsInf:
      return Scalar(false);
    case OpKind::kSignBit:
      return Scalar(negative);
    default:
      return InvalidArgument(OpKindName(kind), " of integers");
  }
}

absl::StatusOr<Scalar> IntDivision(OpKind kind, DType dtype, int64_t a, int64_t b) {
  if (b == 0) return InvalidArgument(kDivisionMessage);
  switch (kind) {
    case OpKind::kFloorDiv:
      return FromBits(FloorDiv(a, b, dtype), dtype);
    case OpKind::kTruncDiv:
      return FromBits(TruncDiv(a, b, dtype), dtype);
    case OpKind::kRemainder:
      return FromBits(Mod(a, b, dtype), dtype);
    default:
      return FromBits(TruncMod(a, b, dtype), dtype);
  }
}

absl::StatusOr<Scalar> IntBinary(OpKind kind, DType dtype, int64_t a, int64_t b) {
  if (IsIntegerDivision(kind, dtype)) return IntDivision(kind, dtype, a, b);
  const auto value = [&](int64_t v) { return FromBits(WrapInt(v, dtype), dtype); };
  const bool less = IntLess(a, b, dtype), greater = IntLess(b, a, dtype);
  switch (kind) {
    case OpKind::kAdd:
      return value(WrapAdd(a, b, dtype));
    case OpKind::kSub:
      return value(WrapSub(a, b, dtype));
    case OpKind::kMul:
      return value(WrapMul(a, b, dtype));
    case OpKind::kMinimum:
    case OpKind::kFmin:
      return value(less ? a : b);
    case OpKind::kMaximum:
    case OpKind::kFmax:
      return value(greater ? a : b);
    case OpKind::kPow:
      return value(IntPow(a, b, dtype));
    case OpKind::kAnd:
      return value(a & b);
    case OpKind::kOr:
      return value(a | b);
    case OpKind::kXor:
      return value(a ^ b);
    case OpKind::kShiftLeft:
      return value(ShiftLeft(a, b, dtype));
    case OpKind::kShiftRight:
      return value(ShiftRight(a, b, dtype));
    case OpKind::kEq:
      return Scalar(a == b);
    case OpKind::kNe:
      return Scalar(a != b);
    case OpKind::kLt:
      return Scalar(less);
    case OpKind::kLe:
      return Scalar(!greater);
    case OpKind::kGt:
      return Scalar(greater);
    case OpKind::kGe:
      return Scalar(!less);
    default:
      return InvalidArgument(OpKindName(kind), " of integers");
  }
}

template <typename T>
absl::StatusOr<Scalar> FloatApply(OpKind kind, absl::Span<const Scalar> x) {
  const auto at = [&](int k) { return static_cast<T>(x[k].ToDouble()); };
  if (kind == OpKind::kFma) return Scalar(static_cast<double>(std::fma(at(0), at(1), at(2))));
  return x.size() == 1 ? FloatUnary<T>(kind, at(0)) : FloatBinary<T>(kind, at(0), at(1));
}

absl::StatusOr<Scalar> IntApply(OpKind kind, DType dtype, absl::Span<const Scalar> x) {
  const auto at = [&](int k) { return ToBits(x[k], dtype); };
  if (kind == OpKind::kFma) {
    return FromBits(WrapAdd(WrapMul(at(0), at(1), dtype), at(2), dtype), dtype);
  }
  return x.size() == 1 ? IntUnary(kind, dtype, at(0)) : IntBinary(kind, dtype, at(0), at(1));
}

}  // namespace

absl::StatusOr<Scalar> ScalarApply(OpKind kind, DType dtype, absl::Span<const Scalar> operands) {
  if (static_cast<int>(operands.size()) != OpKindArity(kind)) {
    return InvalidArgument(OpKindName(kind), " takes ", OpKindArity(kind), " operands, not ",
                           operands.size());
  }
  if (kind == OpKind::kWhere) return operands[operands[0].ToBool() ? 1 : 2];
  if (dtype == DType::kF32) return FloatApply<float>(kind, operands);
  if (dtype == DType::kF64) return FloatApply<double>(kind, operands);
  if (IsComputeDType(dtype)) return IntApply(kind, dtype, operands);
  return InvalidArgument(OpKindName(kind), " is not computed in ", absl::string_view(Name(dtype)));
}

}  // namespace lathe
