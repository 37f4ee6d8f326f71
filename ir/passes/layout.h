#ifndef LATHE_IR_PASSES_LAYOUT_H_
#define LATHE_IR_PASSES_LAYOUT_H_

// Copies that bring a value into the strides that eager would have given it.

#include "ir/graph/graph.h"
#include "ir/ops/builder.h"

namespace lathe {

// `value` with the strides of `wanted`, which has its sizes: itself when it has them already, else
// a copy written through permuted dimensions. Layouts with gaps cannot be made by a copy: then
// `value` as it is. nullptr after an error of the builder.
Value* WithLayout(Builder& builder, Value* value, const TensorType& wanted);

}  // namespace lathe

#endif  // LATHE_IR_PASSES_LAYOUT_H_
