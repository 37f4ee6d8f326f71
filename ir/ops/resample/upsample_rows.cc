// Images at another resolution: nearest, linear and cubic, one to three dimensions.

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/resample/axis_taps.h"
#include "ir/ops/resample/byte_resample.h"
#include "ir/ops/resample/resample_rows.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/dense_strides.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

// (self, output_size, [align_corners], scales...)
struct Form {
  int spatial = 2;
  Interpolation mode = Interpolation::kNearest;
  bool has_align() const { return mode == Interpolation::kLinear || mode == Interpolation::kCubic; }
  int scale(int d) const { return 2 + has_align() + d; }
};

std::vector<Axis> AxesOf(const Form& form, bool align, DType dtype,
                         const std::function<std::optional<double>(int)>& scale) {
  std::vector<Axis> axes;
  // Eager's bilinear kernel keeps weights in f32, the others in the image's own type.
  if (form.mode == Interpolation::kLinear && form.spatial > 1) dtype = ComputeType(dtype);
  for (int d = 0; d < form.spatial; ++d) {
    axes.push_back({form.mode, align, scale(form.scale(d)), dtype});
  }
  return axes;
}

Types InferUpsample(const InferContext& c, const Form& form) {
  const TensorType& self = c.args.Type(0);
  if (self.rank() != form.spatial + 2) {
    return InvalidArgument(c.args.schema().name, ": expected a tensor of ", form.spatial + 2,
                           " dimensions, got ", ToString(self));
  }
  const bool is_byte_image = self.dtype == DType::kU8 && form.spatial == 2;
  if (form.has_align() && !IsFloat(self.dtype) && !is_byte_image) {
    return Unimplemented(c.args.schema().name, " of ", Name(self.dtype));
  }
  std::vector<Expr> sizes = self.sizes;
  const std::vector<Expr> wanted = c.args.Ints(1);
  if (static_cast<int>(wanted.size()) != form.spatial) {
    return InvalidArgument(c.args.schema().name, ": expected output_size of ", form.spatial,
                           " numbers, got ", wanted.size());
  }
  for (int d = 0; d < form.spatial; ++d) {
    if (symbolic::IsRefused(c.shapes, symbolic::Le(wanted[d], 0)) ||
        symbolic::IsRefused(c.shapes, symbolic::Le(self.sizes[d + 2], 0))) {
      return InvalidArgument(c.args.schema().name,
                             ": input and output sizes should be greater "
                             "than 0, but got ",
                             ToString(self.sizes), " and ", ToString(wanted));
    }
    sizes[d + 2] = wanted[d];
  }
  TensorType type = ContiguousType(self.dtype, std::move(sizes), self.device);
  if (IsChannelsLast(self, c.shapes)) type.strides = StridesOfChannelsLast(type.sizes);
  return One(std::move(type));
}

// The weighted sum over the taps of dimension `d` and the ones after it.
OpsValue Interpolated(OpsHandler& ops, TensorReader& in, Value* self,
                      const std::vector<std::vector<LoopTap>>& taps, std::vector<Expr>& place,
                      size_t d) {
  if (d == taps.size()) return in.Load(ops, self, place);
  OpsValue sum;
  for (const LoopTap& tap : taps[d]) {
    place[place.size() - taps.size() + d] = tap.index;
    OpsValue v = Interpolated(ops, in, self, taps, place, d + 1);
    if (tap.weight.is_valid()) v = ops.Mul(v, tap.weight);
    sum = sum.is_valid() ? ops.Add(sum, v) : v;
  }
  return sum;
}

absl::StatusOr<std::vector<Lowered>> LowerUpsample(const LowerContext& c, const Form& form) {
  Value* self = c.args.Tensor(0);
  if (form.has_align() && !IsFloat(TypeOf(self).dtype)) {
    return Unimplemented(c.args.schema().name, " of bytes inside a loop");
  }
  const std::vector<Expr> in_sizes = TypeOf(self).sizes, out_sizes = c.result().sizes;
  const std::vector<Axis> axes =
      AxesOf(form, form.has_align() && c.args.Bool(2), TypeOf(self).dtype,
             [&](int i) { return c.args.OptionalFloat(i); });
  const DType dtype = LoadedDType(TypeOf(self).dtype);
  return std::vector<Lowered>{PointwiseLoops{[=](OpsHandler& ops, TensorReader& in, Index index) {
    std::vector<std::vector<LoopTap>> taps;
    for (size_t d = 0; d < axes.size(); ++d) {
      taps.push_back(
          LoopTaps(ops, axes[d], in_sizes[d + 2], out_sizes[d + 2], index[d + 2], dtype));
    }
    std::vector<Expr> place(index.begin(), index.end());
    return Interpolated(ops, in, self, taps, place, 0);
  }}};
}

absl::StatusOr<std::vector<HostValue>> EvaluateUpsample(const EvaluateContext& c,
                                                        const Form& form) {
  const Tensor& self = c.args.Tensor(0);
  Tensor out = c.Allocate();
  const std::vector<Axis> axes = AxesOf(form, form.has_align() && c.args.Bool(2), self.dtype(),
                                        [&](int i) { return c.args.OptionalFloat(i); });
  if (form.has_align() && !IsFloat(self.dtype())) {
    ResampleBytes(axes, self, out);
    return OneResult(out);
  }
  const std::vector<double> x = ToVector<double>(self);
  std::vector<double> y;
  ForEachIndex(out.sizes(), [&](const Position& p) {
    // All combinations of taps, their weights multiplied.
    std::vector<HostTap> places = {{p[0] * self.sizes()[1] + p[1], 1}};
    for (int d = 0; d < form.spatial; ++d) {
      const int64_t in = self.sizes()[d + 2];
      std::vector<HostTap> next;
      for (const HostTap& tap :
           HostTapsAt(axes[d], in, out.sizes()[d + 2], p[d + 2], self.dtype() == DType::kF64)) {
        for (const HostTap& before : places) {
          next.push_back({before.index * in + tap.index, before.weight * tap.weight});
        }
      }
      places = std::move(next);
    }
    double sum = 0;
    for (const HostTap& place : places) sum += x[place.index] * place.weight;
    y.push_back(sum);
  });
  FromVector<double>(y, out);
  return OneResult(out);
}

const char* const kScaleNames[] = {"scales_d", "scales_h", "scales_w"};

OpRow UpsampleRow(const std::string& name, Form form) {
  OpRow row;
  row.schema = absl::StrCat("aten::", name, "(Tensor self, SymInt[", form.spatial, "] output_size",
                            form.has_align() ? ", bool align_corners" : "");
  for (int d = 0; d < form.spatial; ++d) {
    absl::StrAppend(&row.schema, ", float? ",
                    form.spatial == 1 ? "scales" : kScaleNames[3 - form.spatial + d], "=None");
  }
  absl::StrAppend(&row.schema, ") -> Tensor");
  row.doc = form.mode == Interpolation::kCubic    ? "An image resized with cubic convolution."
            : form.mode == Interpolation::kLinear ? "An image resized with linear interpolation."
                                                  : "An image resized by repeating its elements.";
  row.infer = [form](const InferContext& c) { return InferUpsample(c, form); };
  row.lower = [form](const LowerContext& c) { return LowerUpsample(c, form); };
  row.evaluate = [form](const EvaluateContext& c) { return EvaluateUpsample(c, form); };
  const char* sizes[] = {"", "(f32[2, 3, 5], [8]", "(f32[2, 3, 5, 4], [8, 9]",
                         "(f32[1, 2, 3, 4, 5], [6, 5, 7]"};
  row.samples = {
      absl::StrCat("aten.", name, sizes[form.spatial], form.has_align() ? ", false)" : ")")};
  return row;
}

// The size from a factor, as eager truncates it.
absl::StatusOr<Expr> Scaled(const Expr& in, double factor) {
  if (auto n = in.AsInt()) return Expr(static_cast<int64_t>(static_cast<double>(*n) * factor));
  if (factor == std::floor(factor)) return in * static_cast<int64_t>(factor);
  return Unimplemented("a symbolic size times the factor ", factor);
}

// (input, output_size, [align_corners], scale_factors)
OpRow VectorRow(const std::string& name, Form form) {
  OpRow row;
  row.schema = absl::StrCat("aten::", name, ".vec(Tensor input, SymInt[]? output_size",
                            form.has_align() ? ", bool align_corners" : "",
                            ", float[]? scale_factors) -> Tensor");
  row.doc = absl::StrCat("aten.", name, " by a size or by factors.");
  row.composite = true;
  row.decompose = [name, form](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
    Value* input = args.Tensor(0);
    const std::vector<Scalar> factors = args.Numbers(form.has_align() ? 3 : 2);
    std::vector<Expr> sizes;
    if (args.OptionalInts(1)) {
      sizes = *args.OptionalInts(1);
    } else if (static_cast<int>(factors.size()) == form.spatial &&
               TypeOf(input).rank() == form.spatial + 2) {
      for (int d = 0; d < form.spatial; ++d) {
        LATHE_ASSIGN_OR_RETURN(Expr size,
                               Scaled(TypeOf(input).sizes[d + 2], factors[d].ToDouble()));
        sizes.push_back(size);
      }
    } else {
      return InvalidArgument("Must specify exactly one of output_size and scale_factors");
    }
    std::vector<CallArgument> arguments = {input, sizes};
    if (form.has_align()) arguments.emplace_back(args[2]);
    for (const Scalar& factor : factors) arguments.emplace_back(factor.ToDouble());
    return OneArgument(b.Call(absl::StrCat("aten.", name), std::move(arguments)));
  };
  return row;
}

}  // namespace

std::vector<OpRow> UpsampleRows() {
  struct Named {
    const char* name;
    Form form;
  };
  std::vector<OpRow> rows;
  for (const Named& n : std::initializer_list<Named>{
           {"upsample_nearest1d", {1, Interpolation::kNearest}},
           {"upsample_nearest2d", {2, Interpolation::kNearest}},
           {"upsample_nearest3d", {3, Interpolation::kNearest}},
           {"_upsample_nearest_exact1d", {1, Interpolation::kNearestExact}},
           {"_upsample_nearest_exact2d", {2, Interpolation::kNearestExact}},
           {"_upsample_nearest_exact3d", {3, Interpolation::kNearestExact}},
           {"upsample_linear1d", {1, Interpolation::kLinear}},
           {"upsample_bilinear2d", {2, Interpolation::kLinear}},
           {"upsample_trilinear3d", {3, Interpolation::kLinear}},
           {"upsample_bicubic2d", {2, Interpolation::kCubic}}}) {
    rows.push_back(UpsampleRow(n.name, n.form));
    rows.push_back(VectorRow(n.name, n.form));
  }
  rows.push_back(VectorRow("_upsample_bilinear2d_aa", {2, Interpolation::kLinear}));
  rows.push_back(VectorRow("_upsample_bicubic2d_aa", {2, Interpolation::kCubic}));
  return rows;
}

}  // namespace lathe
