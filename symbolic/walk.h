#ifndef LATHE_SYMBOLIC_WALK_H_
#define LATHE_SYMBOLIC_WALK_H_

// Visits operations after their operands, each once, without recursion.

#include <utility>
#include <vector>

#include "symbolic/expr.h"

namespace lathe::symbolic {

// `is_done(e)`: e needs no visit (leaves included, where the caller wants none); `visit(e)` must
// make is_done(e) true.
template <typename IsDone, typename Visit>
void VisitOperandsFirst(const Expr& root, IsDone is_done, Visit visit) {
  if (is_done(root)) return;
  std::vector<std::pair<Expr, bool>> work = {{root, false}};
  while (!work.empty()) {
    const auto [e, ready] = work.back();
    work.pop_back();
    if (is_done(e)) continue;
    if (ready) {
      visit(e);
      continue;
    }
    work.push_back({e, true});
    for (const Expr& operand : e.operands()) {
      if (!is_done(operand)) work.push_back({operand, false});
    }
  }
}

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_WALK_H_
