#include "runtime/externs/convolve/plain.h"

#include <algorithm>
#include <cstdint>

namespace lathe::convolve {
namespace {

template <typename Bits>
bool AnyAllOnes(const Tensor& t, Bits exponent) {
  const Bits* bits = static_cast<const Bits*>(t.data());
  // No exit in the middle: the loop is vectorised.
  int64_t found = 0;
  for (int64_t k = 0, n = t.numel(); k < n; ++k) found += (bits[k] & exponent) == exponent;
  return found != 0;
}

// One output element: taps in order, in double.
double At(const Geometry& g, const double* x, const double* w, int64_t n, int64_t group,
          int64_t channel, const Geometry::Spatial& place) {
  const int64_t plane = g.in[0] * g.in[1] * g.in[2];
  const int64_t taps = g.kernel[0] * g.kernel[1] * g.kernel[2];
  double sum = 0;
  for (int64_t c = 0; c < g.in_channels; ++c) {
    const double* from = x + ((n * g.groups + group) * g.in_channels + c) * plane;
    const double* weight = w + ((group * g.out_channels + channel) * g.in_channels + c) * taps;
    Geometry::Spatial k, at;
    for (k[0] = 0; k[0] < g.kernel[0]; ++k[0]) {
      for (k[1] = 0; k[1] < g.kernel[1]; ++k[1]) {
        for (k[2] = 0; k[2] < g.kernel[2]; ++k[2], ++weight) {
          bool inside = true;
          for (int d = 0; d < 3; ++d) {
            at[d] = place[d] * g.stride[d] + k[d] * g.dilation[d] - g.padding[d];
            inside = inside && at[d] >= 0 && at[d] < g.in[d];
          }
          if (inside) sum += from[(at[0] * g.in[1] + at[1]) * g.in[2] + at[2]] * *weight;
        }
      }
    }
  }
  return sum;
}

}  // namespace

bool HasNonFinite(const Tensor& t) {
  const Tensor dense = t.Contiguous();
  switch (t.dtype()) {
    case DType::kF64:
      return AnyAllOnes<uint64_t>(dense, 0x7ff0000000000000);
    case DType::kF32:
      return AnyAllOnes<uint32_t>(dense, 0x7f800000);
    case DType::kF16:
      return AnyAllOnes<uint16_t>(dense, 0x7c00);
    case DType::kBF16:
      return AnyAllOnes<uint16_t>(dense, 0x7f80);
    default:
      return false;
  }
}

absl::Status RunPlain(const ExternCall& call, const Geometry& g) {
  const Tensor x = call.inputs[0].To(DType::kF64), w = call.inputs[1].To(DType::kF64);
  const Tensor& out = call.outputs[0];
  const bool has_bias = call.inputs.size() > 2 && call.inputs[2].is_defined();
  int64_t linear = 0;
  for (int64_t n = 0; n < g.batch; ++n) {
    for (int64_t o = 0; o < g.groups * g.out_channels; ++o) {
      const double bias = has_bias ? call.inputs[2].AtLinear(o).ToDouble() : 0;
      Geometry::Spatial place;
      for (place[0] = 0; place[0] < g.out[0]; ++place[0]) {
        for (place[1] = 0; place[1] < g.out[1]; ++place[1]) {
          for (place[2] = 0; place[2] < g.out[2]; ++place[2], ++linear) {
            const double sum = At(g, x.data_as<double>(), w.data_as<double>(), n,
                                  o / g.out_channels, o % g.out_channels, place);
            out.SetLinear(linear, Scalar(sum + bias));
          }
        }
      }
    }
  }
  const int64_t rows = g.batch * g.groups * g.out_channels * g.rows();
  return call.epilogue && rows > 0 ? call.epilogue(0, rows, 0) : absl::OkStatus();
}

}  // namespace lathe::convolve
