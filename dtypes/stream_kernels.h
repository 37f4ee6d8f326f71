#ifndef LATHE_DTYPES_STREAM_KERNELS_H_
#define LATHE_DTYPES_STREAM_KERNELS_H_

// Conversions of large buffers in one pass, whose results go past the caches. Only the pairs that
// move weights and activations; the others take convert_kernels.h block by block.

#include <cstdint>

#include "dtypes/dtype.h"

namespace lathe::convert_internal {

struct StreamArguments {
  const uint8_t* in;
  int shift;             // of a sub-byte source, the bit of in[0] where it starts
  const uint8_t* table;  // of a source of four bits and less: convert_kernels.h, look_up
  uint8_t* out;          // at a multiple of 64
  int64_t count;         // a multiple of kStreamUnit
};
using StreamLoop = void (*)(const StreamArguments& arguments);

inline constexpr int64_t kStreamUnit = 512;
// Of a sub-byte source, at least so many elements follow those that are converted.
inline constexpr int64_t kStreamSlack = 256;

// By value, with integers that wrap: f32 with f16, bf16 and f8 both ways, and with sub-byte types.
// Null for other pairs and where the processor has no vectors.
StreamLoop FindStreamLoop(DType from, DType to);

// By a table of 16 entries of 1 or 2 bytes, from types of four bits and less.
StreamLoop FindLookUpStream(DType from, int entry_bytes);

}  // namespace lathe::convert_internal

#endif  // LATHE_DTYPES_STREAM_KERNELS_H_
