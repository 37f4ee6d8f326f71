#include "ir/ops/convolve/host_convolution.h"

#include <array>

#include "ir/ops/host/host_loops.h"

namespace lathe {
namespace {

using Triple = std::array<int64_t, 3>;

// The last one to three numbers, with `fill` in front.
template <typename Numbers>
Triple ToTriple(const Numbers& values, size_t skip, int64_t fill) {
  Triple result = {fill, fill, fill};
  const size_t count = values.size() - skip;
  for (size_t d = 0; d < count; ++d) result[3 - count + d] = values[skip + d];
  return result;
}

int64_t Place(const Triple& p, const Triple& sizes) {
  return (p[0] * sizes[1] + p[1]) * sizes[2] + p[2];
}

template <typename F>
void ForEach(const Triple& sizes, F&& visit) {
  for (int64_t a = 0; a < sizes[0]; ++a) {
    for (int64_t b = 0; b < sizes[1]; ++b) {
      for (int64_t c = 0; c < sizes[2]; ++c) visit(Triple{a, b, c});
    }
  }
}

// The places that one tap of the kernel connects: `small` (the side that strides over `large`) and
// `large`. A transposed convolution swaps the roles of input and output.
struct Geometry {
  Triple kernel, small, large, stride, padding, dilation;
  bool Connect(const Triple& at, const Triple& tap, Triple& far) const {
    for (int d = 0; d < 3; ++d) {
      far[d] = at[d] * stride[d] - padding[d] + tap[d] * dilation[d];
      if (far[d] < 0 || far[d] >= large[d]) return false;
    }
    return true;
  }
};

template <typename T>
void ConvolveAs(const HostConvolution& conv, const Tensor& input, const Tensor& weight,
                const Tensor& out) {
  const Triple in_size = ToTriple(input.sizes(), 2, 1), out_size = ToTriple(out.sizes(), 2, 1);
  Geometry g;
  g.kernel = ToTriple(weight.sizes(), 2, 1);
  g.small = conv.transposed ? in_size : out_size;
  g.large = conv.transposed ? out_size : in_size;
  g.stride = ToTriple(conv.stride, 0, 1);
  g.padding = ToTriple(conv.padding, 0, 0);
  g.dilation = ToTriple(conv.dilation, 0, 1);
  const int64_t batch = input.sizes()[0], in_channels = input.sizes()[1];
  const int64_t out_channels = out.sizes()[1];
  const int64_t in_area = in_size[0] * in_size[1] * in_size[2];
  const int64_t out_area = out_size[0] * out_size[1] * out_size[2];
  const int64_t taps = g.kernel[0] * g.kernel[1] * g.kernel[2];
  const int64_t in_group = in_channels / conv.groups, out_group = out_channels / conv.groups;
  const std::vector<T> x = ToVector<T>(input), w = ToVector<T>(weight);
  std::vector<T> y(batch * out_channels * out_area, T(0));

  for (int64_t n = 0; n < batch; ++n) {
    for (int64_t o = 0; o < out_channels; ++o) {
      T* result = y.data() + (n * out_channels + o) * out_area;
      const int64_t group = o / out_group;
      for (int64_t i = 0; i < in_group; ++i) {
        const T* source = x.data() + (n * in_channels + group * in_group + i) * in_area;
        const T* kernel = conv.transposed
                              ? &w[((group * in_group + i) * out_group + o % out_group) * taps]
                              : w.data() + (o * in_group + i) * taps;
        ForEach(g.kernel, [&](const Triple& tap) {
          const T factor = kernel[Place(tap, g.kernel)];
          ForEach(g.small, [&](const Triple& at) {
            Triple far;
            if (!g.Connect(at, tap, far)) return;
            if (conv.transposed) {
              result[Place(far, g.large)] += source[Place(at, g.small)] * factor;
            } else {
              result[Place(at, g.small)] += source[Place(far, g.large)] * factor;
            }
          });
        });
      }
    }
  }
  FromVector<T>(y, out);
}

}  // namespace

void Convolve(const HostConvolution& conv, const Tensor& input, const Tensor& weight,
              const Tensor& out) {
  if (out.numel() == 0) return;
  if (IsComplex(input.dtype())) {
    ConvolveAs<std::complex<double>>(conv, input, weight, out);
  } else if (IsFloat(input.dtype())) {
    ConvolveAs<double>(conv, input, weight, out);
  } else {
    ConvolveAs<uint64_t>(conv, input, weight, out);
  }
}

}  // namespace lathe
