// scaled_dot_product_attention as two products with a softmax between them.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/matmul/batch_product.h"
#include "ir/ops/matmul/matmul_rows.h"
#include "ir/ops/sample_layout.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

struct Attention {
  Value *query, *key, *value, *mask;
  bool is_causal = false;
  bool repeats_heads = false;  // enable_gqa
  double scale = 1;
};

absl::StatusOr<Attention> AttentionOf(const OpArgs& args) {
  Attention a{args.Tensor(0), args.Tensor(1), args.Tensor(2), args.OptionalTensor(3)};
  for (int i : {0, 1, 2}) {
    if (args.Type(i).rank() < 2) {
      return InvalidArgument(
          "scaled_dot_product_attention: expected query, key and value to be at "
          "least 2 dimensional, got ",
          ToString(args.Type(i)));
    }
    if (args.Type(i).dtype != args.Type(0).dtype || !IsFloat(args.Type(i).dtype)) {
      return InvalidArgument(
          "scaled_dot_product_attention: expected query, key and value of one "
          "float dtype, got ",
          ToString(args.Type(0)), " and ", ToString(args.Type(i)));
    }
  }
  if (args.Float(4) != 0) {
    return Unimplemented("scaled_dot_product_attention: dropout_p=", args.Float(4),
                         " draws random numbers, which is not supported");
  }
  a.is_causal = args.Bool(5);
  if (a.is_causal && a.mask != nullptr) {
    return InvalidArgument(
        "scaled_dot_product_attention: explicit attn_mask should not be set "
        "when is_causal=True");
  }
  a.repeats_heads = args.Bool(7);
  if (args.OptionalFloat(6)) {
    a.scale = *args.OptionalFloat(6);
  } else if (auto width = args.Type(0).sizes.back().AsInt()) {
    a.scale = 1.0 / std::sqrt(static_cast<double>(*width));
  } else {
    return Unimplemented(
        "scaled_dot_product_attention: a symbolic head size needs an explicit "
        "scale");
  }
  return a;
}

// Key or value heads repeated to the query's count: each serves a run of queries.
absl::StatusOr<Value*> RepeatHeads(Builder& b, Value* x, const Expr& heads) {
  const TensorType type = TypeOf(x);
  if (type.rank() < 3) return InvalidArgument("enable_gqa needs a head dimension");
  const int dim = type.rank() - 3;
  if (type.sizes[dim] == heads) return x;
  Expr times = b.shapes().Simplify(symbolic::FloorDiv(heads, type.sizes[dim]));
  if (symbolic::IsRefused(b.shapes(), symbolic::Ne(times * type.sizes[dim], heads))) {
    return InvalidArgument("scaled_dot_product_attention: the query's ", symbolic::ToString(heads),
                           " heads are no multiple of ", symbolic::ToString(type.sizes[dim]));
  }
  std::vector<Expr> expanded = type.sizes, sizes = type.sizes;
  expanded.insert(expanded.begin() + dim + 1, times);
  sizes[dim] = heads;
  Value* wide = b.Call("aten.expand", {b.Call("aten.unsqueeze", {x, dim + 1}), expanded});
  return Reshape(b, wide, sizes);
}

// True, where a key may be seen: at or before the query's place, counted from the front.
Value* CausalMask(Builder& b, const Expr& rows, const Expr& columns) {
  Value* query = b.Call("aten.unsqueeze", {b.Call("aten.arange", {rows}), 1});
  Value* key = b.Call("aten.arange", {columns});
  return b.Call("aten.le.Tensor", {key, query});
}

Value* ApplyMask(Builder& b, Value* scores, Value* mask) {
  if (mask == nullptr) return scores;
  const DType dtype = TypeOf(scores).dtype;
  if (!IsBool(TypeOf(mask).dtype)) return Add(b, scores, CastTo(b, mask, dtype));
  return b.Call("aten.where.ScalarOther", {mask, scores, Scalar(-INFINITY)});
}

// The conditions of eager's fused CPU kernel.
bool RunsFused(const OpArgs& args) {
  const DType dtype = args.Type(0).dtype;
  if (dtype != DType::kF32 && dtype != DType::kF64 && dtype != DType::kF16 &&
      dtype != DType::kBF16) {
    return false;
  }
  for (int i : {0, 1, 2}) {
    const TensorType& t = args.Type(i);
    if (t.rank() != 4 || !(t.strides[3] == 1) || t.sizes[2] == 0) return false;
    if (!(t.sizes[3] == args.Type(0).sizes[3])) return false;
  }
  return true;
}

// The dimensions of `type` from the outermost in memory. Strides of symbolic sizes have an order by
// example alone: a size of 0 would undo it, and then there is nothing to lay out.
std::vector<Expr> OrderOf(Builder& b, const TensorType& type) {
  const std::vector<int64_t> strides = SampleOf(type, b.shapes()).strides;
  std::vector<int64_t> outer_first(type.rank());
  std::iota(outer_first.begin(), outer_first.end(), 0);
  std::stable_sort(outer_first.begin(), outer_first.end(),
                   [&](int64_t x, int64_t y) { return strides[x] > strides[y]; });
  return {outer_first.begin(), outer_first.end()};
}

absl::StatusOr<Arguments> DecomposeAttention(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(Attention a, AttentionOf(args));
  const TensorType query = TypeOf(a.query);
  const DType dtype = query.dtype, wide = ComputeType(dtype);
  if (a.repeats_heads) {
    const Expr heads = query.sizes[query.rank() - 3];
    LATHE_ASSIGN_OR_RETURN(a.key, RepeatHeads(b, a.key, heads));
    LATHE_ASSIGN_OR_RETURN(a.value, RepeatHeads(b, a.value, heads));
  }
  LATHE_RETURN_IF_ERROR(b.status());
  // Batch sizes: the largest rank, and of each dimension the one that is not 1.
  std::vector<Expr> batch;
  for (Value* x : {a.query, a.key, a.value}) {
    const TensorType& t = TypeOf(x);
    const int count = t.rank() - 2, more = count - static_cast<int>(batch.size());
    if (more > 0) batch.insert(batch.begin(), more, 1);
    for (int d = 0; d < count; ++d) {
      Expr& have = batch[batch.size() - count + d];
      if (have == 1) have = t.sizes[d];
    }
  }
  const Expr rows = query.sizes[query.rank() - 2];
  const Expr columns = TypeOf(a.key).sizes[TypeOf(a.key).rank() - 2];

  Value* key_t = b.Call("aten.transpose.int", {a.key, -2, -1});
  Value* scores = BatchProduct(b, a.query, key_t, batch, wide);
  scores = MulScalar(b, scores, Scalar(a.scale));
  Value* mask = a.is_causal ? CausalMask(b, rows, columns) : a.mask;
  scores = ApplyMask(b, scores, mask);
  LATHE_RETURN_IF_ERROR(b.status());
  // Only a mask can hide a whole row.
  Value* weights = mask == nullptr ? b.Call("aten._softmax", {scores, -1, false})
                                   : b.Call("aten._safe_softmax", {scores, -1});
  LATHE_RETURN_IF_ERROR(b.status());
  std::vector<Expr> weight_batch(TypeOf(weights).sizes.begin(), TypeOf(weights).sizes.end() - 2);
  // Eager's CPU kernel gives its result the query's order of dimensions in memory; later views rely
  // on it.
  const std::vector<Expr> order = RunsFused(args) ? OrderOf(b, query) : std::vector<Expr>();
  Value* result = BatchProduct(b, CastTo(b, weights, dtype), a.value, weight_batch, dtype, order);
  return OneArgument(result);
}

}  // namespace

std::vector<OpRow> AttentionRows() {
  std::vector<OpRow> rows(1);
  rows[0].schema =
      "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? "
      "attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool "
      "enable_gqa=False) -> Tensor";
  rows[0].doc =
      "softmax(query @ key.T * scale + mask) @ value; a row whose keys are all masked gives 0.";
  rows[0].decompose = DecomposeAttention;
  rows[0].composite = true;
  rows[0].samples = {
      "aten.scaled_dot_product_attention(f32[2, 3, 4, 8], f32[2, 3, 5, 8], f32[2, 3, 5, 8])",
      "aten.scaled_dot_product_attention(f32[2, 4, 8], f32[2, 5, 8], f32[2, 5, 8], "
      "is_causal=true)"};
  return rows;
}

}  // namespace lathe
