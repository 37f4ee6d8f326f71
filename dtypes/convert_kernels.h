#ifndef LATHE_DTYPES_CONVERT_KERNELS_H_
#define LATHE_DTYPES_CONVERT_KERNELS_H_

// The loops that conversions are made of, for the processor at hand; convert.h is the interface.
// Conversions meet in ten types, the carriers: u8 to u64, i8 to i64, f32, f64. No pointer needs
// alignment; in and out do not overlap.

#include <cstdint>

#include "dtypes/dtype.h"

namespace lathe::convert_internal {

// Values in [low, high] fit. Of the three pairs a carrier reads its own.
struct Bounds {
  double float_low = 0, float_high = 0;
  int64_t signed_low = 0, signed_high = 0;
  uint64_t unsigned_low = 0, unsigned_high = 0;
  bool infinities_fit = false, nan_fits = false;
};

using Loop = void (*)(const void* in, void* out, int64_t count);
using ClampLoop = void (*)(const void* in, void* out, int64_t count, const Bounds& bounds);
using FitsLoop = bool (*)(const void* in, int64_t count, const Bounds& bounds);

struct Loops {
  // bool to u8 (0 or 1), small floats to f32.
  Loop widen[kDTypeCount] = {};
  // A carrier to bool, to integers (which wrap), to f32 and f64.
  Loop core[kDTypeCount][kDTypeCount] = {};
  // A carrier to the f32 whose rounding to any small float is the carrier's own (RoundToOdd).
  Loop to_odd_f32[kDTypeCount] = {};
  // f32 to small floats.
  Loop narrow[kDTypeCount] = {};
  // f64 to 64 bits, clamped; NaN gives 0.
  Loop f64_to_i64_saturated = nullptr, f64_to_u64_saturated = nullptr;
  // NaN stays, and infinities where they fit.
  ClampLoop clamp[kDTypeCount] = {};
  FitsLoop fits[kDTypeCount] = {};
  // Whether every value is 0 or 1.
  bool (*are_bits[kDTypeCount])(const void* in, int64_t count) = {};
  // Low four bits of each byte to table entries of one byte, or of two: 16 low bytes, 16 high ones.
  void (*look_up)(const uint8_t* in, const uint8_t* table, int entry_bytes, void* out,
                  int64_t count) = nullptr;
  // Past the caches; `out` starts at a multiple of 64, and so does what follows.
  void (*stream)(const void* in, void* out, int64_t bytes) = nullptr;
};

const Loops& ConvertLoops();

}  // namespace lathe::convert_internal

#endif  // LATHE_DTYPES_CONVERT_KERNELS_H_
