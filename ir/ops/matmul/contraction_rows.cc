// Products of tensors along chosen dimensions: inner, tensordot, kron, and what compares vectors.

#include <algorithm>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/matmul/matmul_rows.h"
#include "ir/ops/result_rules.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

// x [rows..., k] times y [columns..., k]: [rows..., columns...].
Value* RowsTimesRows(Builder& b, Value* x, Value* y) {
  if (x == nullptr || y == nullptr) return nullptr;
  const std::vector<Expr> left = TypeOf(x).sizes, right = TypeOf(y).sizes;
  const Expr length = left.back();
  const std::vector<Expr> rows(left.begin(), left.end() - 1),
      columns(right.begin(), right.end() - 1);
  Value* product = b.Call(
      "aten.mm",
      {Reshape(b, x, {symbolic::Product(rows), length}),
       b.Call("aten.transpose.int", {Reshape(b, y, {symbolic::Product(columns), length}), 0, 1})});
  std::vector<Expr> sizes = rows;
  sizes.insert(sizes.end(), columns.begin(), columns.end());
  return Reshape(b, product, sizes);
}

absl::Status CheckSameDType(const OpArgs& args) {
  if (args.Type(0).dtype == args.Type(1).dtype) return absl::OkStatus();
  return InvalidArgument(args.schema().name, ": both inputs should have same dtype, but got ",
                         Name(args.Type(0).dtype), " and ", Name(args.Type(1).dtype));
}

Decomposed DecomposeInner(Builder& b, const OpArgs& args) {
  Value *x = args.Tensor(0), *y = args.Tensor(1);
  if (TypeOf(x).rank() == 0 || TypeOf(y).rank() == 0) return OneArgument(Mul(b, x, y));
  LATHE_RETURN_IF_ERROR(CheckSameDType(args));
  if (symbolic::IsRefused(b.shapes(),
                          symbolic::Ne(TypeOf(x).sizes.back(), TypeOf(y).sizes.back()))) {
    return InvalidArgument("inner() the last dimension must match on both input tensors but got ",
                           ToString(TypeOf(x)), " and ", ToString(TypeOf(y)));
  }
  return OneArgument(RowsTimesRows(b, x, y));
}

// The other dimensions in order, then `last` as one; without the latter where it is all summed.
Value* WithContractedLast(Builder& b, Value* x, const std::vector<int>& last) {
  std::vector<Expr> order, sizes;
  Expr length = 1;
  for (int d = 0; d < TypeOf(x).rank(); ++d) {
    if (std::find(last.begin(), last.end(), d) != last.end()) continue;
    order.push_back(d);
    sizes.push_back(TypeOf(x).sizes[d]);
  }
  for (int d : last) {
    order.push_back(d);
    length = length * TypeOf(x).sizes[d];
  }
  sizes.push_back(length);
  return Reshape(b, b.Call("aten.permute", {x, order}), sizes);
}

absl::StatusOr<std::vector<int>> ContractedDims(const OpArgs& args, int i, int rank) {
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> given, args.ConstantInts(i));
  std::vector<int> dims;
  for (int64_t d : given) {
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(d, rank));
    if (std::find(dims.begin(), dims.end(), dim) != dims.end()) {
      return InvalidArgument("tensordot: dim ", dim, " appears multiple times in the list of dims");
    }
    dims.push_back(dim);
  }
  return dims;
}

Decomposed DecomposeTensorDot(Builder& b, const OpArgs& args) {
  Value *x = args.Tensor(0), *y = args.Tensor(1);
  LATHE_RETURN_IF_ERROR(CheckSameDType(args));
  LATHE_ASSIGN_OR_RETURN(std::vector<int> left, ContractedDims(args, 2, TypeOf(x).rank()));
  LATHE_ASSIGN_OR_RETURN(std::vector<int> right, ContractedDims(args, 3, TypeOf(y).rank()));
  if (left.size() != right.size()) {
    return InvalidArgument("both dimension lists should have same length");
  }
  for (size_t k = 0; k < left.size(); ++k) {
    // A size of 1 goes with any: the other side is summed.
    const Expr m = TypeOf(x).sizes[left[k]], n = TypeOf(y).sizes[right[k]];
    if (m == 1 && !(n == 1)) {
      y = b.Call("aten.sum.dim_IntList", {y, std::vector<Expr>{right[k]}, true},
                 {{"dtype", TypeOf(y).dtype}});
    } else if (n == 1 && !(m == 1)) {
      x = b.Call("aten.sum.dim_IntList", {x, std::vector<Expr>{left[k]}, true},
                 {{"dtype", TypeOf(x).dtype}});
    } else if (symbolic::IsRefused(b.shapes(), symbolic::Ne(m, n))) {
      return InvalidArgument("contracted dimensions need to match, but first has size ",
                             symbolic::ToString(m), " in dim ", left[k], " and second has size ",
                             symbolic::ToString(n), " in dim ", right[k]);
    }
    LATHE_RETURN_IF_ERROR(b.status());
  }
  return OneArgument(
      RowsTimesRows(b, WithContractedLast(b, x, left), WithContractedLast(b, y, right)));
}

Decomposed DecomposeKron(Builder& b, const OpArgs& args) {
  Value *x = args.Tensor(0), *y = args.Tensor(1);
  const int rank = std::max(TypeOf(x).rank(), TypeOf(y).rank());
  std::vector<Expr> outer, inner, sizes;
  for (int d = 0; d < rank; ++d) {
    const auto size = [&](Value* v) {
      const int at = d - (rank - TypeOf(v).rank());
      return at < 0 ? Expr(1) : TypeOf(v).sizes[at];
    };
    outer.insert(outer.end(), {size(x), 1});
    inner.insert(inner.end(), {1, size(y)});
    sizes.push_back(size(x) * size(y));
  }
  return OneArgument(Reshape(b, Mul(b, Reshape(b, x, outer), Reshape(b, y, inner)), sizes));
}

constexpr int64_t kMostDifferences = 64;  // each is a node

// diff(self, n, dim, prepend, append)
Decomposed DecomposeDiff(Builder& b, const OpArgs& args) {
  Value* x = args.Tensor(0);
  LATHE_ASSIGN_OR_RETURN(int64_t order, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, args.ConstantInt(2));
  if (TypeOf(x).rank() == 0) {
    return InvalidArgument("diff expects input to be at least one-dimensional");
  }
  if (order < 0) return InvalidArgument("order must be non-negative but got ", order);
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, TypeOf(x).rank()));
  if (order == 0) return OneArgument(Clone(b, x, MemoryFormat::kPreserve));
  std::vector<Value*> parts = {x};
  if (Value* before = args.OptionalTensor(3)) parts.insert(parts.begin(), before);
  if (Value* after = args.OptionalTensor(4)) parts.push_back(after);
  if (parts.size() > 1) x = b.Call("aten.cat", {CallArgument(parts), dim});
  for (int64_t k = 0; k < order && x != nullptr; ++k) {
    const std::optional<int64_t> size = TypeOf(x).sizes[dim].AsInt();
    if (size && *size == 0) break;
    if (k == kMostDifferences) return Unimplemented("diff of order ", order);
    Value* next = b.Call("aten.slice.Tensor", {x, dim, 1, INT64_MAX});
    Value* here = b.Call("aten.slice.Tensor", {x, dim, 0, -1});
    x = TypeOf(x).dtype == DType::kBool ? b.Call("aten.logical_xor", {next, here})
                                        : Sub(b, next, here);
  }
  return OneArgument(x);
}

// cosine_similarity(x1, x2, dim, eps)
Decomposed DecomposeCosineSimilarity(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(DType common, PromotedType(args, {0, 1}));
  if (!IsFloat(common)) {
    return InvalidArgument("expected common dtype to be floating point, yet common dtype is ",
                           Name(common));
  }
  const std::vector<std::vector<Expr>> given = {args.Type(0).sizes, args.Type(1).sizes};
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes, BroadcastSizes(given, b.shapes()));
  std::vector<Value*> both;
  for (int k : {0, 1}) {
    both.push_back(b.Call("aten.expand", {CastTo(b, args.Tensor(k), common), sizes}));
  }
  LATHE_RETURN_IF_ERROR(b.status());
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, TypeOf(both[0]).rank()));
  for (Value*& x : both) {
    Value* norm = b.Call("aten.linalg_vector_norm", {x, 2, std::vector<Expr>{dim}, true});
    x = Div(b, x, b.Call("aten.clamp_min", {norm, Scalar(args.Float(3))}));
  }
  return OneArgument(
      b.Call("aten.sum.dim_IntList", {Mul(b, both[0], both[1]), std::vector<Expr>{dim}}));
}

}  // namespace

std::vector<OpRow> ContractionRows() {
  return {
      CompositeRow("aten::inner(Tensor self, Tensor other) -> Tensor",
                   "Sums of products along the last dimensions of both.", DecomposeInner,
                   {"aten.inner(f32[2, 3], f32[4, 3])", "aten.inner(f32[s0], f32[s0])"}),
      CompositeRow(
          "aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> "
          "Tensor",
          "Sums of products along pairs of dimensions.", DecomposeTensorDot,
          {"aten.tensordot(f32[2, 3, 4], f32[4, 5, 3], [1, 2], [2, 0])"}),
      CompositeRow("aten::kron(Tensor self, Tensor other) -> Tensor",
                   "Every element of self times other, as blocks.", DecomposeKron,
                   {"aten.kron(f32[2, 3], f32[4])"}),
      CompositeRow("aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? "
                   "append=None) -> Tensor",
                   "Differences of neighbours along a dimension, n times over.", DecomposeDiff,
                   {"aten.diff(f32[3, 5])", "aten.diff(i64[5], 2)"}),
      CompositeRow("aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> "
                   "Tensor",
                   "The cosine of the angle between vectors along a dimension.",
                   DecomposeCosineSimilarity, {"aten.cosine_similarity(f32[3, 5], f32[3, 5])"}),
  };
}

}  // namespace lathe
