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

// Symbols and numbers that are added and multiplied, no more than `depth` operations inside one
// another: what most conditions of programs are made of.
inline bool IsSmallPolynomial(const Expr& e, int depth) {
  if (e.operands().empty()) return e.is_const() || e.is_symbol();
  if (e.node()->plain) return true;
  if (depth == 0 || e.operands().size() > 8) return false;
  if (e.kind() != ExprKind::kAdd && e.kind() != ExprKind::kMul && e.kind() != ExprKind::kPow) {
    return false;
  }
  if (e.kind() == ExprKind::kPow && !e.operands()[1].is_const()) return false;
  for (const Expr& operand : e.operands()) {
    if (!IsSmallPolynomial(operand, depth - 1)) return false;
  }
  return true;
}

// A comparison of two such.
inline bool ComparesSmallPolynomials(const Expr& e) {
  return e.kind() >= ExprKind::kEq && e.kind() <= ExprKind::kLe &&
         IsSmallPolynomial(e.operands()[0], 2) && IsSmallPolynomial(e.operands()[1], 2);
}

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_WALK_H_
