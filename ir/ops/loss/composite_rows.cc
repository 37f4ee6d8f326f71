// Losses that ATen composes of other operators, each step rounded as it is there: triplet, cosine
// embedding, hinge embedding, ranking, Poisson; and distances between pairs of vectors.

#include <algorithm>
#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/loss/loss_groups.h"
#include "ir/ops/view/compose.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

absl::StatusOr<Arguments> Reduced(Builder& b, Value* loss, const OpArgs& args, int reduction) {
  LATHE_ASSIGN_OR_RETURN(int64_t mode, args.ConstantInt(reduction));
  if (mode < 0 || mode > 2) {
    return InvalidArgument(args.schema().name, ": ", mode, " is not a valid value for reduction");
  }
  if (mode == 1) loss = b.Call("aten.mean", {loss});
  if (mode == 2) loss = b.Call("aten.sum", {loss});
  return OneArgument(loss);
}

Value* AtLeastZero(Builder& b, Value* x) { return b.Call("aten.clamp_min", {x, Scalar(0)}); }

// `x` where the target is `wanted` (or is not), 0 elsewhere.
Value* Where(Builder& b, const char* comparison, Value* target, int wanted, Value* x) {
  Value* chosen = b.Call(comparison, {target, Scalar(wanted)});
  return b.Call("aten.where.self", {chosen, x, b.Call("aten.zeros_like", {x})});
}

// ---- pairwise_distance(x1, x2, p, eps, keepdim) ----

Value* Distance(Builder& b, Value* x, Value* y, const Scalar& p, const Scalar& eps, bool keepdim) {
  Value* difference = AddScalar(b, Sub(b, x, y), eps);
  return b.Call("aten.norm.ScalarOpt_dim", {difference, p, std::vector<Expr>{-1}, keepdim});
}

Decomposed PairwiseDistance(Builder& b, const OpArgs& args) {
  return OneArgument(Distance(b, args.Tensor(0), args.Tensor(1), Scalar(args.Float(2)),
                              Scalar(args.Float(3)), args.Bool(4)));
}

// triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)
Decomposed TripletMargin(Builder& b, const OpArgs& args) {
  for (int i : {1, 2}) {
    if (args.Type(i).rank() != args.Type(0).rank()) {
      return InvalidArgument(
          "triplet_margin_loss: The anchor, positive, and negative tensors are expected to have "
          "the same number of dimensions, got ",
          ToString(args.Type(0)), " and ", ToString(args.Type(i)));
    }
  }
  const Scalar p(args.Float(4)), eps(args.Float(5));
  Value *positive = args.Tensor(1), *negative = args.Tensor(2);
  Value* near = Distance(b, args.Tensor(0), positive, p, eps, false);
  Value* far = Distance(b, args.Tensor(0), negative, p, eps, false);
  if (args.Bool(6)) {
    far = b.Call("aten.minimum", {far, Distance(b, positive, negative, p, eps, false)});
  }
  Value* loss = Sub(b, AddScalar(b, near, Scalar(args.Float(3))), far);
  return Reduced(b, AtLeastZero(b, loss), args, 7);
}

// cosine_embedding_loss(input1, input2, target, margin, reduction)
Decomposed CosineEmbedding(Builder& b, const OpArgs& args) {
  const int rank = args.Type(2).rank();
  if (rank > 1 || args.Type(0).rank() != rank + 1 || args.Type(1).rank() != rank + 1) {
    return InvalidArgument(
        "cosine_embedding_loss: expects inputs with one dimension more than the target, of 0 or "
        "1 dimensions, got ",
        ToString(args.Type(0)), ", ", ToString(args.Type(1)), " and target ",
        ToString(args.Type(2)));
  }
  Value *x = args.Tensor(0), *y = args.Tensor(1), *target = args.Tensor(2);
  const auto sum = [&](Value* u, Value* v) {
    return b.Call("aten.sum.dim_IntList", {Mul(b, u, v), std::vector<Expr>{-1}});
  };
  constexpr double kEpsilon = 1e-12;
  Value* sizes =
      Mul(b, AddScalar(b, sum(x, x), Scalar(kEpsilon)), AddScalar(b, sum(y, y), Scalar(kEpsilon)));
  Value* cosine = Div(b, sum(x, y), b.Call("aten.sqrt", {sizes}));
  Value* alike = b.Call("aten.rsub.Scalar", {cosine, Scalar(1)});
  Value* unlike = AtLeastZero(b, b.Call("aten.sub.Scalar", {cosine, Scalar(args.Float(3))}));
  Value* loss = Add(b, Where(b, "aten.eq.Scalar", target, 1, alike),
                    Where(b, "aten.eq.Scalar", target, -1, unlike));
  return Reduced(b, loss, args, 4);
}

// hinge_embedding_loss(self, target, margin, reduction)
Decomposed HingeEmbedding(Builder& b, const OpArgs& args) {
  Value *self = args.Tensor(0), *target = args.Tensor(1);
  Value* hinge = AtLeastZero(b, b.Call("aten.rsub.Scalar", {self, Scalar(args.Float(2))}));
  Value* loss = Add(b, Where(b, "aten.ne.Scalar", target, 1, hinge),
                    Where(b, "aten.ne.Scalar", target, -1, self));
  return Reduced(b, loss, args, 3);
}

// margin_ranking_loss(input1, input2, target, margin, reduction)
Decomposed MarginRanking(Builder& b, const OpArgs& args) {
  if (args.Type(0).rank() != args.Type(1).rank() || args.Type(0).rank() != args.Type(2).rank()) {
    return InvalidArgument(
        "margin_ranking_loss: All input tensors should have same dimension but got sizes: ",
        ToString(args.Type(0)), ", ", ToString(args.Type(1)), ", ", ToString(args.Type(2)));
  }
  Value* difference = Sub(b, args.Tensor(0), args.Tensor(1));
  Value* ranked = Mul(b, b.Call("aten.neg", {args.Tensor(2)}), difference);
  return Reduced(b, AtLeastZero(b, AddScalar(b, ranked, Scalar(args.Float(3)))), args, 4);
}

// poisson_nll_loss(input, target, log_input, full, eps, reduction)
Decomposed PoissonNll(Builder& b, const OpArgs& args) {
  Value *input = args.Tensor(0), *target = args.Tensor(1);
  Value* loss;
  if (args.Bool(2)) {
    loss = Sub(b, b.Call("aten.exp", {input}), Mul(b, target, input));
  } else {
    Value* logarithm = b.Call("aten.log", {AddScalar(b, input, Scalar(args.Float(4)))});
    loss = Sub(b, input, Mul(b, target, logarithm));
  }
  if (args.Bool(3)) {
    // Stirling's approximation of the logarithm of the factorial.
    Value* all = b.Call("aten.log", {MulScalar(b, target, Scalar(2 * std::numbers::pi))});
    Value* stirling = Add(b, Sub(b, Mul(b, target, b.Call("aten.log", {target})), target),
                          MulScalar(b, all, Scalar(0.5)));
    Value* small = b.Call("aten.le.Scalar", {target, Scalar(1)});
    loss = Add(b, loss, b.Call("aten.masked_fill.Scalar", {stirling, small, Scalar(0)}));
  }
  return Reduced(b, loss, args, 5);
}

// ---- cdist, pdist ----

Decomposed CrossDistances(Builder& b, const OpArgs& args) {
  const TensorType &x = args.Type(0), &y = args.Type(1);
  if (x.rank() < 2 || y.rank() < 2 || !IsFloat(x.dtype) || !IsFloat(y.dtype) || args.Float(2) < 0) {
    return InvalidArgument(
        "cdist only supports floats of at least 2 dimensions and a p of at least 0, got ",
        ToString(x), ", ", ToString(y), " and p=", args.Float(2));
  }
  return OneArgument(b.Call("aten._cdist_forward", {args[0], args[1], args[2], args[3]}));
}

Decomposed PairDistances(Builder& b, const OpArgs& args) {
  if (args.Type(0).rank() != 2 || !IsFloat(args.Type(0).dtype) || args.Float(1) < 0) {
    return InvalidArgument("pdist only supports 2D tensors of floats and a p of at least 0, got ",
                           ToString(args.Type(0)), " and p=", args.Float(1));
  }
  return OneArgument(b.Call("aten._pdist_forward", {args[0], args[1]}));
}

}  // namespace

std::vector<OpRow> CompositeLossRows() {
  return {
      CompositeRow("aten::pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool "
                   "keepdim=False) -> Tensor",
                   "The p-norm of x1 - x2 + eps along the last dimension.", PairwiseDistance,
                   {"aten.pairwise_distance(f32[3, 4], f32[3, 4])"}),
      CompositeRow("aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, "
                   "float margin=1.0, float p=2, float eps=1e-06, bool swap=False, int "
                   "reduction=Mean) -> Tensor",
                   "By how much the positive is not nearer to the anchor than the negative.",
                   TripletMargin, {"aten.triplet_margin_loss(f32[3, 4], f32[3, 4], f32[3, 4])"}),
      CompositeRow("aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float "
                   "margin=0.0, int reduction=Mean) -> Tensor",
                   "How far two vectors point apart (target 1) or alike (target -1).",
                   CosineEmbedding, {"aten.cosine_embedding_loss(f32[3, 4], f32[3, 4], f32[3])"}),
      CompositeRow("aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int "
                   "reduction=Mean) -> Tensor",
                   "self where target is 1, what it lacks to the margin where it is -1.",
                   HingeEmbedding, {"aten.hinge_embedding_loss(f32[3, 4], f32[3, 4])"}),
      CompositeRow("aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float "
                   "margin=0.0, int reduction=Mean) -> Tensor",
                   "By how much two inputs are not in the order that target tells.", MarginRanking,
                   {"aten.margin_ranking_loss(f32[4], f32[4], f32[4])"}),
      CompositeRow("aten::poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, "
                   "float eps, int reduction) -> Tensor",
                   "Minus the log likelihood of counts.", PoissonNll,
                   {"aten.poisson_nll_loss(f32[3], f32[3], true, false, 1e-08, 1)"}),
      CompositeRow("aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=Mean) "
                   "-> Tensor",
                   "By how much other classes come near the targets.",
                   [](Builder& b, const OpArgs& args) -> Decomposed {
                     return OneArgument(b.Call("aten.multilabel_margin_loss_forward",
                                               {args[0], args[1], args[2]}));
                   }),
      CompositeRow("aten::cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor",
                   "Distances between each row of x1 and each of x2.", CrossDistances,
                   {"aten.cdist(f32[3, 4], f32[5, 4])"}),
      CompositeRow("aten::pdist(Tensor self, float p=2) -> Tensor",
                   "Distances between the rows, each pair once.", PairDistances,
                   {"aten.pdist(f32[4, 3])"}),
  };
}

}  // namespace lathe
