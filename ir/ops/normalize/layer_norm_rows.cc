// Normalization over the last dimensions or over groups of channels.

#include <limits>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/normalize/normalize_rows.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

// The last dimensions, which `shape` names, as a list; InvalidArgument when they differ.
absl::StatusOr<std::vector<Expr>> NormalizedDims(Builder& b, const OpArgs& args, Value* input,
                                                 const std::vector<Expr>& shape) {
  const TensorType& type = TypeOf(input);
  const int count = static_cast<int>(shape.size()), first = type.rank() - count;
  bool fits = count > 0 && first >= 0;
  for (int d = 0; fits && d < count; ++d) {
    fits = symbolic::IsAccepted(b.shapes(), symbolic::Eq(shape[d], type.sizes[first + d]), {});
  }
  if (!fits) {
    return InvalidArgument(args.schema().name, ": given normalized_shape=", ToString(shape),
                           ", expected input with shape [*, ", ToString(shape).substr(1),
                           ", but got input of size ", ToString(type.sizes));
  }
  std::vector<Expr> dims;
  for (int d = first; d < type.rank(); ++d) dims.push_back(d);
  return dims;
}

// value * weight + bias in value's dtype, either absent.
Value* ScaleAndShift(Builder& b, Value* value, Value* weight, Value* bias) {
  if (weight != nullptr) value = Mul(b, value, CastTo(b, weight, TypeOf(value).dtype));
  if (bias != nullptr && value != nullptr) {
    value = Add(b, value, CastTo(b, bias, TypeOf(value).dtype));
  }
  return value;
}

Decomposed DecomposeNativeLayerNorm(Builder& b, const OpArgs& args) {
  Value *input = args.Tensor(0), *weight = args.OptionalTensor(2), *bias = args.OptionalTensor(3);
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> dims, NormalizedDims(b, args, input, args.Ints(1)));
  const DType dtype = TypeOf(input).dtype;
  // Statistics of half inputs with f32 parameters are kept in f32.
  const bool is_mixed = weight != nullptr && TypeOf(weight).dtype != dtype;
  const DType stats = is_mixed ? ComputeType(dtype) : dtype;
  Value* x = Widen(b, Dense(b, input));
  Moments m = MomentsOf(b, x, dims, args.Float(4));
  Value* out = ScaleAndShift(b, Mul(b, m.centered, m.rstd), weight, bias);
  LATHE_RETURN_IF_ERROR(b.status());
  return Arguments{Argument::Of(CastTo(b, out, dtype)), Argument::Of(CastTo(b, m.mean, stats)),
                   Argument::Of(CastTo(b, m.rstd, stats))};
}

Decomposed DecomposeLayerNorm(Builder& b, const OpArgs& args) {
  std::vector<CallArgument> arguments;
  for (int i = 0; i < 5; ++i) arguments.emplace_back(args[i]);
  return OneArgument(b.Call("aten.native_layer_norm", std::move(arguments)));
}

// Root mean square alone, without a mean.
Decomposed DecomposeRmsNorm(Builder& b, const OpArgs& args) {
  Value *input = args.Tensor(0), *weight = args.OptionalTensor(2);
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> dims, NormalizedDims(b, args, input, args.Ints(1)));
  const DType dtype = TypeOf(input).dtype;
  // Of the type that is computed in: eager computes halves in f32.
  const double least = dtype == DType::kF64 ? std::numeric_limits<double>::epsilon()
                                            : std::numeric_limits<float>::epsilon();
  const double eps = args.OptionalFloat(3).value_or(least);
  Value* x = Widen(b, input);
  Value* mean = b.Call("aten.mean.dim", {Mul(b, x, x), dims, true});
  Value* out = Mul(b, x, b.Call("aten.rsqrt", {AddScalar(b, mean, Scalar(eps))}));
  out = ScaleAndShift(b, out, weight, nullptr);
  return OneArgument(CastTo(b, out, dtype));
}

// ---- group norm ----

// (input, weight, bias, N, C, HxW, group, eps): each group of channels by itself.
Decomposed DecomposeNativeGroupNorm(Builder& b, const OpArgs& args) {
  Value *input = args.Tensor(0), *weight = args.OptionalTensor(1), *bias = args.OptionalTensor(2);
  const Expr n = args.Int(3), channels = args.Int(4), area = args.Int(5), groups = args.Int(6);
  const TensorType type = TypeOf(input);
  const bool is_mixed = weight != nullptr && TypeOf(weight).dtype != type.dtype;
  const DType stats = is_mixed ? ComputeType(type.dtype) : type.dtype;
  Value* x = Widen(b, Dense(b, input));
  const Expr per_group = symbolic::FloorDiv(channels, groups);
  x = Reshape(b, x, {n, groups, b.shapes().Simplify(per_group * area)});
  Moments m = MomentsOf(b, x, {2}, args.Float(7));
  Value* out = Reshape(b, Mul(b, m.centered, m.rstd), type.sizes);
  // One weight a channel, over dimension 1.
  std::vector<Expr> along(type.rank(), 1);
  if (type.rank() > 1) along[1] = channels;
  out = ScaleAndShift(b, out, weight ? Reshape(b, weight, along) : nullptr,
                      bias ? Reshape(b, bias, along) : nullptr);
  LATHE_RETURN_IF_ERROR(b.status());
  return Arguments{Argument::Of(CastTo(b, out, type.dtype)),
                   Argument::Of(CastTo(b, Reshape(b, m.mean, {n, groups}), stats)),
                   Argument::Of(CastTo(b, Reshape(b, m.rstd, {n, groups}), stats))};
}

Value* GroupNorm(Builder& b, Value* input, Value* weight, Value* bias, const Expr& groups,
                 double eps) {
  const TensorType& type = TypeOf(input);
  const Expr area = symbolic::Product(absl::MakeConstSpan(type.sizes).subspan(2));
  auto optional = [](Value* v) { return v ? CallArgument(v) : CallArgument(Argument()); };
  return b.Call("aten.native_group_norm", {input, optional(weight), optional(bias), type.sizes[0],
                                           type.sizes[1], area, groups, eps});
}

Decomposed DecomposeGroupNorm(Builder& b, const OpArgs& args) {
  const TensorType& type = args.Type(0);
  const Expr groups = args.Int(1);
  if (type.rank() < 2) {
    return InvalidArgument("group_norm: expected at least 2 dimensions for input tensor, got ",
                           ToString(type));
  }
  if (symbolic::IsRefused(b.shapes(), symbolic::Ne(symbolic::Mod(type.sizes[1], groups), 0))) {
    return InvalidArgument(
        "group_norm: expected number of channels in input to be divisible by "
        "num_groups, but got input of shape ",
        ToString(type.sizes), " and num_groups=", symbolic::ToString(groups));
  }
  return OneArgument(GroupNorm(b, args.Tensor(0), args.OptionalTensor(2), args.OptionalTensor(3),
                               groups, args.Float(4)));
}

// Each channel of each sample by itself: a group norm with as many groups as channels.
Decomposed DecomposeInstanceNorm(Builder& b, const OpArgs& args) {
  Value *input = args.Tensor(0), *weight = args.OptionalTensor(1), *bias = args.OptionalTensor(2);
  const bool use_input_stats = args.Bool(5);
  if (TypeOf(input).rank() < 2) {
    return InvalidArgument("instance_norm: expected at least 2 dimensions, got ",
                           ToString(TypeOf(input)));
  }
  if (!use_input_stats) {
    return OneArgument(b.Call("aten.batch_norm", {args[0], args[1], args[2], args[3], args[4],
                                                  false, args[6], args[7], false}));
  }
  if (!args.IsNone(3) || !args.IsNone(4)) {
    return Unimplemented("instance_norm that updates running statistics");
  }
  return OneArgument(GroupNorm(b, input, weight, bias, TypeOf(input).sizes[1], args.Float(7)));
}

OpRow Row(std::string schema, std::string doc, DecomposeFunction decompose, bool composite,
          std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.decompose = std::move(decompose);
  row.composite = composite;
  row.samples = std::move(samples);
  return row;
}

}  // namespace

std::vector<OpRow> LayerNormRows() {
  std::vector<OpRow> rows;
  rows.push_back(Row(
      "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? "
      "bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor",
      "(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions.", DecomposeLayerNorm,
      true,
      {"aten.layer_norm(f32[2, s0, 8], [8])", "aten.layer_norm(f32[2, 8], [8], f32[8], f32[8])"}));
  rows.push_back(Row(
      "aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? "
      "bias, float eps) -> (Tensor, Tensor, Tensor)",
      "layer_norm, and the mean and 1 / sqrt(var + eps) it used.", DecomposeNativeLayerNorm, false,
      {"aten.native_layer_norm(f32[2, 8], [8], f32[8], f32[8], 1e-05)"}));
  rows.push_back(
      Row("aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, "
          "float? eps=None) -> Tensor",
          "x / sqrt(mean(x * x) + eps) * weight over the last dimensions.", DecomposeRmsNorm, true,
          {"aten.rms_norm(f32[2, 8], [8], f32[8], 1e-06)"}));
  rows.push_back(Row(
      "aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, "
      "SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)",
      "group_norm, and the mean and 1 / sqrt(var + eps) of each group.", DecomposeNativeGroupNorm,
      false, {"aten.native_group_norm(f32[2, 6, 4], f32[6], f32[6], 2, 6, 4, 3, 1e-05)"}));
  rows.push_back(
      Row("aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? "
          "bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor",
          "Normalization of each group of channels of each sample.", DecomposeGroupNorm, true,
          {"aten.group_norm(f32[2, 6, 4], 3)"}));
  rows.push_back(Row(
      "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
      "Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) "
      "-> Tensor",
      "Normalization of each channel of each sample.", DecomposeInstanceNorm, true, {}));
  return rows;
}

}  // namespace lathe
