#ifndef LATHE_SYMBOLIC_WALK_H_
#define LATHE_SYMBOLIC_WALK_H_

// Visits operations after their operands, each once, without recursion.

#include "absl/container/inlined_vector.h"
#include "symbolic/expr.h"

namespace lathe::symbolic {

// `is_done(e)`: e needs no visit (leaves included, where the caller wants none); `visit(e)` must
// make is_done(e) true. `is_alone(e)`: no operand of e needs a visit.
template <typename IsDone, typename Visit, typename IsAlone>
void VisitOperandsFirst(const Expr& root, IsDone is_done, Visit visit, IsAlone is_alone) {
  if (is_done(root)) return;
  struct Item {
    Expr e;
    bool ready;
  };
  absl::InlinedVector<Item, 12> work = {{root, false}};
  while (!work.empty()) {
    const Expr e = work.back().e;
    if (work.back().ready || e.operands().empty()) {
      work.pop_back();
      if (!is_done(e)) visit(e);
      continue;
    }
    if (is_done(e)) {
      work.pop_back();
      continue;
    }
    if (is_alone(e)) {
      work.pop_back();
      visit(e);
      continue;
    }
    work.back().ready = true;
    const size_t before = work.size();
    for (const Expr& operand : e.operands()) {
      if (!is_done(operand)) work.push_back({operand, false});
    }
    if (work.size() == before) {  // nothing to wait for
      work.pop_back();
      visit(e);
    }
  }
}

template <typename IsDone, typename Visit>
void VisitOperandsFirst(const Expr& root, IsDone is_done, Visit visit) {
  VisitOperandsFirst(root, is_done, visit, [](const Expr&) { return false; });
}

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_WALK_H_
