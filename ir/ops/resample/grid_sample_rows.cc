// Images read at the places that a grid names, in [-1, 1]: evaluated.

#include <array>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/resample/resample_rows.h"
#include "ir/ops/view/size_math.h"

namespace lathe {
namespace {

enum Mode { kBilinear, kNearest, kBicubic };
enum Padding { kZeros, kBorder, kReflection };

struct Sampler {
  int64_t mode, padding;
  bool align;

  double Unnormalized(double x, int64_t size) const {
    return align ? (x + 1) / 2 * (size - 1) : ((x + 1) * size - 1) / 2;
  }
  // Mirrored between the edges.
  double Reflected(double x, int64_t size) const {
    const double twice_low = align ? 0 : -1, twice_high = align ? 2.0 * (size - 1) : 2.0 * size - 1;
    if (twice_low == twice_high) return 0;
    const double low = twice_low / 2, span = (twice_high - twice_low) / 2;
    const double distance = std::fabs(x - low), extra = std::fmod(distance, span);
    const bool is_back = static_cast<int64_t>(std::floor(distance / span)) % 2 != 0;
    return is_back ? span - extra + low : extra + low;
  }
  double Padded(double x, int64_t size) const {
    if (padding == kZeros) return x;
    if (padding == kReflection) x = Reflected(x, size);
    return std::min(static_cast<double>(size - 1), std::max(x, 0.0));
  }
};

struct Tap {
  double place;
  double weight;
};

// The places along one dimension that a coordinate reads.
std::vector<Tap> TapsOf(const Sampler& s, double coordinate, int64_t size) {
  double x = s.Unnormalized(coordinate, size);
  if (s.mode != kBicubic) x = s.Padded(x, size);
  if (s.mode == kNearest) return {{std::nearbyint(x), 1}};
  const double base = std::floor(x), t = x - base;
  if (s.mode == kBilinear) return {{base, 1 - t}, {base + 1, t}};
  const double a = -0.75;
  auto near = [&](double v) { return ((a + 2) * v - (a + 3)) * v * v + 1; };
  auto far = [&](double v) { return ((a * v - 5 * a) * v + 8 * a) * v - 4 * a; };
  return {{s.Padded(base - 1, size), far(t + 1)},
          {s.Padded(base, size), near(t)},
          {s.Padded(base + 1, size), near(1 - t)},
          {s.Padded(base + 2, size), far(2 - t)}};
}

absl::StatusOr<std::vector<HostValue>> EvaluateSample(const EvaluateContext& c, int spatial) {
  const Tensor &input = c.args.Tensor(0), &grid = c.args.Tensor(1);
  const Sampler sampler{c.args.Int(2), c.args.Int(3), c.args.Bool(4)};
  if (sampler.mode < 0 || sampler.mode > (spatial == 2 ? kBicubic : kNearest) ||
      sampler.padding < 0 || sampler.padding > kReflection) {
    return InvalidArgument(c.args.schema().name, ": unknown interpolation or padding mode");
  }
  Tensor out = c.Allocate();
  const std::vector<double> x = ToVector<double>(input), g = ToVector<double>(grid);
  std::vector<double> y;
  ForEachIndex(out.sizes(), [&](const Position& p) {
    int64_t at = p[0];
    for (int d = 0; d < spatial; ++d) at = at * out.sizes()[d + 2] + p[d + 2];
    const int64_t channel = p[0] * input.sizes()[1] + p[1];
    // Row-major places, or -1 outside.
    std::vector<std::pair<int64_t, double>> places = {{channel, 1.0}};
    for (int d = 0; d < spatial; ++d) {
      // The grid names the last dimension first.
      const int64_t size = input.sizes()[d + 2];
      std::vector<std::pair<int64_t, double>> next;
      for (const Tap& tap : TapsOf(sampler, g[at * spatial + spatial - 1 - d], size)) {
        const bool inside = tap.place >= 0 && tap.place <= static_cast<double>(size - 1);
        for (const auto& [place, weight] : places) {
          const bool exists = inside && place >= 0;
          next.emplace_back(exists ? place * size + static_cast<int64_t>(tap.place) : -1,
                            weight * tap.weight);
        }
      }
      places = std::move(next);
    }
    double sum = 0;
    for (const auto& [place, weight] : places) {
      if (place >= 0) sum += x[place] * weight;
    }
    y.push_back(sum);
  });
  FromVector<double>(y, out);
  return OneResult(out);
}

OpRow SampleRow(int spatial) {
  OpRow row;
  row.schema = absl::StrCat("aten::grid_sampler_", spatial,
                            "d(Tensor input, Tensor grid, int interpolation_mode, int "
                            "padding_mode, bool align_corners) -> Tensor");
  row.doc = "The input read at the places, from -1 to 1, that the grid names.";
  row.infer = [spatial](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
    const TensorType &input = c.args.Type(0), &grid = c.args.Type(1);
    if (input.rank() != spatial + 2 || grid.rank() != spatial + 2 || input.dtype != grid.dtype ||
        !IsFloat(input.dtype) ||
        !c.shapes.TrueOrDefault(symbolic::Eq(grid.sizes.back(), spatial), true, c.asker)) {
      return InvalidArgument(c.args.schema().name,
                             ": expected input and grid of one float dtype "
                             "and ",
                             spatial + 2, " dimensions, the grid's last one ", spatial, ", got ",
                             ToString(input), " and ", ToString(grid));
    }
    std::vector<Expr> sizes = {input.sizes[0], input.sizes[1]};
    sizes.insert(sizes.end(), grid.sizes.begin() + 1, grid.sizes.end() - 1);
    return One(ContiguousType(input.dtype, std::move(sizes), input.device));
  };
  row.evaluate = [spatial](const EvaluateContext& c) { return EvaluateSample(c, spatial); };
  return row;
}

}  // namespace

std::vector<OpRow> GridSampleRows() {
  std::vector<OpRow> rows;
  for (int n : {2, 3}) rows.push_back(SampleRow(n));
  return rows;
}

}  // namespace lathe
