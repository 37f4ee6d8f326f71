#include "ir/ops/resample/byte_resample.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/ops/host/host_loops.h"

namespace lathe {
namespace {

// For each output place, input places and their weights times 2^precision.
struct FixedTaps {
  std::vector<std::map<int64_t, int64_t>> taps;
  int precision = 0;
};

FixedTaps TapsOf(const Axis& axis, int64_t in, int64_t out) {
  std::vector<std::map<int64_t, double>> weights(out);
  double largest = 0;
  for (int64_t place = 0; place < out; ++place) {
    for (const HostTap& tap : HostTapsAt(axis, in, out, place, true)) {
      double& weight = weights[place][tap.index];
      weight += tap.weight;
      largest = std::max(largest, weight);
    }
  }
  FixedTaps result;
  while (result.precision < 22 &&
         static_cast<int64_t>(0.5 + largest * std::ldexp(1.0, result.precision + 1)) < 1 << 15) {
    ++result.precision;
  }
  for (const auto& of_place : weights) {
    std::map<int64_t, int64_t>& taps = result.taps.emplace_back();
    for (const auto& [index, weight] : of_place) {
      taps[index] = std::llround(std::ldexp(weight, result.precision));
    }
  }
  return result;
}

// Along the middle one of three dimensions.
std::vector<int64_t> AlongAxis(const std::vector<int64_t>& x, int64_t outer, int64_t in,
                               int64_t inner, const FixedTaps& fixed) {
  std::vector<int64_t> y;
  y.reserve(outer * fixed.taps.size() * inner);
  const int64_t half = fixed.precision == 0 ? 0 : int64_t{1} << (fixed.precision - 1);
  for (int64_t o = 0; o < outer; ++o) {
    for (const auto& taps : fixed.taps) {
      for (int64_t i = 0; i < inner; ++i) {
        int64_t sum = half;
        for (const auto& [index, weight] : taps) sum += x[(o * in + index) * inner + i] * weight;
        y.push_back(std::clamp<int64_t>(sum >> fixed.precision, 0, 255));
      }
    }
  }
  return y;
}

}  // namespace

void ResampleBytes(const std::vector<Axis>& axes, const Tensor& self, const Tensor& out) {
  std::vector<int64_t> values = ToVector<int64_t>(self);
  Dims sizes = self.sizes();
  for (int k = static_cast<int>(axes.size()) - 1; k >= 0; --k) {
    const int d = k + 2;
    int64_t outer = 1, inner = 1;
    for (int before = 0; before < d; ++before) outer *= sizes[before];
    for (int after = d + 1; after < self.rank(); ++after) inner *= sizes[after];
    const FixedTaps fixed = TapsOf(axes[k], sizes[d], out.sizes()[d]);
    values = AlongAxis(values, outer, sizes[d], inner, fixed);
    sizes[d] = out.sizes()[d];
  }
  FromVector<int64_t>(values, out);
}

}  // namespace lathe
