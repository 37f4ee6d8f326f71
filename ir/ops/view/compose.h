#ifndef LATHE_IR_OPS_VIEW_COMPOSE_H_
#define LATHE_IR_OPS_VIEW_COMPOSE_H_

// Short names for the calls that decompositions make most.

#include <vector>

#include "dtypes/dtype.h"
#include "ir/ops/builder.h"

namespace lathe {

using Arguments = std::vector<Argument>;

inline Arguments OneArgument(Value* v) { return {v == nullptr ? Argument() : Argument::Of(v)}; }

// `x` in another dtype; itself when it has it.
inline Value* CastTo(Builder& b, Value* x, DType dtype) {
  if (x == nullptr || x->type.tensor().dtype == dtype) return x;
  return b.Call("aten._to_copy", {x}, {{"dtype", dtype}});
}
// `x` in the type that ATen's kernels compute in: f32 for f16 and bf16.
inline Value* Widen(Builder& b, Value* x) {
  return x == nullptr ? nullptr : CastTo(b, x, ComputeType(x->type.tensor().dtype));
}
inline Value* Reshape(Builder& b, Value* x, const std::vector<Expr>& sizes) {
  return b.Call("aten.reshape", {x, sizes});
}
inline Value* Add(Builder& b, Value* x, Value* y) { return b.Call("aten.add.Tensor", {x, y}); }
inline Value* Sub(Builder& b, Value* x, Value* y) { return b.Call("aten.sub.Tensor", {x, y}); }
inline Value* Mul(Builder& b, Value* x, Value* y) { return b.Call("aten.mul.Tensor", {x, y}); }
inline Value* Div(Builder& b, Value* x, Value* y) { return b.Call("aten.div.Tensor", {x, y}); }
inline Value* MulScalar(Builder& b, Value* x, const Scalar& s) {
  return b.Call("aten.mul.Scalar", {x, s});
}
inline Value* AddScalar(Builder& b, Value* x, const Scalar& s) {
  return b.Call("aten.add.Scalar", {x, s});
}
inline Value* Clone(Builder& b, Value* x, MemoryFormat format) {
  return b.Call("aten.clone", {x}, {{"memory_format", Argument::Of(format)}});
}
inline const TensorType& TypeOf(const Value* v) { return v->type.tensor(); }

}  // namespace lathe

#endif  // LATHE_IR_OPS_VIEW_COMPOSE_H_
