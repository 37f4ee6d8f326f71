// Batch normalization: with running statistics it is pointwise, in training two reductions more.

#include <cmath>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/normalize/normalize_rows.h"
#include "ir/ops/view/compose.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

absl::Status CheckBatchNorm(const OpArgs& args) {
  if (args.Type(0).rank() < 2) {
    return InvalidArgument(args.schema().name, ": expected at least 2 dimensions, got ",
                           ToString(args.Type(0)));
  }
  return absl::OkStatus();
}

// A value a channel, shaped to broadcast over dimension 1 of `type`.
Value* AlongChannels(Builder& b, Value* x, const TensorType& type) {
  if (x == nullptr) return nullptr;
  std::vector<Expr> sizes(type.rank(), 1);
  sizes[1] = type.sizes[1];
  return Reshape(b, Widen(b, x), sizes);
}

// x * alpha + beta with alpha = weight * rstd and beta = bias - mean * alpha, as eager has it.
Value* Normalized(Builder& b, Value* input, Value* weight, Value* bias, Value* mean, Value* rstd) {
  const TensorType type = TypeOf(input);
  Value* alpha = weight == nullptr ? rstd : Mul(b, rstd, Widen(b, weight));
  Value* beta = b.Call("aten.neg", {Mul(b, mean, alpha)});
  if (bias != nullptr) beta = Add(b, Widen(b, bias), beta);
  Value* out =
      Add(b, Mul(b, Widen(b, input), AlongChannels(b, alpha, type)), AlongChannels(b, beta, type));
  return CastTo(b, out, type.dtype);
}

Value* InverseDeviation(Builder& b, Value* variance, double eps) {
  return b.Call("aten.rsqrt", {AddScalar(b, Widen(b, variance), Scalar(eps))});
}

// Inference: the result, and two empty tensors for the statistics that were not computed.
Decomposed DecomposeNoTraining(Builder& b, const OpArgs& args) {
  LATHE_RETURN_IF_ERROR(CheckBatchNorm(args));
  Value* mean = args.Tensor(3);
  Value* rstd = InverseDeviation(b, args.Tensor(4), args.Float(6));
  Value* out = Normalized(b, args.Tensor(0), args.OptionalTensor(1), args.OptionalTensor(2),
                          Widen(b, mean), rstd);
  Value* none = b.Call("aten.new_empty", {args.Tensor(0), std::vector<Expr>{0}},
                       {{"dtype", TypeOf(mean).dtype}});
  LATHE_RETURN_IF_ERROR(b.status());
  return Arguments{Argument::Of(out), Argument::Of(none), Argument::Of(none)};
}

struct BatchStatistics {
  Value *mean, *variance, *rstd;  // one value a channel
  Expr count;                     // of values a channel
};

// Eager rounds the statistics to the type it returns them in before they are used; of bf16 the sum
// of squares too, though not of f16.
BatchStatistics StatisticsOf(Builder& b, Value* input, Value* weight, double eps) {
  const TensorType& type = TypeOf(input);
  const DType stats = TypeOf(weight ? weight : input).dtype;
  std::vector<Expr> dims;
  Expr count = 1;
  for (int d = 0; d < type.rank(); ++d) {
    if (d == 1) continue;
    dims.push_back(d);
    count = count * type.sizes[d];
  }
  Value* x = Widen(b, input);
  Value* kept = b.Call("aten.mean.dim", {x, dims, true});
  Value* centered = Sub(b, x, kept);
  Value* squares = b.Call("aten.sum.dim_IntList", {Mul(b, centered, centered), dims, false});
  if (stats == DType::kBF16) squares = Widen(b, CastTo(b, squares, stats));
  BatchStatistics s;
  s.count = count;
  s.variance = b.Call("aten.div.Scalar", {squares, count});
  s.mean = CastTo(b, Reshape(b, kept, {type.sizes[1]}), stats);
  s.rstd = CastTo(b, b.Call("aten.rsqrt", {AddScalar(b, s.variance, Scalar(eps))}), stats);
  return s;
}

// Training without running statistics: (input, weight, bias, training, momentum, eps).
Decomposed DecomposeNoStats(Builder& b, const OpArgs& args) {
  LATHE_RETURN_IF_ERROR(CheckBatchNorm(args));
  Value* weight = args.OptionalTensor(1);
  BatchStatistics s = StatisticsOf(b, args.Tensor(0), weight, args.Float(5));
  Value* out = Normalized(b, args.Tensor(0), weight, args.OptionalTensor(2), Widen(b, s.mean),
                          Widen(b, s.rstd));
  LATHE_RETURN_IF_ERROR(b.status());
  return Arguments{Argument::Of(out), Argument::Of(s.mean), Argument::Of(s.rstd)};
}

// (1 - momentum) * running + momentum * fresh
Value* Updated(Builder& b, Value* running, Value* fresh, double momentum) {
  Value* kept = MulScalar(b, Widen(b, running), Scalar(1 - momentum));
  Value* updated = Add(b, kept, MulScalar(b, fresh, Scalar(momentum)));
  return CastTo(b, updated, TypeOf(running).dtype);
}
Value* UpdatedMean(Builder& b, Value* running, const BatchStatistics& s, double momentum) {
  return Updated(b, running, Widen(b, s.mean), momentum);
}
// The running variance is that of a sample: divided by one value less.
Value* UpdatedVariance(Builder& b, Value* running, const BatchStatistics& s, double momentum) {
  Value* unbiased;
  if (const auto count = s.count.AsInt()) {
    const double n = static_cast<double>(*count);
    unbiased = MulScalar(b, s.variance, Scalar(n / (n - 1)));
  } else {
    unbiased = b.Call("aten.mul.Scalar", {s.variance, symbolic::TrueDiv(s.count, s.count - 1)});
  }
  return Updated(b, running, unbiased, momentum);
}

Decomposed DecomposeBatchNorm(Builder& b, const OpArgs& args) {
  LATHE_RETURN_IF_ERROR(CheckBatchNorm(args));
  const bool training = args.Bool(5);
  const double momentum = args.Float(6), eps = args.Float(7);
  if (!training) {
    if (args.IsNone(3) || args.IsNone(4)) {
      return InvalidArgument(
          "batch_norm: expected running_mean and running_var to be defined when "
          "training=False");
    }
    return OneArgument(b.Call("aten._native_batch_norm_legit_no_training",
                              {args[0], args[1], args[2], args[3], args[4], momentum, eps}));
  }
  Value* input = args.Tensor(0);
  Value* weight = args.OptionalTensor(1);
  BatchStatistics s = StatisticsOf(b, input, weight, eps);
  Value* out =
      Normalized(b, input, weight, args.OptionalTensor(2), Widen(b, s.mean), Widen(b, s.rstd));
  if (Value* running = args.OptionalTensor(3)) {
    b.Call("aten.copy_", {running, UpdatedMean(b, running, s, momentum)});
  }
  if (Value* running = args.OptionalTensor(4)) {
    b.Call("aten.copy_", {running, UpdatedVariance(b, running, s, momentum)});
  }
  return OneArgument(out);
}

// ---- The kernels with statistics; the host's update running tensors in place ----

struct HostNorm {
  int eps, momentum, training;  // argument positions; training -1: always
  bool has_reserve = false;
  bool is_functional = false;  // the updated statistics are the last two results
};

std::vector<double> OrElse(const std::optional<Tensor>& t, int64_t count, double value) {
  return t ? ToVector<double>(*t) : std::vector<double>(count, value);
}

void UpdateHost(const std::optional<Tensor>& running, const std::vector<double>& fresh,
                double momentum) {
  if (!running) return;
  std::vector<double> values = ToVector<double>(*running);
  for (size_t k = 0; k < values.size(); ++k) {
    values[k] = (1 - momentum) * values[k] + momentum * fresh[k];
  }
  FromVector<double>(values, *running);
}

Tensor CopyOf(const Tensor& t) {
  Tensor copy = Tensor::Empty(t.dtype(), t.sizes());
  copy.CopyFrom(t);
  return copy;
}

EvaluateFunction EvaluateNorm(HostNorm where) {
  return [where](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Tensor& input = c.args.Tensor(0);
    const int64_t channels = input.sizes()[1];
    const double eps = c.args.Float(where.eps), momentum = c.args.Float(where.momentum);
    const bool training = where.training < 0 || c.args.Bool(where.training);
    std::optional<Tensor> running_mean = c.args.OptionalTensor(3);
    std::optional<Tensor> running_var = c.args.OptionalTensor(4);
    if (where.is_functional) {
      running_mean = CopyOf(*running_mean);
      running_var = CopyOf(*running_var);
    }
    const std::vector<double> x = ToVector<double>(input);
    std::vector<int64_t> channel;
    ForEachIndex(input.sizes(), [&](const Position& p) { channel.push_back(p[1]); });
    const double count = channels == 0 ? 0 : static_cast<double>(x.size()) / channels;
    std::vector<double> mean(channels, 0), variance(channels, 0), rstd(channels);
    // Eager rounds the statistics to the type it returns them in before they are used; of bf16 the
    // sum of squares too, though not of f16.
    const DType stats = c.results[1].tensor().dtype;
    auto rounded = [&](double v) { return Convert(Scalar(v), stats).ToDouble(); };
    if (training) {
      for (size_t k = 0; k < x.size(); ++k) mean[channel[k]] += x[k] / count;
      for (size_t k = 0; k < x.size(); ++k) {
        const double d = x[k] - mean[channel[k]];
        variance[channel[k]] += d * d;
      }
      for (double& v : variance) v = (stats == DType::kBF16 ? rounded(v) : v) / count;
    } else {
      mean = OrElse(running_mean, channels, 0);
      variance = OrElse(running_var, channels, 1);
    }
    for (int64_t k = 0; k < channels; ++k) rstd[k] = 1 / std::sqrt(variance[k] + eps);
    const std::vector<double> exact_mean = mean;
    if (training) {
      for (double& v : mean) v = rounded(v);
      for (double& v : rstd) v = rounded(v);
    }
    const std::vector<double> weight = OrElse(c.args.OptionalTensor(1), channels, 1);
    const std::vector<double> bias = OrElse(c.args.OptionalTensor(2), channels, 0);
    std::vector<double> y(x.size());
    for (size_t k = 0; k < x.size(); ++k) {
      const int64_t i = channel[k];
      y[k] = (x[k] - mean[i]) * rstd[i] * weight[i] + bias[i];
    }
    std::vector<HostValue> results;
    const size_t fresh = c.results.size() - (where.is_functional ? 2 : 0);
    for (size_t k = 0; k < fresh; ++k) results.emplace_back(c.Allocate(k));
    FromVector<double>(y, results[0].tensor());
    if (training) {
      FromVector<double>(mean, results[1].tensor());
      FromVector<double>(rstd, results[2].tensor());
      std::vector<double> unbiased = variance;
      for (double& v : unbiased) v *= count / (count - 1);
      UpdateHost(running_mean, exact_mean, momentum);
      UpdateHost(running_var, unbiased, momentum);
    }
    if (where.is_functional) {
      results.emplace_back(*running_mean);
      results.emplace_back(*running_var);
    }
    return results;
  };
}

// The result like the input; statistics a channel in training, empty otherwise.
InferFunction InferNorm(HostNorm where) {
  return [where](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
    LATHE_RETURN_IF_ERROR(CheckBatchNorm(c.args));
    const TensorType& input = c.args.Type(0);
    const bool training = where.training < 0 || c.args.Bool(where.training);
    Value* weight = c.args.OptionalTensor(1);
    const DType stats = weight != nullptr ? weight->type.tensor().dtype : input.dtype;
    TensorType out = input;
    out.offset = 0;
    const std::vector<Expr> sizes = {training ? input.sizes[1] : Expr(0)};
    std::vector<ValueType> types = {out, ContiguousType(stats, sizes, input.device),
                                    ContiguousType(stats, sizes, input.device)};
    if (where.has_reserve) types.emplace_back(ContiguousType(DType::kU8, {0}, input.device));
    for (int i = 3; where.is_functional && i < 5; ++i) {
      const TensorType& running = c.args.Type(i);
      types.emplace_back(ContiguousType(running.dtype, running.sizes, running.device));
    }
    return types;
  };
}

// The functional forms: the result, the statistics used (empty in inference), the reserve, and the
// running statistics as they are afterwards.
DecomposeFunction DecomposeFunctional(HostNorm where) {
  return [where](Builder& b, const OpArgs& args) -> Decomposed {
    LATHE_RETURN_IF_ERROR(CheckBatchNorm(args));
    Value *input = args.Tensor(0), *weight = args.OptionalTensor(1);
    Value *mean = args.Tensor(3), *variance = args.Tensor(4);
    const double momentum = args.Float(where.momentum), eps = args.Float(where.eps);
    const bool training = where.training < 0 || args.Bool(where.training);
    const auto none = [&](DType dtype) {
      return b.Call("aten.new_empty", {input, std::vector<Expr>{0}}, {{"dtype", dtype}});
    };
    std::vector<Value*> results;
    if (training) {
      const BatchStatistics s = StatisticsOf(b, input, weight, eps);
      results = {
          Normalized(b, input, weight, args.OptionalTensor(2), Widen(b, s.mean), Widen(b, s.rstd)),
          s.mean, s.rstd};
      mean = UpdatedMean(b, mean, s, momentum);
      variance = UpdatedVariance(b, variance, s, momentum);
    } else {
      const DType stats = TypeOf(weight ? weight : input).dtype;
      results = {Normalized(b, input, weight, args.OptionalTensor(2), Widen(b, mean),
                            InverseDeviation(b, variance, eps)),
                 none(stats), none(stats)};
      mean = b.Call("aten.clone", {mean});
      variance = b.Call("aten.clone", {variance});
    }
    if (where.has_reserve) results.push_back(none(DType::kU8));
    results.insert(results.end(), {mean, variance});
    LATHE_RETURN_IF_ERROR(b.status());
    Arguments arguments;
    for (Value* value : results) arguments.push_back(Argument::Of(value));
    return arguments;
  };
}

OpRow StatisticsRow(std::string schema, HostNorm where, std::string functional) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = where.is_functional ? "Batch normalization that also gives the updated statistics."
                                : "Batch normalization that updates the statistics in place.";
  row.effect = where.is_functional ? Effect::kPure : Effect::kMutates;
  row.functional = std::move(functional);
  row.infer = InferNorm(where);
  row.evaluate = EvaluateNorm(where);
  if (where.is_functional) row.decompose = DecomposeFunctional(where);
  return row;
}

}  // namespace

std::vector<OpRow> BatchNormRows() {
  std::vector<OpRow> rows;
  OpRow inference;
  inference.schema =
      "aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, "
      "Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, "
      "Tensor)";
  inference.doc = "Batch normalization with running statistics.";
  inference.decompose = DecomposeNoTraining;
  inference.samples = {
      "aten._native_batch_norm_legit_no_training(f32[2, 3, 4, 4], f32[3], f32[3], f32[3], f32[3], "
      "0.1, 1e-05)"};
  rows.push_back(std::move(inference));

  OpRow no_stats;
  no_stats.schema =
      "aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool "
      "training, float momentum, float eps) -> (Tensor, Tensor, Tensor)";
  no_stats.doc = "Batch normalization with the batch's own statistics.";
  no_stats.decompose = DecomposeNoStats;
  no_stats.samples = {
      "aten._native_batch_norm_legit.no_stats(f32[2, 3, 4], f32[3], f32[3], true, 0.1, 1e-05)"};
  rows.push_back(std::move(no_stats));

  OpRow composite;
  composite.schema =
      "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? "
      "running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor";
  composite.doc =
      "Normalization of each channel over the batch; in training the running statistics follow.";
  composite.decompose = DecomposeBatchNorm;
  composite.composite = true;
  composite.samples = {
      "aten.batch_norm(f32[2, 3, 4, 4], f32[3], f32[3], f32[3], f32[3], false, 0.1, 1e-05, false)"};
  rows.push_back(std::move(composite));

  const std::string first = "(Tensor input, Tensor? weight, Tensor? bias, ";
  const std::string written = "Tensor(a!) running_mean, Tensor(b!) running_var, ";
  const std::string read = "Tensor running_mean, Tensor running_var, ";
  const std::string numbers = "float momentum, float eps) -> (Tensor, Tensor, Tensor";
  const std::string also = ", Tensor running_mean_out, Tensor running_var_out)";
  const HostNorm legit{7, 6, 5}, update{6, 5, -1, true};
  HostNorm pure_legit = legit, pure_update = update;
  pure_legit.is_functional = pure_update.is_functional = true;
  rows.push_back(StatisticsRow("aten::native_batch_norm" + first +
                                   "Tensor? running_mean, Tensor? running_var, bool training, " +
                                   numbers + ")",
                               legit, ""));
  rows.push_back(StatisticsRow(
      "aten::_native_batch_norm_legit" + first + written + "bool training, " + numbers + ")", legit,
      "aten._native_batch_norm_legit_functional"));
  rows.push_back(StatisticsRow("aten::_native_batch_norm_legit_functional" + first + read +
                                   "bool training, " + numbers + also,
                               pure_legit, ""));
  rows.push_back(
      StatisticsRow("aten::_batch_norm_with_update" + first + written + numbers + ", Tensor)",
                    update, "aten._batch_norm_with_update_functional"));
  rows.push_back(StatisticsRow("aten::_batch_norm_with_update_functional" + first + read + numbers +
                                   ", Tensor reserve" + also,
                               pure_update, ""));
  return rows;
}

}  // namespace lathe
