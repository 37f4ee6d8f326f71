#ifndef LATHE_IR_OPS_CONVOLVE_PLANAR_CONVOLUTION_H_
#define LATHE_IR_OPS_CONVOLVE_PLANAR_CONVOLUTION_H_

// Convolutions that are transposed, or over three spatial dimensions, as one over two that is not:
// what the kernels compute.

#include "ir/ops/builder.h"

namespace lathe {

// (input, weight, stride, padding, dilation, transposed, output_padding, groups): arguments that
// the types of lathe.convolution_nd accept. Its result, contiguous.
//
// Transposed: the input with stride - 1 zeros between its elements, convolved with the flipped
// weight. Over depth: the places of the kernel along it become channels.
absl::StatusOr<std::vector<Argument>> DecomposeToPlanes(Builder& b, const OpArgs& args);

}  // namespace lathe

#endif  // LATHE_IR_OPS_CONVOLVE_PLANAR_CONVOLUTION_H_
