// Losses of classes by margin, and distances between rows.

#include <algorithm>
#include <cmath>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/loss/loss_groups.h"
#include "ir/ops/opmath.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

// ---- multi_margin_loss(self, target, p, margin, weight, reduction) ----

Decomposed DecomposeMultiMargin(Builder& b, const OpArgs& args) {
  const TensorType type = args.Type(0);
  const Scalar p = args.Number(2), margin = args.Number(3);
  if (!(p == Scalar(1)) && !(p == Scalar(2))) {
    return InvalidArgument("multi_margin_loss: only p == 1 and p == 2 supported");
  }
  if (type.rank() > 2 || !IsFloat(type.dtype)) {
    return InvalidArgument("multi_margin_loss: expected floats of one or two dimensions, got ",
                           ToString(type));
  }
  LATHE_ASSIGN_OR_RETURN(int64_t reduction, args.ConstantInt(5));
  const Expr classes = type.rank() == 0 ? Expr(1) : type.sizes.back();
  Value* x = ToOpmath(b, Reshape(b, args.Tensor(0), {-1, classes}));
  Value* target = Reshape(b, args.Tensor(1), {-1, 1});
  Value* chosen = b.Call("aten.gather", {x, 1, target});
  Value* z = AddScalar(b, Sub(b, x, chosen), margin);
  z = b.Call("aten.clamp_min", {z, Scalar(0)});
  if (p == Scalar(2)) z = Mul(b, z, z);
  if (Value* weight = args.OptionalTensor(4)) {
    z = Mul(b, z, ToOpmath(b, b.Call("aten.index.Tensor", {weight, std::vector<Value*>{target}})));
  }
  Value* other = b.Call("aten.ne.Tensor", {b.Call("aten.arange", {classes}), target});
  z = Mul(b, z, CastTo(b, other, ComputeType(type.dtype)));
  Value* loss = b.Call("aten.mean.dim", {z, std::vector<Expr>{1}});
  if (reduction == 1) loss = b.Call("aten.mean", {loss});
  if (reduction == 2) loss = b.Call("aten.sum", {loss});
  if (reduction == 0 && type.rank() < 2) loss = Reshape(b, loss, {});
  return OneArgument(ToDType(b, loss, type.dtype));
}

// ---- multilabel_margin_loss_forward(self, target, reduction) ----

absl::StatusOr<std::vector<ValueType>> InferMultilabel(const InferContext& c) {
  const TensorType &self = c.args.Type(0), &target = c.args.Type(1);
  LATHE_ASSIGN_OR_RETURN(int64_t reduction, c.args.ConstantInt(2));
  if (self.rank() > 2 || target.rank() != self.rank() || !IsFloat(self.dtype)) {
    return InvalidArgument("multilabel_margin_loss: inconsistent ", ToString(self), " and target ",
                           ToString(target));
  }
  std::vector<Expr> sizes;
  if (reduction == 0 && self.rank() == 2) sizes.push_back(self.sizes[0]);
  return std::vector<ValueType>{ContiguousType(self.dtype, std::move(sizes), self.device),
                                ContiguousType(self.dtype, target.sizes, self.device)};
}

// A row of targets ends at its first -1.
absl::StatusOr<std::vector<HostValue>> EvaluateMultilabel(const EvaluateContext& c) {
  const Tensor &self = c.args.Tensor(0), &target = c.args.Tensor(1);
  Tensor out = c.Allocate(0), marks = c.Allocate(1);
  const int64_t width = self.rank() == 0 ? 1 : self.sizes()[self.rank() - 1];
  const int64_t rows = self.rank() == 2 ? self.sizes()[0] : 1;
  const std::vector<double> x = ToVector<double>(self);
  const std::vector<int64_t> t = ToVector<int64_t>(target);
  std::vector<double> is_target(t.size(), 0), losses;
  for (int64_t row = 0; row < rows; ++row) {
    std::vector<int64_t> targets;
    for (int64_t k = 0; k < width && t[row * width + k] != -1; ++k) {
      const int64_t at = t[row * width + k];
      if (at < 0 || at >= width) return OutOfRange("multilabel_margin_loss: target ", at);
      targets.push_back(at);
      is_target[row * width + at] = 1;
    }
    double sum = 0;
    for (int64_t at : targets) {
      for (int64_t k = 0; k < width; ++k) {
        if (is_target[row * width + k] != 0) continue;
        sum += std::max(0.0, 1 - x[row * width + at] + x[row * width + k]);
      }
    }
    losses.push_back(sum / static_cast<double>(width));
  }
  if (c.args.Int(2) != 0) {
    double sum = 0;
    for (double loss : losses) sum += loss;
    losses = {c.args.Int(2) == 1 ? sum / static_cast<double>(rows) : sum};
  }
  FromVector<double>(losses, out);
  FromVector<double>(is_target, marks);
  return std::vector<HostValue>{out, marks};
}

// ---- Distances ----

Value* Distances(Builder& b, Value* x, Value* y, double p) {
  Value* difference = Sub(b, b.Call("aten.unsqueeze", {x, -2}), b.Call("aten.unsqueeze", {y, -3}));
  return b.Call("aten.linalg_vector_norm", {difference, Scalar(p), std::vector<Expr>{-1}});
}

Decomposed DecomposeDistances(Builder& b, const OpArgs& args) {
  return OneArgument(Distances(b, args.Tensor(0), args.Tensor(1), args.Float(2)));
}

// Of each pair of rows once, in the order of an upper triangle.
Decomposed DecomposePairs(Builder& b, const OpArgs& args) {
  Value* x = args.Tensor(0);
  const auto n = TypeOf(x).sizes[0].AsInt();
  if (TypeOf(x).rank() != 2 || !n) {
    return Unimplemented("_pdist_forward of ", ToString(TypeOf(x)));
  }
  if (*n < 2) return OneArgument(b.Call("aten.new_empty", {x, std::vector<Expr>{0}}));
  Value* pairs = b.Call("aten.triu_indices", {*n, *n, 1});
  auto side = [&](int k) {
    return b.Call("aten.index_select", {x, 0, b.Call("aten.select.int", {pairs, 0, k})});
  };
  return OneArgument(
      b.Call("aten.linalg_vector_norm",
             {Sub(b, side(0), side(1)), Scalar(args.Float(1)), std::vector<Expr>{-1}}));
}

}  // namespace

std::vector<OpRow> MarginRows() {
  OpRow labels;
  labels.schema =
      "aten::multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor "
      "output, Tensor is_target)";
  labels.doc = "By how much other classes come near the targets; and which are targets.";
  labels.infer = InferMultilabel;
  labels.evaluate = EvaluateMultilabel;
  return {
      labels,
      DecomposedRow(
          "aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, "
          "Tensor? weight=None, int reduction=Mean) -> Tensor",
          "By how much other classes come near the target.", DecomposeMultiMargin, {}),
      DecomposedRow(
          "aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
          "Distances between each row of x1 and each of x2.", DecomposeDistances,
          {"aten._cdist_forward(f32[3, 4], f32[5, 4], 2.0, none)"}),
      DecomposedRow("aten::_pdist_forward(Tensor self, float p=2) -> Tensor",
                    "Distances between the rows, each pair once.", DecomposePairs,
                    {"aten._pdist_forward(f32[4, 3])"}),
  };
}

}  // namespace lathe
