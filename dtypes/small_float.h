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

#include <cstdint>

#include "dtypes/dtype.h"

namespace lathe {

uint16_t EncodeF16(float value);
float DecodeF16(uint16_t bits);
uint16_t EncodeBF16(float value);
float DecodeBF16(uint16_t bits);
// `kind` is one of the five f8 dtypes.
uint8_t EncodeF8(DType kind, float value);
float DecodeF8(DType kind, uint8_t bits);

struct F16 {
  uint16_t bits = 0;
  static F16 FromFloat(float value) { return {EncodeF16(value)}; }
  float ToFloat() const { return DecodeF16(bits); }
};

struct BF16 {
  uint16_t bits = 0;
  static BF16 FromFloat(float value) { return {EncodeBF16(value)}; }
  float ToFloat() const { return DecodeBF16(bits); }
};

template <DType kKind>
struct F8 {
  uint8_t bits = 0;
  static F8 FromFloat(float value) { return {EncodeF8(kKind, value)}; }
  float ToFloat() const { return DecodeF8(kKind, bits); }
};
using F8E4M3FN = F8<DType::kF8E4M3FN>;
using F8E5M2 = F8<DType::kF8E5M2>;
using F8E4M3FNUZ = F8<DType::kF8E4M3FNUZ>;
using F8E5M2FNUZ = F8<DType::kF8E5M2FNUZ>;
using F8E8M0FNU = F8<DType::kF8E8M0FNU>;

}  // namespace lathe

#endif  // LATHE_DTYPES_SMALL_FLOAT_H_
