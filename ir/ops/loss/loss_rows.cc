// Losses: an elementwise distance from a target, then its mean or sum (at::Reduction: 0 none,
// 1 mean, 2 sum). All decompose; f16 and bf16 are computed in f32.

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/families.h"
#include "ir/ops/loss/loss_groups.h"
#include "ir/ops/opmath.h"

namespace lathe {
namespace {

using Results = absl::StatusOr<std::vector<Argument>>;

// The elementwise loss, in the computing dtype.
using ElementLoss = std::function<Value*(Builder& b, const OpArgs& args, Value* x, Value* target)>;

// The unreduced loss is rounded, as the tensor that eager reduces is.
Results Reduced(Builder& b, Value* loss, int64_t reduction, DType dtype) {
  loss = ToDType(b, loss, dtype);
  if (reduction == 1) loss = b.Call("aten.mean", {loss});
  if (reduction == 2) loss = b.Call("aten.sum", {loss});
  return std::vector<Argument>{Argument::Of(loss)};
}

OpRow Loss(std::string schema, std::string doc, int reduction, ElementLoss element) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.batch = BatchRule::kByDecomposition;
  row.decompose = [reduction, element](Builder& b, const OpArgs& args) -> Results {
    LATHE_ASSIGN_OR_RETURN(int64_t mode, args.ConstantInt(reduction));
    DType dtype = args.Type(0).dtype;
    if (IsIntegral(dtype)) {
      return InvalidArgument(args.schema().name, ": not defined for ", Name(dtype));
    }
    Value* x = ToOpmath(b, args.Tensor(0));
    Value* target = ToOpmath(b, args.Tensor(1));
    return Reduced(b, element(b, args, x, target), mode, dtype);
  };
  return row;
}

Value* Difference(Builder& b, Value* x, Value* target) {
  return b.Call("aten.abs", {b.Call("aten.sub.Tensor", {x, target})});
}

Value* Square(Builder& b, Value* x) { return b.Call("aten.mul.Tensor", {x, x}); }

Value* MseLoss(Builder& b, const OpArgs&, Value* x, Value* target) {
  return Square(b, b.Call("aten.sub.Tensor", {x, target}));
}

Value* L1Loss(Builder& b, const OpArgs&, Value* x, Value* target) {
  return Difference(b, x, target);
}

// d^2 / (2 beta) below beta, d - beta / 2 above.
Value* SmoothL1Loss(Builder& b, const OpArgs& args, Value* x, Value* target) {
  double beta = args.Float(3);
  Value* d = Difference(b, x, target);
  if (beta == 0) return d;
  Value* near = b.Call("aten.mul.Scalar", {Square(b, d), 0.5 / beta});
  Value* far = b.Call("aten.sub.Scalar", {d, 0.5 * beta});
  return b.Call("aten.where.self", {b.Call("aten.lt.Scalar", {d, beta}), near, far});
}

// d^2 / 2 up to delta, delta (d - delta / 2) above.
Value* HuberLoss(Builder& b, const OpArgs& args, Value* x, Value* target) {
  double delta = args.Float(3);
  Value* d = Difference(b, x, target);
  Value* near = b.Call("aten.mul.Scalar", {Square(b, d), 0.5});
  Value* far = b.Call("aten.mul.Scalar", {b.Call("aten.sub.Scalar", {d, 0.5 * delta}), delta});
  return b.Call("aten.where.self", {b.Call("aten.le.Scalar", {d, delta}), near, far});
}

Value* Weighted(Builder& b, const OpArgs& args, int weight, Value* loss) {
  if (args.OptionalTensor(weight) == nullptr) return loss;
  return b.Call("aten.mul.Tensor", {loss, ToOpmath(b, args.Tensor(weight))});
}

// -(t log x + (1 - t) log(1 - x)), logarithms not below -100.
Value* BinaryCrossEntropy(Builder& b, const OpArgs& args, Value* x, Value* target) {
  Value* log_x = b.Call("aten.clamp_min", {b.Call("aten.log", {x}), -100});
  Value* log_rest =
      b.Call("aten.clamp_min", {b.Call("aten.log1p", {b.Call("aten.neg", {x})}), -100});
  Value* off = b.Call("aten.mul.Tensor", {b.Call("aten.sub.Scalar", {target, 1}), log_rest});
  Value* on = b.Call("aten.mul.Tensor", {target, log_x});
  return Weighted(b, args, 2, b.Call("aten.sub.Tensor", {off, on}));
}

// (1 - t) x + (1 + (pos_weight - 1) t) (log1p(exp(-|x|)) + max(-x, 0))
Value* BinaryCrossEntropyWithLogits(Builder& b, const OpArgs& args, Value* x, Value* target) {
  Value* magnitude = b.Call("aten.neg", {b.Call("aten.abs", {x})});
  Value* soft = b.Call("aten.log1p", {b.Call("aten.exp", {magnitude})});
  soft = b.Call("aten.add.Tensor", {soft, b.Call("aten.clamp_min", {b.Call("aten.neg", {x}), 0})});
  if (args.OptionalTensor(3) != nullptr) {
    Value* extra = b.Call("aten.sub.Scalar", {ToOpmath(b, args.Tensor(3)), 1});
    Value* factor = b.Call("aten.add.Scalar", {b.Call("aten.mul.Tensor", {extra, target}), 1});
    soft = b.Call("aten.mul.Tensor", {factor, soft});
  }
  Value* linear = b.Call("aten.mul.Tensor", {b.Call("aten.rsub.Scalar", {target, 1}), x});
  return Weighted(b, args, 2, b.Call("aten.add.Tensor", {linear, soft}));
}

// Composed of rounded steps in eager: exp of f16 overflows at 11.
Value* SoftMarginLoss(Builder& b, const OpArgs& args, Value*, Value*) {
  Value* product =
      b.Call("aten.mul.Tensor", {b.Call("aten.neg", {args.Tensor(1)}), args.Tensor(0)});
  return b.Call("aten.log1p", {b.Call("aten.exp", {product})});
}

// t (log t - x); with log_target the target is a logarithm.
Value* KlDiv(Builder& b, const OpArgs& args, Value* x, Value* target) {
  if (args.Bool(3)) {
    Value* d = b.Call("aten.sub.Tensor", {target, x});
    return b.Call("aten.mul.Tensor", {b.Call("aten.exp", {target}), d});
  }
  Value* entropy = b.Call("aten.xlogy.Tensor", {target, target});
  return b.Call("aten.sub.Tensor", {entropy, b.Call("aten.mul.Tensor", {target, x})});
}

std::vector<OpRow> ElementwiseLosses() {
  OpRow l1 = Loss("aten::l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor",
                  "|self - target|.", 2, L1Loss);
  OpRow kl_div = Loss(
      "aten::kl_div(Tensor self, Tensor target, int reduction=Mean, *, "
      "bool log_target=False) -> Tensor",
      "The Kullback-Leibler divergence; self is a logarithm.", 2, KlDiv);
  l1.composite = kl_div.composite = true;
  return {
      std::move(l1),
      std::move(kl_div),
      Loss("aten::mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor",
           "(self - target)^2.", 2, MseLoss),
      Loss("aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) "
           "-> Tensor",
           "Quadratic near the target, linear away from it.", 2, SmoothL1Loss),
      Loss("aten::huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> "
           "Tensor",
           "Quadratic near the target, linear away from it.", 2, HuberLoss),
      Loss("aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, "
           "int reduction=Mean) -> Tensor",
           "The cross entropy of probabilities self and target.", 3, BinaryCrossEntropy),
      Loss("aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, "
           "Tensor? weight=None, Tensor? pos_weight=None, int reduction=Mean) -> Tensor",
           "The cross entropy of sigmoid(self) and target, without overflow.", 4,
           BinaryCrossEntropyWithLogits),
      Loss("aten::soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor",
           "log(1 + exp(-target * self)).", 2, SoftMarginLoss),
  };
}

// ---- Negative log likelihood ----

// Classes lie along dimension `dim` of self; `target` has its sizes without that dimension.
absl::StatusOr<std::vector<Argument>> NllForward(Builder& b, const OpArgs& args, int dim) {
  LATHE_ASSIGN_OR_RETURN(int64_t reduction, args.ConstantInt(3));
  DType dtype = args.Type(0).dtype;
  Value* x = ToOpmath(b, args.Tensor(0));
  Value* target = args.Tensor(1);
  Value* is_ignored = b.Call("aten.eq.Scalar", {target, args[4]});
  Value* safe = b.Call("aten.masked_fill.Scalar", {target, is_ignored, 0});
  Value* picked = b.Call("aten.gather", {x, dim, b.Call("aten.unsqueeze", {safe, dim})});
  Value* loss = b.Call("aten.neg", {b.Call("aten.squeeze.dim", {picked, dim})});
  Value* weight = ToDType(b, b.Call("aten.logical_not", {is_ignored}), x->type.tensor().dtype);
  if (args.OptionalTensor(2) != nullptr) {
    Value* table = ToOpmath(b, args.Tensor(2));
    Value* flat = b.Call("aten.reshape", {safe, std::vector<Expr>{-1}});
    Value* of_class = b.Call("aten.index_select", {table, 0, flat});
    of_class = b.Call("aten.reshape", {of_class, args.Type(1).sizes});
    weight = b.Call("aten.mul.Tensor", {weight, of_class});
  }
  loss =
      b.Call("aten.masked_fill.Scalar", {b.Call("aten.mul.Tensor", {loss, weight}), is_ignored, 0});
  Value* total = b.Call("aten.sum", {weight});
  if (reduction == 0) {
    // Nothing is divided, and eager leaves the total 0.
    total = b.Call("aten.mul.Scalar", {total, 0});
  } else {
    loss = b.Call("aten.sum", {loss});
    if (reduction == 1) loss = b.Call("aten.div.Tensor", {loss, total});
  }
  return std::vector<Argument>{Argument::Of(ToDType(b, loss, dtype)),
                               Argument::Of(ToDType(b, total, dtype))};
}

OpRow Nll(std::string name, DecomposeFunction decompose) {
  OpRow row;
  row.schema = absl::StrCat("aten::", name,
                            "(Tensor self, Tensor target, Tensor? weight, int reduction, "
                            "SymInt ignore_index) -> (Tensor output, Tensor total_weight)");
  row.doc = "Minus the log probability of the target class, and the sum of the classes' weights.";
  row.batch = BatchRule::kByDecomposition;
  row.decompose = std::move(decompose);
  return row;
}

// aten.nll_loss and nll_loss2d: the first result of the forward.
OpRow NllComposite(const std::string& name) {
  OpRow row;
  row.schema = absl::StrCat("aten::", name,
                            "(Tensor self, Tensor target, Tensor? weight=None, "
                            "int reduction=Mean, SymInt ignore_index=-100) -> Tensor");
  row.doc = "Minus the log probability of the target class.";
  row.composite = true;
  row.batch = BatchRule::kByDecomposition;
  row.decompose = [name](Builder& b, const OpArgs& args) -> Results {
    Value* loss = b.Call(absl::StrCat("aten.", name, "_forward"),
                         {args[0], args[1], args[2], args[3], args[4]});
    return std::vector<Argument>{Argument::Of(loss)};
  };
  return row;
}

}  // namespace

std::vector<OpRow> LossRows() {
  std::vector<OpRow> rows = ElementwiseLosses();
  rows.push_back(Nll("nll_loss_forward", [](Builder& b, const OpArgs& args) -> Results {
    return NllForward(b, args, args.Type(0).rank() == 1 ? 0 : 1);
  }));
  rows.push_back(Nll("nll_loss2d_forward", [](Builder& b, const OpArgs& args) -> Results {
    return NllForward(b, args, 1);
  }));
  rows.push_back(NllComposite("nll_loss"));
  rows.push_back(NllComposite("nll_loss2d"));
  for (auto group : {MarginRows, ClassRows, CompositeLossRows}) {
    for (OpRow& row : group()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lathe
