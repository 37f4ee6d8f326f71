#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {

Expr AsBoolean(ExprContext* context, const Expr& e) {
  if (e.type() == ExprType::kBool || e.IsOverflow()) return e;
  return SimplifyComparison(context, ExprKind::kNe, e, 0);
}

Expr AsNumber(ExprContext* context, const Expr& e) {
  if (e.type() != ExprType::kBool) return e;
  if (const std::optional<bool> value = e.AsBool()) return *value ? 1 : 0;
  return ContextAccess::Intern(context, ExprKind::kWhere, {e, 1, 0});
}

Expr SimplifyNot(ExprContext* context, const Expr& x) {
  const Expr a = AsBoolean(context, x);
  if (a.IsOverflow()) return a;
  if (const std::optional<bool> value = a.AsBool()) return Expr::Bool(!*value);
  if (a.kind() == ExprKind::kNot) return a.operands()[0];
  const bool is_comparison = a.kind() >= ExprKind::kEq && a.kind() <= ExprKind::kLe;
  if (is_comparison) {
    const Expr& l = a.operands()[0];
    const Expr& r = a.operands()[1];
    const bool any_float = l.type() == ExprType::kFloat || r.type() == ExprType::kFloat;
    if (a.kind() == ExprKind::kEq) return SimplifyComparison(context, ExprKind::kNe, l, r);
    if (a.kind() == ExprKind::kNe) return SimplifyComparison(context, ExprKind::kEq, l, r);
    // Not for floats: a comparison with a NaN is false either way.
    if (!any_float) {
      return SimplifyComparison(context, a.kind() == ExprKind::kLt ? ExprKind::kLe : ExprKind::kLt,
                                r, l);
    }
  }
  return ContextAccess::Intern(context, ExprKind::kNot, {a});
}

Expr SimplifyAndOr(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands) {
  const bool neutral = kind == ExprKind::kAnd;
  absl::InlinedVector<Expr, 6> list;
  bool absorbed = false, overflow = false;
  for (const Expr& operand : operands) {
    const Expr e = AsBoolean(context, operand);
    overflow |= e.IsOverflow();
    if (const std::optional<bool> value = e.AsBool()) {
      absorbed |= *value != neutral;
    } else if (e.kind() == kind && e.operands().size() <= kLargestFlattened) {
      list.insert(list.end(), e.operands().begin(), e.operands().end());
    } else {
      list.push_back(e);
    }
  }
  if (absorbed) return Expr::Bool(!neutral);
  if (overflow) return Expr::Overflow();
  if (list.empty()) return Expr::Bool(neutral);
  std::sort(list.begin(), list.end(),
            [](const Expr& a, const Expr& b) { return Compare(a, b) < 0; });
  list.erase(std::unique(list.begin(), list.end()), list.end());
  if (list.size() == 1) return list[0];
  if (list.size() <= 16) {
    for (const Expr& e : list) {
      const Expr opposite = SimplifyNot(context, e);
      if (std::find(list.begin(), list.end(), opposite) != list.end()) return Expr::Bool(!neutral);
    }
  }
  return ContextAccess::Intern(context, kind, list);
}

}  // namespace lathe::symbolic
