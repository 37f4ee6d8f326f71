#ifndef LATHE_SYMBOLIC_CONTRADICTION_H_
#define LATHE_SYMBOLIC_CONTRADICTION_H_

// Facts that contradict each other though none of them was refused when it came: "x*x <= 3" and
// "2 <= x", or "x % 4 == 3" and "x*y == 8".

#include <utility>

#include "absl/types/span.h"
#include "symbolic/expr.h"
#include "symbolic/knowledge.h"

namespace lathe::symbolic {

// Whether that is found of the `facts`, which `all` has learnt, by trying the values of symbols
// that have few, by linear arithmetic, and by asking the others about each of a few. Only of facts
// that share symbols with `last`, directly or through others.
bool FindContradiction(ExprContext* context, absl::Span<const std::pair<Expr, Range>> ranges,
                       absl::Span<const Expr> facts, const Expr& last, Knowledge& all);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_CONTRADICTION_H_
