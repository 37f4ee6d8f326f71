// Weights scaled to a norm: weight_norm and the norms it takes.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/normalize/normalize_rows.h"
#include "ir/ops/view/compose.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

// The p-norm over all dimensions but `dim` (-1: over all), which keep size 1.
absl::StatusOr<Value*> NormExceptDim(Builder& b, Value* v, int64_t power, int64_t dim) {
  const TensorType type = TypeOf(v);
  if (dim == -1) return b.Call("aten.norm.Scalar", {v, Scalar(power)});
  if (dim < 0 || dim >= type.rank()) {
    return OutOfRange("norm_except_dim: dimension ", dim, " of a tensor of ", type.rank(),
                      " dimensions");
  }
  std::vector<Expr> others;
  for (int d = 0; d < type.rank(); ++d) {
    if (d != dim) others.push_back(d);
  }
  // A vector has no others, and an empty list would mean all.
  if (others.empty()) return b.Call("aten.abs", {v});
  if (dim == 0 || dim == type.rank() - 1) {
    return b.Call("aten.norm.ScalarOpt_dim", {v, Scalar(power), others, true});
  }
  // Eager moves the dimension to the front, and back.
  std::vector<Expr> sizes(type.rank(), 1);
  sizes[0] = type.sizes[dim];
  Value* norms = b.Call("aten.norm.ScalarOpt_dim", {v, Scalar(power), others});
  return b.Call("aten.transpose.int", {Reshape(b, norms, sizes), 0, dim});
}

Decomposed DecomposeNormExceptDim(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(int64_t power, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(Value * norm, NormExceptDim(b, args.Tensor(0), power, dim));
  return OneArgument(norm);
}

// v * (g / norm(v)), and the norms: in f32 for narrower floats where it is one kernel.
absl::StatusOr<std::pair<Value*, Value*>> WeightNorm(Builder& b, const OpArgs& args, bool widens) {
  LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(2));
  Value *v = args.Tensor(0), *g = args.Tensor(1);
  const DType dtype = TypeOf(v).dtype;
  if (widens) {
    v = Widen(b, v);
    g = Widen(b, g);
  }
  if (!IsFloat(TypeOf(v).dtype)) {
    return InvalidArgument("weight_norm: expected floats, got ", ToString(TypeOf(v)));
  }
  LATHE_ASSIGN_OR_RETURN(Value * norm, NormExceptDim(b, v, 2, dim));
  return std::pair(CastTo(b, Mul(b, v, Div(b, g, norm)), dtype), norm);
}

}  // namespace

std::vector<OpRow> WeightNormRows() {
  return {
      CompositeRow("aten::norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor",
                   "The p-norm over all dimensions but one.", DecomposeNormExceptDim,
                   {"aten.norm_except_dim(f32[3, 4])"}),
      CompositeRow("aten::_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor",
                   "v with the norms g over all dimensions but one.",
                   [](Builder& b, const OpArgs& args) -> Decomposed {
                     LATHE_ASSIGN_OR_RETURN(auto both, WeightNorm(b, args, false));
                     return OneArgument(both.first);
                   },
                   {"aten._weight_norm(f32[3, 4], f32[3, 1])"}),
      DecomposedRow("aten::_weight_norm_interface(Tensor v, Tensor g, int dim=0) -> (Tensor, "
                    "Tensor)",
                    "v with the norms g over all dimensions but one; and the norms it had.",
                    [](Builder& b, const OpArgs& args) -> Decomposed {
                      LATHE_ASSIGN_OR_RETURN(auto both, WeightNorm(b, args, true));
                      LATHE_RETURN_IF_ERROR(b.status());
                      return Arguments{Argument::Of(both.first), Argument::Of(both.second)};
                    },
                    {"aten._weight_norm_interface(f32[3, 4], f32[3, 1])"}),
  };
}

}  // namespace lathe
