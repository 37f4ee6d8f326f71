// matmul and linear: operands of any rank brought to mm, bmm, mv or dot by views.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/matmul/batch_product.h"
#include "ir/ops/matmul/matmul_rows.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

// Broadcast batch sizes of two operands; InvalidArgument when they do not broadcast.
absl::StatusOr<std::vector<Expr>> BroadcastBatch(Builder& b, absl::Span<const Expr> x,
                                                 absl::Span<const Expr> y) {
  std::vector<Expr> sizes(std::max(x.size(), y.size()), 1);
  for (size_t k = 0; k < sizes.size(); ++k) {
    Expr left = k < x.size() ? x[x.size() - 1 - k] : Expr(1);
    Expr right = k < y.size() ? y[y.size() - 1 - k] : Expr(1);
    Expr& out = sizes[sizes.size() - 1 - k];
    if (left == 1) {
      out = right;
    } else if (right == 1 || left == right) {
      out = left;
    } else if (!symbolic::IsAccepted(b.shapes(), symbolic::Eq(left, right), {})) {
      return InvalidArgument("matmul: batch sizes do not broadcast: ", ToString(x), " and ",
                             ToString(y));
    } else {
      out = left.is_const() ? left : right;
    }
  }
  return sizes;
}

// x of rank >= 3 times a matrix: all leading dimensions are rows.
Value* FoldedProduct(Builder& b, Value* x, Value* matrix) {
  const TensorType& type = TypeOf(x);
  std::vector<Expr> rows(type.sizes.begin(), type.sizes.end() - 1);
  std::vector<Expr> sizes = rows;
  Value* flat = Reshape(b, x, {symbolic::Product(rows), type.sizes.back()});
  Value* product = b.Call("aten.mm", {flat, matrix});
  if (product == nullptr) return nullptr;
  sizes.push_back(TypeOf(product).sizes[1]);
  return b.Call("aten._unsafe_view", {product, sizes});
}

bool IsFoldable(Builder& b, const TensorType& type) {
  std::vector<Expr> rows(type.sizes.begin(), type.sizes.end() - 1);
  std::vector<Expr> flat = {symbolic::Product(rows), type.sizes.back()};
  return ViewStrides(type, flat, b.shapes()).has_value();
}

absl::StatusOr<Value*> BroadcastProduct(Builder& b, Value* x, Value* y) {
  const TensorType &left = TypeOf(x), &right = TypeOf(y);
  LATHE_ASSIGN_OR_RETURN(
      std::vector<Expr> batch,
      BroadcastBatch(b, absl::MakeConstSpan(left.sizes).subspan(0, left.rank() - 2),
                     absl::MakeConstSpan(right.sizes).subspan(0, right.rank() - 2)));
  return BatchProduct(b, x, y, batch, left.dtype);
}

absl::StatusOr<Value*> MatmulOf(Builder& b, Value* x, Value* y) {
  const int left = TypeOf(x).rank(), right = TypeOf(y).rank();
  if (left == 0 || right == 0) {
    return InvalidArgument("both arguments to matmul need to be at least 1D, but they are ", left,
                           "D and ", right, "D");
  }
  if (left == 1 && right == 1) return b.Call("aten.dot", {x, y});
  if (left == 2 && right == 1) return b.Call("aten.mv", {x, y});
  if (left == 1) {
    // A row in front, which disappears again.
    LATHE_ASSIGN_OR_RETURN(Value * product, MatmulOf(b, b.Call("aten.unsqueeze", {x, 0}), y));
    return b.Call("aten.squeeze.dim", {product, -2});
  }
  if (right == 1) {
    LATHE_ASSIGN_OR_RETURN(Value * product, MatmulOf(b, x, b.Call("aten.unsqueeze", {y, 1})));
    return b.Call("aten.squeeze.dim", {product, -1});
  }
  if (left == 2 && right == 2) return b.Call("aten.mm", {x, y});
  if (right == 2 && IsFoldable(b, TypeOf(x))) return FoldedProduct(b, x, y);
  return BroadcastProduct(b, x, y);
}

Decomposed DecomposeMatmul(Builder& b, const OpArgs& args) {
  if (args.Type(0).dtype != args.Type(1).dtype) {
    return InvalidArgument("matmul: expected both operands to have the same dtype, got ",
                           ToString(args.Type(0)), " and ", ToString(args.Type(1)));
  }
  LATHE_ASSIGN_OR_RETURN(Value * product, MatmulOf(b, args.Tensor(0), args.Tensor(1)));
  return OneArgument(product);
}

// Eager's linear: addmm where the input folds into a matrix, otherwise matmul and add.
Decomposed DecomposeLinear(Builder& b, const OpArgs& args) {
  Value *input = args.Tensor(0), *bias = args.OptionalTensor(2);
  const TensorType& type = TypeOf(input);
  const TensorType& weight_type = args.Type(1);
  if (type.rank() == 0 || weight_type.rank() == 0 || weight_type.rank() > 2) {
    return InvalidArgument("linear: expected an input of rank >= 1 and a weight of rank 1 or 2, ",
                           "got ", ToString(type), " and ", ToString(weight_type));
  }
  if (type.dtype != weight_type.dtype) {
    return InvalidArgument("linear: input ", ToString(type), " and weight ", ToString(weight_type),
                           " must have the same dtype");
  }
  Value* weight = b.Call("aten.t", {args.Tensor(1)});
  if (bias != nullptr && weight_type.rank() == 2 && type.rank() == 2) {
    return OneArgument(b.Call("aten.addmm", {bias, input, weight}));
  }
  if (bias != nullptr && weight_type.rank() == 2 && type.rank() > 2 && IsFoldable(b, type)) {
    std::vector<Expr> sizes(type.sizes.begin(), type.sizes.end() - 1);
    Value* flat = Reshape(b, input, {symbolic::Product(sizes), type.sizes.back()});
    Value* product = b.Call("aten.addmm", {bias, flat, weight});
    sizes.push_back(weight_type.sizes[0]);
    return OneArgument(b.Call("aten.view", {product, sizes}));
  }
  LATHE_ASSIGN_OR_RETURN(Value * product, MatmulOf(b, input, weight));
  return OneArgument(bias == nullptr ? product : Add(b, product, bias));
}

}  // namespace

std::vector<OpRow> MatmulOpRows() {
  std::vector<OpRow> rows;
  const std::vector<std::string> shapes = {"(f32[3], f32[3])", "(f32[2, 3], f32[3])",
                                           "(f32[3], f32[3, 4])", "(f32[2, 5, 3], f32[3, 4])",
                                           "(f32[2, 1, 5, 3], f32[6, 3, 4])"};
  for (const char* name : {"matmul", "linalg_matmul"}) {
    std::vector<std::string> samples;
    for (const std::string& s : shapes) samples.push_back(std::string("aten.") + name + s);
    rows.push_back(
        CompositeRow(std::string("aten::") + name + "(Tensor self, Tensor other) -> Tensor",
                     "The matrix product with broadcast batches; a vector counts as a row "
                     "on the left, a column on the right.",
                     DecomposeMatmul, std::move(samples)));
  }
  rows.push_back(CompositeRow(
      "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
      "input @ weight.T + bias.", DecomposeLinear,
      {"aten.linear(f32[2, 3], f32[4, 3], f32[4])", "aten.linear(f32[s0, 5, 3], f32[4, 3])",
       "aten.linear(f32[2, 5, 3], f32[4, 3], f32[4])"}));
  return rows;
}

}  // namespace lathe
