#ifndef LATHE_RUNTIME_EXTERNS_TEST_TENSORS_H_
#define LATHE_RUNTIME_EXTERNS_TEST_TENSORS_H_

// Tensors of random values in several layouts, for the tests of externs.

#include <cstring>
#include <random>

#include "runtime/externs/extern.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

enum class Layout { kContiguous, kTransposed, kSliced };
inline constexpr Layout kLayouts[] = {Layout::kContiguous, Layout::kTransposed, Layout::kSliced};

// Uninitialised: contiguous, the last two dimensions exchanged in memory, or every second element
// of a larger tensor with an offset.
inline Tensor MakeTensor(DType dtype, const Dims& sizes, Layout layout) {
  const size_t rank = sizes.size();
  if (layout == Layout::kTransposed && rank >= 2) {
    Dims swapped = sizes;
    std::swap(swapped[rank - 1], swapped[rank - 2]);
    Dims strides = ContiguousStrides(swapped);
    std::swap(strides[rank - 1], strides[rank - 2]);
    return Tensor::Zeros(dtype, swapped).AsStrided(sizes, strides, 0);
  }
  if (layout == Layout::kSliced && rank >= 1) {
    Dims larger = sizes;
    larger[rank - 1] = 2 * sizes[rank - 1] + 3;
    Dims strides = ContiguousStrides(larger);
    strides[rank - 1] = 2;
    return Tensor::Zeros(dtype, larger).AsStrided(sizes, strides, 1);
  }
  return Tensor::Zeros(dtype, sizes);
}

// Integers from -`range` to `range` (small enough to be exact in every type), halves if `fraction`.
inline Tensor RandomTensor(DType dtype, const Dims& sizes, Layout layout, uint32_t seed,
                           int range = 4, bool fraction = false) {
  Tensor t = MakeTensor(dtype, sizes, layout);
  std::mt19937 random(seed);
  for (int64_t k = 0; k < t.numel(); ++k) {
    const int value = static_cast<int>(random() % static_cast<uint32_t>(2 * range + 1)) - range;
    t.SetLinear(k, fraction ? Scalar(value * 0.37) : Scalar(value));
  }
  return t;
}

inline bool SameBits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.Contiguous(), y = b.Contiguous();
  if (a.dtype() != b.dtype() || !(a.sizes() == b.sizes())) return false;
  const auto bytes = static_cast<size_t>(*ByteSize(a.dtype(), a.numel()));
  return bytes == 0 || std::memcmp(x.data(), y.data(), bytes) == 0;
}

}  // namespace lathe

#endif  // LATHE_RUNTIME_EXTERNS_TEST_TENSORS_H_
