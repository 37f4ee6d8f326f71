// Images made smaller without aliasing: each output place is a weighted mean of all the input
// places that it covers, dimension by dimension.

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/resample/resample_rows.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/dense_strides.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

// Taps of all output places along one dimension; beyond it a resize is refused as too large.
constexpr double kMostTaps = 1 << 26;

struct Filter {
  bool is_cubic = false;
  double reach() const { return is_cubic ? 2 : 1; }
  double At(double x) const {
    x = std::fabs(x);
    if (!is_cubic) return x < 1 ? 1 - x : 0;
    constexpr double a = -0.5;
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
  }
};

// As many taps for each output place as the widest one needs, those beyond weighing nothing.
struct Taps {
  int64_t count = 0;  // a place
  std::vector<int64_t> places;
  std::vector<double> weights;
};

absl::StatusOr<Taps> TapsOf(const Filter& filter, int64_t in, int64_t out, double ratio) {
  const double support = filter.reach() * std::max(ratio, 1.0);
  const double shrink = ratio >= 1 ? 1 / ratio : 1;
  Taps taps;
  const double most = std::min(std::ceil(support) * 2 + 1, static_cast<double>(in));
  if (!(most * static_cast<double>(out) <= kMostTaps)) {
    return Unimplemented("an antialiased resize with more than 2^26 taps");
  }
  taps.count = static_cast<int64_t>(most);
  for (int64_t i = 0; i < out; ++i) {
    const double center = ratio * (static_cast<double>(i) + 0.5);
    // Clamped before they are integers: a scale may be anything.
    const auto inside = [in](double v) {
      return static_cast<int64_t>(std::clamp(v, 0.0, static_cast<double>(in)));
    };
    const int64_t first = inside(center - support + 0.5), end = inside(center + support + 0.5);
    double sum = 0;
    std::vector<double> weights(taps.count, 0);
    for (int64_t k = 0; k < taps.count && first + k < end; ++k) {
      weights[k] = filter.At((static_cast<double>(first + k) - center + 0.5) * shrink);
      sum += weights[k];
    }
    for (int64_t k = 0; k < taps.count; ++k) {
      taps.weights.push_back(sum != 0 ? weights[k] / sum : weights[k]);
      taps.places.push_back(std::min(first + (first + k < end ? k : 0), in - 1));
    }
  }
  return taps;
}

// Input places per output place.
double Ratio(int64_t in, int64_t out, bool align, std::optional<double> scale) {
  if (align) return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  if (scale && *scale > 0) return 1 / *scale;
  return static_cast<double>(in) / static_cast<double>(out);
}

// Dimension `dim` (-1 or -2) of an image of rank 4 at another size.
Value* Resized(Builder& b, Value* x, int dim, const Taps& taps) {
  const int64_t total = static_cast<int64_t>(taps.places.size());
  const DType dtype = TypeOf(x).dtype;
  Tensor places = Tensor::Empty(DType::kI64, {total});
  Tensor weights = Tensor::Empty(dtype, {total / taps.count, taps.count});
  for (int64_t k = 0; k < total; ++k) {
    places.SetLinear(k, Scalar(taps.places[k]));
    weights.SetLinear(k, Convert(Scalar(taps.weights[k]), dtype));
  }
  Value* read = b.Call("aten.index_select", {x, dim, b.Call("constant", {Argument::Of(places)})});
  if (read == nullptr) return nullptr;
  std::vector<Expr> sizes = TypeOf(read).sizes;
  const int at = static_cast<int>(sizes.size()) + dim;
  sizes[at] = total / taps.count;
  sizes.insert(sizes.begin() + at + 1, taps.count);
  Value* factors = b.Call("constant", {Argument::Of(weights)});
  if (dim == -2) factors = b.Call("aten.unsqueeze", {factors, -1});
  return b.Call("aten.sum.dim_IntList",
                {Mul(b, Reshape(b, read, sizes), factors), std::vector<Expr>{dim}});
}

// (self, output_size, align_corners, scales_h, scales_w)
Decomposed Resize(Builder& b, const OpArgs& args, const Filter& filter) {
  const TensorType type = args.Type(0);
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> wanted, args.ConstantInts(1));
  if (type.rank() != 4 || wanted.size() != 2) {
    return InvalidArgument(args.schema().name, ": expected a tensor of 4 dimensions and 2 sizes, ",
                           "got ", ToString(type), " and ", wanted.size());
  }
  if (!IsFloat(type.dtype)) return Unimplemented(args.schema().name, " of ", Name(type.dtype));
  Value* x = Widen(b, args.Tensor(0));
  // Eager goes along rows first.
  for (int d : {1, 0}) {
    const std::optional<int64_t> in = type.sizes[d + 2].AsInt();
    if (!in) return Unimplemented(args.schema().name, " of an image of symbolic size");
    if (*in <= 0 || wanted[d] <= 0) {
      return InvalidArgument(args.schema().name,
                             ": Input and output sizes should be greater than 0, but got ",
                             ToString(type), " and ", wanted[d]);
    }
    const double ratio = Ratio(*in, wanted[d], args.Bool(2), args.OptionalFloat(3 + d));
    if (!std::isfinite(ratio)) {
      return InvalidArgument(args.schema().name, ": scales must be finite");
    }
    LATHE_ASSIGN_OR_RETURN(Taps taps, TapsOf(filter, *in, wanted[d], ratio));
    if (*in == wanted[d] && ratio == 1) continue;
    x = Resized(b, x, d - 2, taps);
    LATHE_RETURN_IF_ERROR(b.status());
  }
  x = CastTo(b, x, type.dtype);
  const bool is_last = IsChannelsLast(type, b.shapes());
  return OneArgument(
      Clone(b, x, is_last ? MemoryFormat::kChannelsLast : MemoryFormat::kContiguous));
}

OpRow ResizeRow(const std::string& name, Filter filter) {
  return DecomposedRow(
      absl::StrCat("aten::", name, "(Tensor self, SymInt[2] output_size, bool align_corners, ",
                   "float? scales_h=None, float? scales_w=None) -> Tensor"),
      "An image resized by means over what each place covers.",
      [filter](Builder& b, const OpArgs& args) { return Resize(b, args, filter); },
      {absl::StrCat("aten.", name, "(f32[1, 2, 8, 6], [4, 5], false)")});
}

}  // namespace

std::vector<OpRow> AntialiasRows() {
  return {ResizeRow("_upsample_bilinear2d_aa", {false}),
          ResizeRow("_upsample_bicubic2d_aa", {true})};
}

}  // namespace lathe
