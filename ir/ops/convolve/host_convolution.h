#ifndef LATHE_IR_OPS_CONVOLVE_HOST_CONVOLUTION_H_
#define LATHE_IR_OPS_CONVOLVE_HOST_CONVOLUTION_H_

#include <cstdint>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace lathe {

// One to three spatial dimensions; the lists hold one number for each.
struct HostConvolution {
  std::vector<int64_t> stride, padding, dilation;
  bool transposed = false;
  int64_t groups = 1;
};

// Direct sums in double (or the integers' own arithmetic), rounded once into `out`.
void Convolve(const HostConvolution& conv, const Tensor& input, const Tensor& weight,
              const Tensor& out);

}  // namespace lathe

#endif  // LATHE_IR_OPS_CONVOLVE_HOST_CONVOLUTION_H_
