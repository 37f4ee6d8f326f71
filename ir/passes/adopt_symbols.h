#ifndef LATHE_IR_PASSES_ADOPT_SYMBOLS_H_
#define LATHE_IR_PASSES_ADOPT_SYMBOLS_H_

// A decomposition that reads sizes out of data makes unbacked symbols of its own. The rest of the
// program knows these sizes by the symbols of the node that is replaced.

#include <vector>

#include "absl/types/span.h"
#include "ir/graph/graph.h"
#include "symbolic/expr.h"

namespace lathe {

// In the types and arguments of the nodes from `first` to before `replaced`, puts the symbols of
// replaced's result types in place of the symbols `made` that stand at the same places of
// `results`.
void AdoptSymbols(Node* first, const Node* replaced, const std::vector<Argument>& results,
                  absl::Span<const Expr> made, ExprContext& context);

}  // namespace lathe

#endif  // LATHE_IR_PASSES_ADOPT_SYMBOLS_H_
