#ifndef LATHE_RUNTIME_TENSOR_COPY_ELEMENTS_H_
#define LATHE_RUNTIME_TENSOR_COPY_ELEMENTS_H_

// Strided copies of elements of one width, the work behind Tensor::CopyFrom.

#include <cstdint>

#include "runtime/tensor/dims.h"

namespace lathe {

// One side of a copy. Strides and offset count elements from `base`, the storage's first byte.
struct StridedBytes {
  void* base = nullptr;
  Dims strides;
  int64_t offset = 0;
};

// Copies elements of `bit_width` bits (1..7, or a multiple of 8) over `sizes`. The two sides must
// not overlap; places of the target must be distinct. Bits outside the target's elements stay.
void CopyElements(int bit_width, const Dims& sizes, const StridedBytes& target,
                  const StridedBytes& source);

}  // namespace lathe

#endif  // LATHE_RUNTIME_TENSOR_COPY_ELEMENTS_H_
