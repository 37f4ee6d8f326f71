#ifndef LATHE_DTYPES_WIDE_H_
#define LATHE_DTYPES_WIDE_H_

// The meaning of integer arithmetic on one element, held in 64 bits, where C++ leaves it open
// (design §6). Every integer dtype fits an int64_t: u64 as its bit pattern, the rest as their
// value. The functions that take a dtype expect operands that are values of it and give one back.
//
//   WrapInt(int64_t{300}, DType::kU8) == 44;  ShiftRight(-8, 70, DType::kI32) == -1;
//   FloatToIntWrap(-1.5, DType::kU8) == 255;  FloorDiv(-7, 2, DType::kI64) == -4

#include <cstdint>

#include "dtypes/base/check.h"
#include "dtypes/dtype.h"

namespace lathe {

// The low bits of `value` as an element of the integer `dtype`, extended by sign or zero. Bool:
// whether `value` is not zero.
constexpr int64_t WrapInt(int64_t value, DType dtype) {
  if (IsBool(dtype)) return value != 0;
  const int unused = 64 - BitWidth(dtype);
  const uint64_t high = static_cast<uint64_t>(value) << unused;
  return IsSigned(dtype) ? static_cast<int64_t>(high) >> unused
                         : static_cast<int64_t>(high >> unused);
}
constexpr uint64_t WrapInt(uint64_t value, DType dtype) {
  return static_cast<uint64_t>(WrapInt(static_cast<int64_t>(value), dtype));
}

// NaN gives 0; else truncates, clamps to [-2^63, 2^64): the 64 bits that wrap to any width.
constexpr uint64_t FloatToBits64(double value) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (value != value) return 0;
  if (value >= 2 * kTwo63) return ~uint64_t{0};
  if (value >= kTwo63) return static_cast<uint64_t>(value);
  if (value <= -kTwo63) return uint64_t{1} << 63;
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

// Float to integer; bool: whether `value` is not zero (NaN is not).
constexpr int64_t FloatToIntWrap(double value, DType dtype) {
  if (IsBool(dtype)) return value != 0;
  return WrapInt(static_cast<int64_t>(FloatToBits64(value)), dtype);
}

// Sum, difference, product, negation: wrap at the dtype's own width.
constexpr int64_t WrapAdd(int64_t a, int64_t b, DType dtype) {
  return static_cast<int64_t>(WrapInt(static_cast<uint64_t>(a) + static_cast<uint64_t>(b), dtype));
}
constexpr int64_t WrapSub(int64_t a, int64_t b, DType dtype) {
  return static_cast<int64_t>(WrapInt(static_cast<uint64_t>(a) - static_cast<uint64_t>(b), dtype));
}
constexpr int64_t WrapMul(int64_t a, int64_t b, DType dtype) {
  return static_cast<int64_t>(WrapInt(static_cast<uint64_t>(a) * static_cast<uint64_t>(b), dtype));
}
constexpr int64_t WrapNeg(int64_t a, DType dtype) { return WrapSub(0, a, dtype); }

// Whether a < b, as values of the dtype.
constexpr bool IntLess(int64_t a, int64_t b, DType dtype) {
  return dtype == DType::kU64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
}

// A shift below 0, or of the width and more, leaves 0.
constexpr int64_t ShiftLeft(int64_t a, int64_t shift, DType dtype) {
  if (shift < 0 || shift >= BitWidth(dtype)) return 0;
  return static_cast<int64_t>(WrapInt(static_cast<uint64_t>(a) << shift, dtype));
}

// A shift below 0, or of the width and more, leaves the sign fill: -1 or 0; for unsigned types 0.
constexpr int64_t ShiftRight(int64_t a, int64_t shift, DType dtype) {
  if (shift < 0 || shift >= BitWidth(dtype)) return IsSigned(dtype) && a < 0 ? -1 : 0;
  if (!IsSigned(dtype)) return static_cast<int64_t>(static_cast<uint64_t>(a) >> shift);
  return a >> shift;
}

// Quotient rounded towards zero; min / -1 = min. The divisor is not 0: that is eager's error, and
// the caller's to report.
constexpr int64_t TruncDiv(int64_t a, int64_t b, DType dtype) {
  LATHE_CHECK(b != 0);
  if (dtype == DType::kU64) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) / static_cast<uint64_t>(b));
  }
  if (b == -1) return WrapNeg(a, dtype);
  return a / b;
}

// The remainder of TruncDiv: the sign of the dividend (C's %, torch.fmod); min % -1 = 0.
constexpr int64_t TruncMod(int64_t a, int64_t b, DType dtype) {
  LATHE_CHECK(b != 0);
  if (dtype == DType::kU64) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) % static_cast<uint64_t>(b));
  }
  return b == -1 ? 0 : a % b;
}

// Quotient rounded down; min / -1 = min. The divisor is not 0.
constexpr int64_t FloorDiv(int64_t a, int64_t b, DType dtype) {
  const int64_t quotient = TruncDiv(a, b, dtype);
  const bool rounded_up = IsSigned(dtype) && (a < 0) != (b < 0) && TruncMod(a, b, dtype) != 0;
  return rounded_up ? quotient - 1 : quotient;
}

// The remainder of FloorDiv: the sign of the divisor (Python's %, torch.remainder).
constexpr int64_t Mod(int64_t a, int64_t b, DType dtype) {
  const int64_t remainder = TruncMod(a, b, dtype);
  const bool other_sign = IsSigned(dtype) && remainder != 0 && (remainder < 0) != (b < 0);
  return other_sign ? remainder + b : remainder;
}

}  // namespace lathe

#endif  // LATHE_DTYPES_WIDE_H_
