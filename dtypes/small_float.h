#ifndef LATHE_DTYPES_SMALL_FLOAT_H_
#define LATHE_DTYPES_SMALL_FLOAT_H_

// Value types for the float dtypes that C++20 lacks: F16, BF16 and the f8 kinds. They only store;
// arithmetic happens in float (dtypes/dtype.h: ComputeType).
//
//   F16 half = F16::FromFloat(1.0f);  float back = half.ToFloat();
//
// Rounding is to nearest even. Overflow and NaN follow PyTorch (small_floats.json): f16, bf16 and
// f8e5m2 overflow to infinity, f8e4m3fn and the fnuz kinds to NaN; e8m0fnu holds powers of two.
// Formats: IEEE 754-2019 binary16; bfloat16; Micikevicius et al., "FP8 formats for deep learning",
// arXiv:2209.05433; the fnuz kinds, arXiv:2206.02915; OCP MX 1.0 for e8m0.
//
// Everything is inline and free of tables: these run in host loops.

#include <bit>
#include <cstdint>

#include "dtypes/base/check.h"
#include "dtypes/dtype.h"

namespace lathe {
namespace small_float_internal {

inline constexpr uint32_t kInfinity = 0x7f800000;
inline constexpr uint32_t kMagnitude = 0x7fffffff;

constexpr uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value); }
constexpr float Power2(int exponent) {
  return std::bit_cast<float>(static_cast<uint32_t>(127 + exponent) << 23);
}

// The code of |value| (its bits in `magnitude`) with kMantissa bits, rounded to nearest even as if
// the exponent had no upper end: a code past the format's last one means overflow.
template <int kMantissa, int kBias>
constexpr uint32_t EncodeMagnitude(uint32_t magnitude) {
  constexpr int kShift = 23 - kMantissa;
  // A float whose last place is the format's smallest subnormal: the addition itself rounds.
  // Both results are formed, so that loops become vectors.
  constexpr float kAnchor = Power2(1 - kBias - kMantissa + 23);
  const uint32_t subnormal = Bits(std::bit_cast<float>(magnitude) + kAnchor) - Bits(kAnchor);
  const uint32_t half = (1u << (kShift - 1)) - 1 + ((magnitude >> kShift) & 1);
  const uint32_t normal =
      ((magnitude + half) >> kShift) - (static_cast<uint32_t>(127 - kBias) << kMantissa);
  return magnitude < Bits(Power2(1 - kBias)) ? subnormal : normal;
}

// The value of a finite code without its sign.
template <int kMantissa, int kBias>
constexpr float DecodeMagnitude(uint32_t code) {
  const float subnormal =
      static_cast<float>(static_cast<int32_t>(code)) * Power2(1 - kBias - kMantissa);
  const float normal =
      std::bit_cast<float>((code << (23 - kMantissa)) + (static_cast<uint32_t>(127 - kBias) << 23));
  return code < (1u << kMantissa) ? subnormal : normal;
}

constexpr float WithSign(float magnitude, bool negative) {
  return std::bit_cast<float>(Bits(magnitude) | (negative ? 0x80000000u : 0u));
}

inline constexpr float kNaN = std::bit_cast<float>(0x7fc00000u);

constexpr uint8_t EncodeE4M3FN(float value) {
  const uint32_t code = EncodeMagnitude<3, 7>(Bits(value) & kMagnitude);
  return static_cast<uint8_t>((code > 0x7e ? 0x7f : code) | (Bits(value) >> 24 & 0x80));
}
constexpr float DecodeE4M3FN(uint8_t bits) {
  const uint32_t code = bits & 0x7f;
  return WithSign(code == 0x7f ? kNaN : DecodeMagnitude<3, 7>(code), (bits & 0x80) != 0);
}

constexpr uint8_t EncodeE5M2(float value) {
  const uint32_t magnitude = Bits(value) & kMagnitude;
  uint32_t code = EncodeMagnitude<2, 15>(magnitude);
  if (code > 0x7c) code = magnitude > kInfinity ? 0x7f : 0x7c;
  return static_cast<uint8_t>(code | (Bits(value) >> 24 & 0x80));
}
constexpr float DecodeE5M2(uint8_t bits) {
  const uint32_t code = bits & 0x7f;
  const float magnitude = code > 0x7c    ? kNaN
                          : code == 0x7c ? std::bit_cast<float>(kInfinity)
                                         : DecodeMagnitude<2, 15>(code);
  return WithSign(magnitude, (bits & 0x80) != 0);
}

// The fnuz kinds have one zero and one NaN; the latter takes the code of -0.
template <int kMantissa, int kBias>
constexpr uint8_t EncodeFnuz(float value) {
  const uint32_t code = EncodeMagnitude<kMantissa, kBias>(Bits(value) & kMagnitude);
  if (code == 0) return 0;
  return static_cast<uint8_t>(code > 0x7f ? 0x80 : code | (Bits(value) >> 24 & 0x80));
}
template <int kMantissa, int kBias>
constexpr float DecodeFnuz(uint8_t bits) {
  if (bits == 0x80) return kNaN;
  return WithSign(DecodeMagnitude<kMantissa, kBias>(bits & 0x7f), (bits & 0x80) != 0);
}

// The nearest power of two of |value|; a half goes up, and 1.5 * 2^127 thereby to NaN. Among
// float's subnormals PyTorch counts everything past 2^-127 as nearer to 2^-126.
constexpr uint8_t EncodeE8M0(float value) {
  const uint32_t magnitude = Bits(value) & kMagnitude;
  const uint32_t exponent = magnitude >> 23;
  if (exponent == 0xff) return 0xff;
  if (exponent == 0) return magnitude > 0x400000 ? 1 : 0;
  return static_cast<uint8_t>(exponent + (magnitude >> 22 & 1));
}
constexpr float DecodeE8M0(uint8_t bits) {
  if (bits == 0xff) return kNaN;
  return std::bit_cast<float>(bits == 0 ? 0x400000u : static_cast<uint32_t>(bits) << 23);
}

}  // namespace small_float_internal

constexpr uint16_t EncodeF16(float value) {
  namespace internal = small_float_internal;
  const uint32_t magnitude = internal::Bits(value) & internal::kMagnitude;
  uint32_t code = internal::EncodeMagnitude<10, 15>(magnitude);
  // As x86 and Arm convert: a NaN keeps the top of its payload and becomes quiet.
  if (magnitude > internal::kInfinity) {
    code = 0x7e00 | (magnitude >> 13 & 0x1ff);
  } else if (code > 0x7c00) {
    code = 0x7c00;
  }
  return static_cast<uint16_t>(code | (internal::Bits(value) >> 16 & 0x8000));
}

constexpr float DecodeF16(uint16_t bits) {
  namespace internal = small_float_internal;
  const uint32_t code = bits & 0x7fff;
  float magnitude = internal::DecodeMagnitude<10, 15>(code);
  if (code >= 0x7c00) {  // a signalling NaN becomes quiet, as when encoded
    const uint32_t quiet = code > 0x7c00 ? 0x400000 : 0;
    magnitude = std::bit_cast<float>(internal::kInfinity | (code & 0x3ff) << 13 | quiet);
  }
  return internal::WithSign(magnitude, (bits & 0x8000) != 0);
}

// Every NaN becomes 0xffff, as in PyTorch's vectorised conversion.
constexpr uint16_t EncodeBF16(float value) {
  const uint32_t bits = small_float_internal::Bits(value);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const bool is_nan = (bits & small_float_internal::kMagnitude) > small_float_internal::kInfinity;
  return static_cast<uint16_t>(is_nan ? 0xffff : rounded);
}

constexpr float DecodeBF16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// `kind` is one of the five f8 dtypes.
constexpr uint8_t EncodeF8(DType kind, float value) {
  switch (kind) {
    case DType::kF8E4M3FN:
      return small_float_internal::EncodeE4M3FN(value);
    case DType::kF8E5M2:
      return small_float_internal::EncodeE5M2(value);
    case DType::kF8E4M3FNUZ:
      return small_float_internal::EncodeFnuz<3, 8>(value);
    case DType::kF8E5M2FNUZ:
      return small_float_internal::EncodeFnuz<2, 16>(value);
    case DType::kF8E8M0FNU:
      return small_float_internal::EncodeE8M0(value);
    default:
      LATHE_UNREACHABLE();
  }
}

constexpr float DecodeF8(DType kind, uint8_t bits) {
  switch (kind) {
    case DType::kF8E4M3FN:
      return small_float_internal::DecodeE4M3FN(bits);
    case DType::kF8E5M2:
      return small_float_internal::DecodeE5M2(bits);
    case DType::kF8E4M3FNUZ:
      return small_float_internal::DecodeFnuz<3, 8>(bits);
    case DType::kF8E5M2FNUZ:
      return small_float_internal::DecodeFnuz<2, 16>(bits);
    case DType::kF8E8M0FNU:
      return small_float_internal::DecodeE8M0(bits);
    default:
      LATHE_UNREACHABLE();
  }
}

// The float next to `value` on either side whose last bit is 1, or `value` itself if it is a float.
// Encoding that float into any type above equals encoding `value` with one rounding: the odd bit
// remembers that something was cut off (Boldo and Melquiond, "Emulation of FMA and correctly
// rounded sums: proved algorithms using rounding to odd", IEEE TC 57(4), 2008).
constexpr float RoundToOdd(double value) {
  const float nearest = static_cast<float>(value);
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (static_cast<double>(nearest) == value || value != value || (bits & 1) != 0) return nearest;
  const bool went_up = (value < 0) ? nearest < value : nearest > value;
  return std::bit_cast<float>(went_up ? bits - 1 : bits + 1);
}

struct F16 {
  uint16_t bits = 0;
  static constexpr F16 FromFloat(float value) { return {EncodeF16(value)}; }
  static constexpr F16 FromDouble(double value) { return {EncodeF16(RoundToOdd(value))}; }
  constexpr float ToFloat() const { return DecodeF16(bits); }
};

struct BF16 {
  uint16_t bits = 0;
  static constexpr BF16 FromFloat(float value) { return {EncodeBF16(value)}; }
  static constexpr BF16 FromDouble(double value) { return {EncodeBF16(RoundToOdd(value))}; }
  constexpr float ToFloat() const { return DecodeBF16(bits); }
};

template <DType kKind>
struct F8 {
  uint8_t bits = 0;
  static constexpr F8 FromFloat(float value) { return {EncodeF8(kKind, value)}; }
  static constexpr F8 FromDouble(double value) { return {EncodeF8(kKind, RoundToOdd(value))}; }
  constexpr float ToFloat() const { return DecodeF8(kKind, bits); }
};
using F8E4M3FN = F8<DType::kF8E4M3FN>;
using F8E5M2 = F8<DType::kF8E5M2>;
using F8E4M3FNUZ = F8<DType::kF8E4M3FNUZ>;
using F8E5M2FNUZ = F8<DType::kF8E5M2FNUZ>;
using F8E8M0FNU = F8<DType::kF8E8M0FNU>;

}  // namespace lathe

#endif  // LATHE_DTYPES_SMALL_FLOAT_H_
