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

// running = (1 - momentum) * running + momentum * fresh, in place.
void UpdateRunning(Builder& b, Value* running, Value* fresh, double momentum) {
  if (running == nullptr) return;
  Value* kept = MulScalar(b, Widen(b, running), Scalar(1 - momentum));
  Value* updated = Add(b, kept, MulScalar(b, fresh, Scalar(momentum)));
  b.Call("aten.copy_", {running, CastTo(b, updated, TypeOf(running).dtype)});
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
  const TensorType& type = TypeOf(input);
  std::optional<int64_t> count = NumElements(type).AsInt(), channels = type.sizes[1].AsInt();
  if (args.OptionalTensor(3) || args.OptionalTensor(4)) {
    if (!count || !channels) {
      return Unimplemented("batch_norm: running statistics of a batch of symbolic size");
    }
    const double n = static_cast<double>(*count) / static_cast<double>(*channels);
    UpdateRunning(b, args.OptionalTensor(3), Widen(b, s.mean), momentum);
    UpdateRunning(b, args.OptionalTensor(4), MulScalar(b, s.variance, Scalar(n / (n - 1))),
                  momentum);
  }
  return OneArgument(out);
}

// ---- The kernels with statistics, on the host: they update running tensors in place ----

struct HostNorm {
  int eps, momentum, training;  // argument positions; training -1: always
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

EvaluateFunction EvaluateNorm(HostNorm where) {
  return [where](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Tensor& input = c.args.Tensor(0);
    const int64_t channels = input.sizes()[1];
    const double eps = c.args.Float(where.eps), momentum = c.args.Float(where.momentum);
    const bool training = where.training < 0 || c.args.Bool(where.training);
    const std::optional<Tensor> running_mean = c.args.OptionalTensor(3);
    const std::optional<Tensor> running_var = c.args.OptionalTensor(4);
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
    for (size_t k = 0; k < c.results.size(); ++k) results.emplace_back(c.Allocate(k));
    FromVector<double>(y, results[0].tensor());
    if (training) {
      FromVector<double>(mean, results[1].tensor());
      FromVector<double>(rstd, results[2].tensor());
      std::vector<double> unbiased = variance;
      for (double& v : unbiased) v *= count / (count - 1);
      UpdateHost(running_mean, exact_mean, momentum);
      UpdateHost(running_var, unbiased, momentum);
    }
    return results;
  };
}

// The result like the input; statistics a channel in training, empty otherwise.
InferFunction InferNorm(HostNorm where, bool has_reserve) {
  return [where, has_reserve](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
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
    if (has_reserve) types.emplace_back(ContiguousType(DType::kU8, {0}, input.device));
    return types;
  };
}

OpRow StatisticsRow(std::string schema, HostNorm where, bool has_reserve) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = "Batch normalization that also updates the running statistics in place.";
  row.effect = Effect::kMutates;
  row.infer = InferNorm(where, has_reserve);
  row.evaluate = EvaluateNorm(where);
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
  const std::string last = "bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)";
  rows.push_back(StatisticsRow(
      "aten::native_batch_norm" + first + "Tensor? running_mean, Tensor? running_var, " + last,
      {7, 6, 5}, false));
  rows.push_back(StatisticsRow("aten::_native_batch_norm_legit" + first +
                                   "Tensor(a!) running_mean, Tensor(b!) running_var, " + last,
                               {7, 6, 5}, false));
  rows.push_back(StatisticsRow(
      "aten::_batch_norm_with_update" + first +
          "Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps) -> (Tensor, "
          "Tensor, Tensor, Tensor)",
      {6, 5, -1}, true));
  return rows;
}

}  // namespace lathe
