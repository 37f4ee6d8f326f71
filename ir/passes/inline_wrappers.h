#ifndef LATHE_IR_PASSES_INLINE_WRAPPERS_H_
#define LATHE_IR_PASSES_INLINE_WRAPPERS_H_

// Puts the body of a sub-graph in the place of a call that only wraps it: with or without
// gradients, a hint, a checkpoint.
//
//   %y = wrap_with_set_grad_enabled(false, @body, [%x])   ->   the nodes of @body, reading %x

#include "ir/passes/pass.h"

namespace lathe {

Pass InlineWrappersPass();

// Replaces `call` by the nodes of `callee`, its inputs standing for `operands`. The callee stays
// as it is. InvalidArgument when the counts of inputs or results differ.
absl::Status InlineCall(Graph& graph, Node* call, const Graph& callee,
                        const std::vector<Argument>& operands);

}  // namespace lathe

#endif  // LATHE_IR_PASSES_INLINE_WRAPPERS_H_
