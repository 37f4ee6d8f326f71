#ifndef LATHE_IR_OPS_OPMATH_H_
#define LATHE_IR_OPS_OPMATH_H_

// For decompositions of ops that eager runs as one kernel: f16, bf16 and f8 are computed in f32 and
// rounded once at the end.

#include "ir/ops/builder.h"

namespace lathe {

// `x` in the dtype that it is computed in: itself, or converted to f32.
Value* ToOpmath(Builder& builder, Value* x);
// `x` converted to `dtype` unless it has it. nullptr stays nullptr.
Value* ToDType(Builder& builder, Value* x, DType dtype);

}  // namespace lathe

#endif  // LATHE_IR_OPS_OPMATH_H_
