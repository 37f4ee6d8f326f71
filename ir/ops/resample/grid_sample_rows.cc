// Images read at the places that a grid names, in [-1, 1]: evaluated.

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/resample/resample_rows.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

enum Mode { kBilinear, kNearest, kBicubic };
enum Padding { kZeros, kBorder, kReflection };

// Eager's kernels compute in the tensor's own dtype, halves too: every operation rounds.
class Rounded {
 public:
  explicit Rounded(DType dtype) : dtype_(dtype) {}
  double operator()(double v) const {
    if (dtype_ == DType::kF64) return v;
    if (dtype_ == DType::kF32) return static_cast<float>(v);
    return Convert(Scalar(v), dtype_).ToDouble();
  }

 private:
  DType dtype_;
};

struct Sampler {
  int64_t mode, padding;
  bool align;
  int spatial;
  Rounded r;

  // In two dimensions eager scales before it shifts, in three it divides at the end.
  double Unnormalized(double x, int64_t size) const {
    const double n = static_cast<double>(size);
    if (align) {
      return spatial == 2 ? r(r(x + 1) * r((n - 1) / 2)) : r(r(r(x + 1) / 2) * (n - 1));
    }
    return spatial == 2 ? r(r(r(x + 1) * r(n / 2)) - 0.5) : r(r(r(r(x + 1) * n) - 1) / 2);
  }
  // Mirrored between the edges.
  double Reflected(double x, int64_t size) const {
    const double low = align ? 0 : -0.5, span = static_cast<double>(align ? size - 1 : size);
    if (span == 0) return 0;
    const double distance = std::fabs(r(x - low));
    if (spatial == 2) {
      // A whole period is there and back.
      const double period = 2 * span, whole = r(std::trunc(r(distance / period)) * period);
      const double extra = r(distance - whole);
      return r(std::min(extra, r(period - extra)) + low);
    }
    const double extra = r(std::fmod(distance, span));
    const bool is_back = static_cast<int64_t>(std::floor(r(distance / span))) % 2 != 0;
    return is_back ? r(r(span - extra) + low) : r(extra + low);
  }
  // NaN becomes 0 where coordinates are kept inside.
  double Padded(double x, int64_t size) const {
    if (padding == kZeros) return x;
    if (padding == kReflection) x = Reflected(x, size);
    return std::min(static_cast<double>(size - 1), x > 0 ? x : 0.0);
  }
};

struct Tap {
  double place;
  double weight;
};

// The places along one dimension that a coordinate reads.
std::vector<Tap> TapsOf(const Sampler& s, double coordinate, int64_t size) {
  const Rounded& r = s.r;
  double x = s.Unnormalized(coordinate, size);
  if (s.mode != kBicubic) x = s.Padded(x, size);
  if (s.mode == kNearest) return {{std::nearbyint(x), 1}};
  const double base = std::floor(x), t = r(x - base);
  if (s.mode == kBilinear) return {{base, r(1 - t)}, {base + 1, t}};
  const double a = -0.75;
  auto near = [&](double v) { return r(r(r(r(r((a + 2) * v) - (a + 3)) * v) * v) + 1); };
  auto far = [&](double v) { return r(r(r(r(r(r(a * v) - 5 * a) * v) + 8 * a) * v) - 4 * a); };
  return {{s.Padded(base - 1, size), far(r(t + 1))},
          {s.Padded(base, size), near(t)},
          {s.Padded(base + 1, size), near(r(1 - t))},
          {s.Padded(base + 2, size), far(r(2 - t))}};
}

// One channel of one image, and the taps of each dimension, the first one first.
struct Reading {
  const Sampler& sampler;
  const double* channel;
  Position sizes;
  std::vector<std::vector<Tap>> taps;

  // The element at the chosen taps; 0 outside.
  double At(const std::vector<size_t>& chosen) const {
    int64_t at = 0;
    for (size_t d = 0; d < sizes.size(); ++d) {
      const double place = taps[d][chosen[d]].place;
      if (!(place >= 0 && place <= static_cast<double>(sizes[d] - 1))) return 0;
      at = at * sizes[d] + static_cast<int64_t>(place);
    }
    return channel[at];
  }

  // Weights of all dimensions multiplied, the last dimension's first.
  double Linear() const {
    const Rounded& r = sampler.r;
    double sum = 0;
    Dims counts;
    for (const auto& t : taps) counts.push_back(static_cast<int64_t>(t.size()));
    ForEachIndex(counts, [&](const Position& p) {
      std::vector<size_t> chosen(p.begin(), p.end());
      double weight = 1;
      for (size_t d = sizes.size(); d-- > 0;) weight = r(weight * taps[d][chosen[d]].weight);
      sum = r(sum + r(At(chosen) * weight));
    });
    return sum;
  }

  // Rows first, then their sum.
  double Cubic() const {
    const Rounded& r = sampler.r;
    double sum = 0;
    for (size_t y = 0; y < taps[0].size(); ++y) {
      double row = 0;
      for (size_t x = 0; x < taps[1].size(); ++x) {
        row = r(row + r(taps[1][x].weight * At({y, x})));
      }
      sum = r(sum + r(taps[0][y].weight * row));
    }
    return sum;
  }
};

absl::StatusOr<std::vector<HostValue>> EvaluateSample(const EvaluateContext& c, int spatial) {
  const Tensor &input = c.args.Tensor(0), &grid = c.args.Tensor(1);
  const Sampler sampler{c.args.Int(2), c.args.Int(3), c.args.Bool(4), spatial,
                        Rounded(input.dtype())};
  if (sampler.mode < 0 || sampler.mode > (spatial == 2 ? kBicubic : kNearest) ||
      sampler.padding < 0 || sampler.padding > kReflection) {
    return InvalidArgument(c.args.schema().name, ": unknown interpolation or padding mode");
  }
  Tensor out = c.Allocate();
  const std::vector<double> x = ToVector<double>(input), g = ToVector<double>(grid);
  const Position sizes(input.sizes().begin() + 2, input.sizes().end());
  int64_t plane = 1;
  for (int64_t size : sizes) plane *= size;
  std::vector<double> y;
  ForEachIndex(out.sizes(), [&](const Position& p) {
    int64_t at = p[0];
    for (int d = 0; d < spatial; ++d) at = at * out.sizes()[d + 2] + p[d + 2];
    Reading reading{sampler, x.data() + (p[0] * input.sizes()[1] + p[1]) * plane, sizes, {}};
    for (int d = 0; d < spatial; ++d) {
      // The grid names the last dimension first.
      reading.taps.push_back(TapsOf(sampler, g[at * spatial + spatial - 1 - d], sizes[d]));
    }
    y.push_back(sampler.mode == kBicubic ? reading.Cubic() : reading.Linear());
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
        !symbolic::IsAccepted(c.shapes, symbolic::Eq(grid.sizes.back(), spatial), c.asker)) {
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
