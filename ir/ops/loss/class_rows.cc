// Cross entropy and negative log likelihood over any number of dimensions.

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/loss/loss_groups.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

struct Likelihood {
  Value *loss = nullptr, *total_weight = nullptr;
};

// (input, target, weight, reduction, ignore_index), classes along dimension 1. Beyond images, all
// dimensions behind the classes count as one.
absl::StatusOr<Likelihood> NegativeLikelihood(Builder& b, Value* x, Value* target,
                                              const Argument& weight, int64_t reduction,
                                              const Argument& ignored) {
  const TensorType type = TypeOf(x);
  const int rank = type.rank();
  if (rank == 0) return InvalidArgument("nll_loss: expected at least one dimension");
  if (rank != TypeOf(target).rank() + (rank == 1 ? 0 : 1) && !(rank == 1)) {
    return InvalidArgument("nll_loss: expected a target of ", rank - 1, " dimensions, got ",
                           ToString(TypeOf(target)), " for ", ToString(type));
  }
  const bool is_flat = rank == 3 || rank > 4;
  if (is_flat) {
    for (int d = 0; d < rank - 1; ++d) {
      const Expr& size = type.sizes[d == 0 ? 0 : d + 1];
      if (symbolic::IsRefused(b.shapes(), symbolic::Ne(size, TypeOf(target).sizes[d]))) {
        return InvalidArgument("nll_loss: expected target ", ToString(TypeOf(target)),
                               " to have the sizes of ", ToString(type), " without classes");
      }
    }
    x = Reshape(b, x, {type.sizes[0], type.sizes[1], 1, -1});
    target = Reshape(b, target, {type.sizes[0], 1, -1});
  }
  const char* op = rank <= 2 ? "aten.nll_loss_forward" : "aten.nll_loss2d_forward";
  auto both = b.CallMany(op, {x, target, weight, reduction, ignored});
  LATHE_RETURN_IF_ERROR(b.status());
  if (is_flat && reduction == 0) {
    std::vector<Expr> sizes = type.sizes;
    sizes.erase(sizes.begin() + 1);
    both[0] = Reshape(b, both[0], sizes);
  }
  return Likelihood{both[0], both[1]};
}

Decomposed DecomposeNll(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(int64_t reduction, args.ConstantInt(3));
  LATHE_ASSIGN_OR_RETURN(Likelihood nll, NegativeLikelihood(b, args.Tensor(0), args.Tensor(1),
                                                            args[2], reduction, args[4]));
  return OneArgument(nll.loss);
}

class CrossEntropy {
 public:
  CrossEntropy(Builder& b, const OpArgs& args, int64_t reduction)
      : b_(b), args_(args), reduction_(reduction), smoothing_(args.Float(5)) {
    dim_ = args.Type(0).rank() == 1 ? 0 : 1;
    classes_ = args.Type(0).sizes[dim_];
    logs_ = b.Call("aten.log_softmax.int", {args.Tensor(0), dim_});
  }

  // Each class has its probability.
  Decomposed OfProbabilities() {
    Value* target = args_.Tensor(1);
    if (smoothing_ > 0) {
      LATHE_ASSIGN_OR_RETURN(double even, EvenShare());
      target = AddScalar(b_, MulScalar(b_, target, Scalar(1 - smoothing_)), Scalar(even));
    }
    Value* products = Weighted(Mul(b_, logs_, target));
    if (reduction_ == 0) return OneArgument(b_.Call("aten.neg", {OverClasses(products)}));
    Value* loss = b_.Call("aten.neg", {b_.Call("aten.sum", {products})});
    if (reduction_ == 2) return OneArgument(loss);
    LATHE_RETURN_IF_ERROR(b_.status());
    Expr samples = 1;
    for (int d = 0; d < TypeOf(logs_).rank(); ++d) {
      if (d != dim_) samples = samples * TypeOf(logs_).sizes[d];
    }
    return OneArgument(b_.Call("aten.div.Scalar", {loss, samples}));
  }

  // One class a sample; with smoothing, all classes get an even share of its probability.
  Decomposed OfClasses() {
    LATHE_RETURN_IF_ERROR(b_.status());
    LATHE_ASSIGN_OR_RETURN(Likelihood nll, NegativeLikelihood(b_, logs_, args_.Tensor(1), args_[2],
                                                              reduction_, args_[4]));
    if (smoothing_ == 0) return OneArgument(nll.loss);
    Value* smooth = b_.Call("aten.neg", {OverClasses(Weighted(logs_))});
    Value* ignored = b_.Call("aten.eq.Scalar", {args_.Tensor(1), args_[4]});
    smooth = b_.Call("aten.masked_fill.Scalar", {smooth, ignored, Scalar(0)});
    if (reduction_ != 0) smooth = b_.Call("aten.sum", {smooth});
    // The total weight: of the classes, or how many samples are not ignored.
    if (reduction_ == 1) smooth = Div(b_, smooth, nll.total_weight);
    LATHE_ASSIGN_OR_RETURN(double even, EvenShare());
    return OneArgument(Add(b_, MulScalar(b_, nll.loss, Scalar(1 - smoothing_)),
                           MulScalar(b_, smooth, Scalar(even))));
  }

 private:
  absl::StatusOr<double> EvenShare() const {
    const std::optional<int64_t> count = classes_.AsInt();
    if (!count) return Unimplemented("cross_entropy_loss: smoothing over symbolic classes");
    return smoothing_ / static_cast<double>(*count);
  }
  Value* OverClasses(Value* x) {
    return b_.Call("aten.sum.dim_IntList", {x, std::vector<Expr>{dim_}});
  }
  Value* Weighted(Value* x) {
    Value* weight = args_.OptionalTensor(2);
    if (weight == nullptr) return x;
    std::vector<Expr> along(args_.Type(0).rank(), 1);
    along[dim_] = classes_;
    return Mul(b_, x, Reshape(b_, weight, along));
  }

  Builder& b_;
  const OpArgs& args_;
  int64_t reduction_;
  double smoothing_;
  int dim_ = 0;
  Expr classes_;
  Value* logs_ = nullptr;
};

Decomposed DecomposeCrossEntropy(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(int64_t reduction, args.ConstantInt(3));
  const TensorType &self = args.Type(0), &target = args.Type(1);
  if (self.rank() == 0 || !IsFloat(self.dtype)) {
    return InvalidArgument("cross_entropy_loss: expected floats with a dimension of classes, got ",
                           ToString(self));
  }
  if (reduction < 0 || reduction > 2 || args.Float(5) < 0 || args.Float(5) > 1) {
    return InvalidArgument("cross_entropy_loss: reduction ", reduction, " or label_smoothing ",
                           args.Float(5), " is out of range");
  }
  if (!IsFloat(target.dtype)) return CrossEntropy(b, args, reduction).OfClasses();
  if (target.rank() != self.rank()) {
    return InvalidArgument("Expected floating point target of size ", ToString(self.sizes),
                           " for class probabilities, got ", ToString(target));
  }
  return CrossEntropy(b, args, reduction).OfProbabilities();
}

}  // namespace

std::vector<OpRow> ClassRows() {
  return {
      CompositeRow("aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int "
                   "reduction=Mean, SymInt ignore_index=-100) -> Tensor",
                   "Minus the log probability of the target class.", DecomposeNll,
                   {"aten.nll_loss_nd(f32[2, 3, 4], i64[2, 4])"}),
      CompositeRow("aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int "
                   "reduction=Mean, SymInt ignore_index=-100, float label_smoothing=0.0) -> Tensor",
                   "nll_loss of log_softmax(self); the target names classes or has their "
                   "probabilities.",
                   DecomposeCrossEntropy, {"aten.cross_entropy_loss(f32[3, 4], f32[3, 4])"}),
  };
}

}  // namespace lathe
