#ifndef LATHE_IR_OPS_RESAMPLE_BYTE_RESAMPLE_H_
#define LATHE_IR_OPS_RESAMPLE_BYTE_RESAMPLE_H_

// Images of bytes, which eager resizes in fixed point.

#include <vector>

#include "ir/ops/resample/axis_taps.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

// The last axis first, rounded to bytes, then the one before. Weights are 16-bit integers, as
// precise as the largest of an axis allows.
void ResampleBytes(const std::vector<Axis>& axes, const Tensor& self, const Tensor& out);

}  // namespace lathe

#endif  // LATHE_IR_OPS_RESAMPLE_BYTE_RESAMPLE_H_
