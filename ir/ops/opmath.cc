#include "ir/ops/opmath.h"

namespace lathe {

Value* ToDType(Builder& builder, Value* x, DType dtype) {
  if (x == nullptr || x->type.tensor().dtype == dtype) return x;
  return builder.Call("aten._to_copy", {x}, {{"dtype", dtype}});
}

Value* ToOpmath(Builder& builder, Value* x) {
  if (x == nullptr) return x;
  DType dtype = x->type.tensor().dtype;
  return IsFloat(dtype) ? ToDType(builder, x, ComputeType(dtype)) : x;
}

}  // namespace lathe
