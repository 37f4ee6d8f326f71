#include "codegen/plan/total_condition.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace lathe {
namespace {

using symbolic::Expr;
using symbolic::ExprKind;
using symbolic::ExprType;

// Of a number: its value where it is defined, anything elsewhere. Of a condition: `value` is where
// it is known to hold, `fails` where it is known not to; neither where it is undefined.
struct Total {
  Expr value = 0;
  Expr defined = Expr::Bool(true);
  Expr fails = Expr::Bool(false);
};

bool Divides(ExprKind kind) {
  return kind == ExprKind::kFloorDiv || kind == ExprKind::kMod || kind == ExprKind::kTruncDiv ||
         kind == ExprKind::kTruncMod || kind == ExprKind::kTrueDiv;
}

// A constant divisor is never zero: such an expression is Overflow from the start.
bool DividesByUnknown(const Expr& e) {
  return Divides(e.kind()) && e.operands().size() == 2 && !e.operands()[1].AsFloat().has_value();
}

class Totals {
 public:
  explicit Totals(symbolic::ExprContext& context) : context_(context) {}

  // Operands first, with a stack of our own: expressions may be deep.
  const Total& Of(const Expr& e) {
    std::vector<Expr> pending = {e};
    while (!pending.empty()) {
      const Expr top = pending.back();
      const size_t before = pending.size();
      if (!totals_.contains(top)) {
        for (const Expr& operand : top.operands()) {
          if (!totals_.contains(operand)) pending.push_back(operand);
        }
      }
      if (pending.size() > before) continue;
      pending.pop_back();
      if (!totals_.contains(top)) totals_.emplace(top, Make(top));
    }
    return totals_.at(e);
  }

 private:
  const Total& At(const Expr& e, size_t k) const { return totals_.at(e.operands()[k]); }

  Total Make(const Expr& e) {
    switch (e.kind()) {
      case ExprKind::kNot:
        return Condition(At(e, 0).fails, At(e, 0).value);
      case ExprKind::kAnd:
      case ExprKind::kOr:
        return Junction(e);
      case ExprKind::kWhere:
        return Choice(e);
      default:
        return e.operands().empty() ? Leaf(e, Expr::Bool(true)) : Operation(e);
    }
  }

  static Total Condition(const Expr& holds, const Expr& fails) {
    return {holds, Or(holds, fails), fails};
  }
  static Total Leaf(const Expr& e, const Expr& defined) {
    if (e.type() != ExprType::kBool) return {e, defined, Expr::Bool(false)};
    return Condition(And(defined, e), And(defined, Not(e)));
  }

  Total Junction(const Expr& e) {
    const bool is_and = e.kind() == ExprKind::kAnd;
    Expr holds = Expr::Bool(is_and), fails = Expr::Bool(!is_and);
    for (size_t k = 0; k < e.operands().size(); ++k) {
      holds = is_and ? And(holds, At(e, k).value) : Or(holds, At(e, k).value);
      fails = is_and ? Or(fails, At(e, k).fails) : And(fails, At(e, k).fails);
    }
    return Condition(holds, fails);
  }

  Total Choice(const Expr& e) {
    const Total &condition = At(e, 0), &then = At(e, 1), &other = At(e, 2);
    const Expr defined =
        Or(And(condition.value, then.defined), And(condition.fails, other.defined));
    if (e.type() != ExprType::kBool) {
      return {symbolic::Where(condition.value, then.value, other.value), defined};
    }
    return Condition(Or(And(condition.value, then.value), And(condition.fails, other.value)),
                     Or(And(condition.value, then.fails), And(condition.fails, other.fails)));
  }

  Total Operation(const Expr& e) {
    Expr defined = Expr::Bool(true);
    std::vector<Expr> operands;
    for (size_t k = 0; k < e.operands().size(); ++k) {
      operands.push_back(At(e, k).value);
      defined = And(defined, At(e, k).defined);
    }
    if (DividesByUnknown(e)) {
      defined = And(defined, Ne(operands[1], 0));
      operands[1] = symbolic::Where(
          Eq(operands[1], 0), operands[1].type() == ExprType::kFloat ? Expr::Float(1) : Expr(1),
          operands[1]);
    }
    return Leaf(context_.Make(e.kind(), operands), defined);
  }

  symbolic::ExprContext& context_;
  absl::flat_hash_map<Expr, Total> totals_;
};

bool HasUnknownDivisor(const Expr& condition) {
  std::vector<Expr> pending = {condition};
  absl::flat_hash_set<Expr> seen;
  while (!pending.empty()) {
    const Expr e = pending.back();
    pending.pop_back();
    if (e.is_const() || !seen.insert(e).second) continue;
    if (DividesByUnknown(e)) return true;
    pending.insert(pending.end(), e.operands().begin(), e.operands().end());
  }
  return false;
}

}  // namespace

Expr TotalCondition(const Expr& condition, symbolic::ExprContext& context) {
  if (condition.type() != ExprType::kBool || !HasUnknownDivisor(condition)) return condition;
  return Totals(context).Of(condition).value;
}

}  // namespace lathe
