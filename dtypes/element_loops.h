#ifndef LATHE_DTYPES_ELEMENT_LOOPS_H_
#define LATHE_DTYPES_ELEMENT_LOOPS_H_

// Loops over contiguous buffers of elements, on the host.
//
//   ConvertElements(bytes, DType::kU3, floats, DType::kF32, count);

#include <cstdint>

#include "dtypes/dtype.h"

namespace lathe {

// dst[k] = Convert(src[k], to) for k in [0, count), both from element 0 and densely packed. The
// buffers do not overlap and need no alignment. Bits of the last byte of a sub-byte `dst` past its
// last element stay. Equal dtypes are copied bit for bit (NaN payloads included); apart from that
// f4e2m1fn_x2, whose element is a pair, converts to and from nothing.
void ConvertElements(const void* src, DType from, void* dst, DType to, int64_t count);

}  // namespace lathe

#endif  // LATHE_DTYPES_ELEMENT_LOOPS_H_
