#ifndef LATHE_IR_PASSES_INFER_TYPES_H_
#define LATHE_IR_PASSES_INFER_TYPES_H_

// Infers the result types of every node anew. What a model file says of them may be written in
// other words (min(32*s0, 32) for 32), and later passes compare types.

#include "ir/passes/pass.h"

namespace lathe {

Pass InferTypesPass();

}  // namespace lathe

#endif  // LATHE_IR_PASSES_INFER_TYPES_H_
