#ifndef LATHE_RUNTIME_EXTERNS_CONVOLVE_GEOMETRY_H_
#define LATHE_RUNTIME_EXTERNS_CONVOLVE_GEOMETRY_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/externs/extern.h"
#include "runtime/tensor/tensor.h"

namespace lathe::convolve {

// The numbers of one convolution. Three spatial dimensions always; missing leading ones have size
// 1.
struct Geometry {
  using Spatial = std::array<int64_t, 3>;
  int64_t batch = 0, groups = 1;
  int64_t in_channels = 0, out_channels = 0;  // of one group
  Spatial in{1, 1, 1}, kernel{1, 1, 1}, out{1, 1, 1};
  Spatial stride{1, 1, 1}, padding{0, 0, 0}, dilation{1, 1, 1};

  Spatial Padded() const {
    return {in[0] + 2 * padding[0], in[1] + 2 * padding[1], in[2] + 2 * padding[2]};
  }
  int64_t taps() const { return in_channels * kernel[0] * kernel[1] * kernel[2]; }
  int64_t rows() const { return out[0] * out[1]; }  // of one output plane
};

// From x [N, C, spatial...], w [O, C/groups, kernel...], out [N, O, spatial...] and the attributes
// "stride=1,1;padding=1,1;dilation=1,1;groups=1" (one number serves all dimensions).
// InvalidArgument when they do not fit together.
absl::StatusOr<Geometry> GeometryOf(const Tensor& x, const Tensor& w, const Tensor& out,
                                    const ExternAttributes& attributes);

// Strides of a tensor [N, C, spatial...] as [n, c, s0, s1, s2], 0 for missing dimensions.
std::array<int64_t, 5> StridesOf(const Tensor& t);

}  // namespace lathe::convolve

#endif  // LATHE_RUNTIME_EXTERNS_CONVOLVE_GEOMETRY_H_
