// The kernels that eager picks for scaled_dot_product_attention by their own names, as exported
// programs have them once decomposed; and products of three tensors and of bytes.

#include <cmath>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/matmul/matmul_rows.h"
#include "ir/ops/view/compose.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

// The arguments that the kernels have in common.
struct Kernel {
  Value *query, *key, *value, *mask;
  double dropout = 0;
  bool is_causal = false;
  std::optional<double> scale;
};

absl::Status CheckKernel(const OpArgs& args, const Kernel& k) {
  for (Value* x : {k.query, k.key, k.value}) {
    if (TypeOf(x).rank() == 4 && IsFloat(TypeOf(x).dtype)) continue;
    return InvalidArgument(args.schema().name, ": expected floats of 4 dimensions, got ",
                           ToString(TypeOf(x)));
  }
  if (k.dropout == 0) return absl::OkStatus();
  return Unimplemented(args.schema().name, ": dropout_p=", k.dropout,
                       " draws random numbers, which is not supported");
}

Value* Attend(Builder& b, const Kernel& k) {
  return b.Call("aten.scaled_dot_product_attention",
                {k.query, k.key, k.value, k.mask == nullptr ? Argument() : Argument::Of(k.mask),
                 0.0, k.is_causal},
                {{"scale", k.scale ? Argument::Float(*k.scale) : Argument()}});
}

// log of the sum over keys of exp(scores), in f32 for narrower floats.
absl::StatusOr<Value*> LogSum(Builder& b, const Kernel& k) {
  const TensorType query = TypeOf(k.query);
  double scale = 0;
  if (k.scale) {
    scale = *k.scale;
  } else if (auto width = query.sizes.back().AsInt()) {
    scale = 1 / std::sqrt(static_cast<double>(*width));
  } else {
    return Unimplemented("attention: a symbolic head size needs an explicit scale");
  }
  Value* key_t = b.Call("aten.transpose.int", {Widen(b, k.key), -2, -1});
  Value* scores = MulScalar(b, b.Call("aten.matmul", {Widen(b, k.query), key_t}), Scalar(scale));
  Value* mask = k.mask;
  if (k.is_causal) {
    const Expr rows = query.sizes[2], columns = TypeOf(k.key).sizes[2];
    Value* row = b.Call("aten.unsqueeze", {b.Call("aten.arange", {rows}), 1});
    mask = b.Call("aten.le.Tensor", {b.Call("aten.arange", {columns}), row});
  }
  LATHE_RETURN_IF_ERROR(b.status());
  if (mask != nullptr && IsBool(TypeOf(mask).dtype)) {
    scores = b.Call("aten.where.ScalarOther", {mask, scores, Scalar(-INFINITY)});
  } else if (mask != nullptr) {
    scores = Add(b, scores, CastTo(b, mask, TypeOf(scores).dtype));
  }
  Value* sums = b.Call("aten.logsumexp", {scores, std::vector<Expr>{-1}});
  // Eager's kernel has the heads innermost.
  sums = Clone(b, b.Call("aten.transpose.int", {sums, 1, 2}), MemoryFormat::kContiguous);
  return b.Call("aten.transpose.int", {sums, 1, 2});
}

// (query, key, value, dropout_p, is_causal, *, attn_mask, scale)
Decomposed FlashForCpu(Builder& b, const OpArgs& args) {
  const Kernel k = {args.Tensor(0), args.Tensor(1), args.Tensor(2),       args.OptionalTensor(5),
                    args.Float(3),  args.Bool(4),   args.OptionalFloat(6)};
  LATHE_RETURN_IF_ERROR(CheckKernel(args, k));
  Value* result = Attend(b, k);
  LATHE_ASSIGN_OR_RETURN(Value * sum, LogSum(b, k));
  LATHE_RETURN_IF_ERROR(b.status());
  return Arguments{Argument::Of(result), Argument::Of(sum)};
}

// (query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal, *, scale); the last two
// results are the state of a random generator that nothing draws from.
Decomposed Efficient(Builder& b, const OpArgs& args) {
  const Kernel k = {args.Tensor(0), args.Tensor(1), args.Tensor(2),       args.OptionalTensor(3),
                    args.Float(5),  args.Bool(6),   args.OptionalFloat(7)};
  LATHE_RETURN_IF_ERROR(CheckKernel(args, k));
  Value* result = Attend(b, k);
  Value* sum;
  if (args.Bool(4)) {
    LATHE_ASSIGN_OR_RETURN(sum, LogSum(b, k));
  } else {
    const TensorType& query = TypeOf(k.query);
    sum = b.Call("aten.zeros", {std::vector<Expr>{query.sizes[0], query.sizes[1], 0}},
                 {{"dtype", DType::kF32}});
  }
  Value* state = b.Call("aten.zeros", {std::vector<Expr>{}}, {{"dtype", DType::kI64}});
  Value* offset = b.Call("aten.zeros", {std::vector<Expr>{}}, {{"dtype", DType::kI64}});
  LATHE_RETURN_IF_ERROR(b.status());
  return Arguments{Argument::Of(result), Argument::Of(sum), Argument::Of(state),
                   Argument::Of(offset)};
}

// _int_mm(self, mat2): bytes multiplied in i32.
Decomposed DecomposeIntMm(Builder& b, const OpArgs& args) {
  for (int i : {0, 1}) {
    if (args.Type(i).rank() != 2 || args.Type(i).dtype != DType::kI8) {
      return InvalidArgument("_int_mm: expected matrices of i8, got ", ToString(args.Type(i)));
    }
  }
  return OneArgument(b.Call(
      "aten.mm", {CastTo(b, args.Tensor(0), DType::kI32), CastTo(b, args.Tensor(1), DType::kI32)}));
}

// _weight_int8pack_mm(self, mat2, scales): self @ mat2.T, each column times its scale.
Decomposed DecomposeInt8Pack(Builder& b, const OpArgs& args) {
  const TensorType &self = args.Type(0), &weight = args.Type(1), &scales = args.Type(2);
  if (self.rank() != 2 || !IsFloat(self.dtype) || weight.rank() != 2 ||
      weight.dtype != DType::kI8 || scales.rank() != 1) {
    return InvalidArgument("_weight_int8pack_mm: expected a matrix of floats, one of i8 and a ",
                           "vector of scales, got ", ToString(self), ", ", ToString(weight), ", ",
                           ToString(scales));
  }
  const DType wide = ComputeType(self.dtype);
  Value* columns = b.Call("aten.t", {CastTo(b, args.Tensor(1), wide)});
  Value* product = b.Call("aten.mm", {CastTo(b, args.Tensor(0), wide), columns});
  return OneArgument(CastTo(b, Mul(b, product, CastTo(b, args.Tensor(2), wide)), self.dtype));
}

// bilinear(input1, input2, weight, bias): input1 @ weight[k] @ input2 for each k.
Decomposed DecomposeBilinear(Builder& b, const OpArgs& args) {
  const TensorType &x = args.Type(0), &y = args.Type(1), &weight = args.Type(2);
  bool fits = weight.rank() == 3 && x.rank() == y.rank() && x.rank() > 0;
  for (int d = 0; fits && d < x.rank() - 1; ++d) {
    fits = !symbolic::IsRefused(b.shapes(), symbolic::Ne(x.sizes[d], y.sizes[d]));
  }
  fits = fits && !symbolic::IsRefused(b.shapes(), symbolic::Ne(x.sizes.back(), weight.sizes[1])) &&
         !symbolic::IsRefused(b.shapes(), symbolic::Ne(y.sizes.back(), weight.sizes[2]));
  if (!fits) {
    return InvalidArgument("bilinear(): inputs ", ToString(x), " and ", ToString(y),
                           " do not go with the weight ", ToString(weight));
  }
  Value* left = Reshape(b, args.Tensor(0), {-1, x.sizes.back()});
  Value* right = Reshape(b, args.Tensor(1), {-1, y.sizes.back()});
  const auto list = [](std::initializer_list<int> dims) {
    return std::vector<Expr>(dims.begin(), dims.end());
  };
  Value* product = b.Call("aten._trilinear", {left, args[2], right, list({1, 3}), list({0}),
                                              list({1, 2}), list({2, 3})});
  std::vector<Expr> sizes(x.sizes.begin(), x.sizes.end() - 1);
  sizes.push_back(weight.sizes[0]);
  product = Reshape(b, product, sizes);
  return OneArgument(args.OptionalTensor(3) == nullptr ? product : Add(b, product, args.Tensor(3)));
}

}  // namespace

std::vector<OpRow> FusedAttentionRows() {
  return {
      DecomposedRow(
          "aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor "
          "value, float dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, float? "
          "scale=None) -> (Tensor output, Tensor logsumexp)",
          "Attention, and the logarithms of its rows' sums.", FlashForCpu,
          {"aten._scaled_dot_product_flash_attention_for_cpu(f32[2, 3, 4, 8], f32[2, 3, 5, 8], "
           "f32[2, 3, 5, 8])"}),
      DecomposedRow(
          "aten::_scaled_dot_product_efficient_attention(Tensor query, Tensor key, Tensor value, "
          "Tensor? attn_bias, bool compute_log_sumexp, float dropout_p=0.0, bool "
          "is_causal=False, *, float? scale=None) -> (Tensor output, Tensor log_sumexp, Tensor "
          "philox_seed, Tensor philox_offset)",
          "Attention, and the logarithms of its rows' sums.", Efficient),
      DecomposedRow("aten::_int_mm(Tensor self, Tensor mat2) -> Tensor",
                    "A product of bytes, summed in i32.", DecomposeIntMm),
      DecomposedRow("aten::_weight_int8pack_mm(Tensor self, Tensor mat2, Tensor scales) -> Tensor",
                    "A product with a weight of bytes, one scale a row of it.", DecomposeInt8Pack),
      CompositeRow("aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) "
                   "-> Tensor",
                   "input1 @ weight[k] @ input2 for each k, and a bias.", DecomposeBilinear,
                   {"aten.bilinear(f32[2, 3], f32[2, 4], f32[5, 3, 4], f32[5])"}),
  };
}

}  // namespace lathe
