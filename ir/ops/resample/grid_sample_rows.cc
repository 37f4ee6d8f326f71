// Images read at the places that a grid names, in [-1, 1], and grids of affine maps.

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/resample/grid_sampler.h"
#include "ir/ops/resample/resample_rows.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

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
    if (padding == kGridZeros) return x;
    if (padding == kGridReflection) x = Reflected(x, size);
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
  if (s.mode != kGridBicubic) x = s.Padded(x, size);
  if (s.mode == kGridNearest) return {{std::nearbyint(x), 1}};
  const double base = std::floor(x), t = r(x - base);
  if (s.mode == kGridBilinear) return {{base, r(1 - t)}, {base + 1, t}};
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
    y.push_back(sampler.mode == kGridBicubic ? reading.Cubic() : reading.Linear());
  });
  FromVector<double>(y, out);
  return OneResult(out);
}

absl::StatusOr<GridSampling> SamplingOf(const OpArgs& args, int spatial) {
  GridSampling sampling;
  LATHE_ASSIGN_OR_RETURN(sampling.mode, args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(sampling.padding, args.ConstantInt(3));
  sampling.align = args.Bool(4);
  sampling.spatial = spatial;
  if (sampling.mode < 0 || sampling.mode > (spatial == 2 ? kGridBicubic : kGridNearest) ||
      sampling.padding < 0 || sampling.padding > kGridReflection) {
    return InvalidArgument(args.schema().name, ": unknown interpolation mode ", sampling.mode,
                           " or padding mode ", sampling.padding);
  }
  return sampling;
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
    LATHE_RETURN_IF_ERROR(SamplingOf(c.args, spatial).status());
    if (symbolic::IsRefused(c.shapes, symbolic::Ne(input.sizes[0], grid.sizes[0]))) {
      return InvalidArgument(c.args.schema().name,
                             ": expected grid and input to have same batch size, got ",
                             ToString(input), " and ", ToString(grid));
    }
    for (int d = 0; d < spatial; ++d) {
      if (symbolic::IsRefused(c.shapes, symbolic::Le(input.sizes[d + 2], 0))) {
        return InvalidArgument(c.args.schema().name,
                               ": expected input to have non-empty spatial dimensions, got ",
                               ToString(input));
      }
    }
    std::vector<Expr> sizes = {input.sizes[0], input.sizes[1]};
    sizes.insert(sizes.end(), grid.sizes.begin() + 1, grid.sizes.end() - 1);
    return One(ContiguousType(input.dtype, std::move(sizes), input.device));
  };
  row.lower = [spatial](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    LATHE_ASSIGN_OR_RETURN(GridSampling sampling, SamplingOf(c.args, spatial));
    return std::vector<Lowered>{
        PointwiseLoops{GridSampleBody(sampling, c.args.Tensor(0), c.args.Tensor(1))}};
  };
  row.evaluate = [spatial](const EvaluateContext& c) { return EvaluateSample(c, spatial); };
  row.samples = {spatial == 2
                     ? "aten.grid_sampler_2d(f32[2, 3, 4, 5], f32[2, 3, 2, 2], 0, 0, false)"
                     : "aten.grid_sampler_3d(f32[1, 2, 3, 4, 5], f32[1, 2, 3, 2, 3], 0, 1, true)"};
  return row;
}

using Decomposed = absl::StatusOr<Arguments>;

Decomposed DecomposeSampler(Builder& b, const OpArgs& args) {
  const int spatial = args.Type(0).rank() - 2;
  if (spatial != 2 && spatial != 3) {
    return InvalidArgument("grid_sampler(): expected 4D or 5D input, but got ",
                           ToString(args.Type(0)));
  }
  return OneArgument(b.Call(absl::StrCat("aten.grid_sampler_", spatial, "d"),
                            {args[0], args[1], args[2], args[3], args[4]}));
}

// The middles of `size` equal parts of [-1, 1], or evenly from end to end.
Value* GridLine(Builder& b, const Expr& size, bool align, DType dtype) {
  const std::vector<std::pair<std::string, CallArgument>> options = {{"dtype", dtype}};
  if (size == 1) return b.Call("aten.zeros", {std::vector<Expr>{1}}, options);
  Value* line = b.Call("aten.linspace", {Scalar(-1), Scalar(1), size}, options);
  if (align) return line;
  Value* inside = b.Call("aten.mul.Scalar", {line, size - 1});
  return b.Call("aten.div.Scalar", {inside, size});
}

// affine_grid_generator(theta, size, align_corners): the places theta @ (x, y, [z,] 1).
Decomposed DecomposeAffineGrid(Builder& b, const OpArgs& args) {
  const TensorType& theta = args.Type(0);
  const std::vector<Expr> size = args.Ints(1);
  const int spatial = static_cast<int>(size.size()) - 2;
  if ((spatial != 2 && spatial != 3) || theta.rank() != 3 || !IsFloat(theta.dtype) ||
      symbolic::IsRefused(b.shapes(), symbolic::Ne(theta.sizes[0], size[0])) ||
      symbolic::IsRefused(b.shapes(), symbolic::Ne(theta.sizes[1], spatial)) ||
      symbolic::IsRefused(b.shapes(), symbolic::Ne(theta.sizes[2], spatial + 1))) {
    return InvalidArgument(
        "Expected a batch of 2D affine matrices of shape Nx2x3 for a size of 4 "
        "numbers, or of 3D ones of shape Nx3x4 for 5 numbers. Got ",
        ToString(theta), " and ", ToString(size));
  }
  for (const Expr& e : size) {
    if (symbolic::IsRefused(b.shapes(), symbolic::Le(e, 0))) {
      return InvalidArgument("Expected non-zero, positive output size. Got ", ToString(size));
    }
  }
  std::vector<Expr> sizes(size.begin() + 2, size.end());
  Expr places = 1;
  for (const Expr& e : sizes) places = places * e;
  std::vector<Value*> columns;
  for (int k = 0; k < spatial; ++k) {
    const int d = spatial - 1 - k;
    std::vector<Expr> along(spatial, 1);
    along[d] = sizes[d];
    Value* line = GridLine(b, sizes[d], args.Bool(2), theta.dtype);
    columns.push_back(b.Call("aten.expand", {Reshape(b, line, along), sizes}));
  }
  columns.push_back(b.Call("aten.ones", {sizes}, {{"dtype", theta.dtype}}));
  LATHE_RETURN_IF_ERROR(b.status());
  Value* base = Reshape(b, b.Call("aten.stack", {columns, -1}), {1, places, spatial + 1});
  base = b.Call("aten.expand", {base, std::vector<Expr>{size[0], places, spatial + 1}});
  Value* grid = b.Call("aten.bmm", {base, b.Call("aten.transpose.int", {args[0], 1, 2})});
  sizes.insert(sizes.begin(), size[0]);
  sizes.push_back(spatial);
  return OneArgument(Reshape(b, grid, sizes));
}

}  // namespace

std::vector<OpRow> GridSampleRows() {
  std::vector<OpRow> rows;
  rows.push_back(CompositeRow(
      "aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
      "bool align_corners) -> Tensor",
      "The input read at the places, from -1 to 1, that the grid names.", DecomposeSampler,
      {"aten.grid_sampler(f32[2, 3, 4, 5], f32[2, 3, 2, 2], 2, 2, true)"}));
  rows.push_back(DecomposedRow(
      "aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
      "The grid that reads an image moved by affine maps.", DecomposeAffineGrid,
      {"aten.affine_grid_generator(f32[2, 2, 3], [2, 3, 4, 5], false)"}));
  for (int n : {2, 3}) rows.push_back(SampleRow(n));
  return rows;
}

}  // namespace lathe
