#include "symbolic/expr_node.h"
#include "symbolic/simplify/rule.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

std::optional<Expr> KnownCondition(const RuleInput& in) {
  const std::optional<bool> known = in.x[0].AsBool();
  if (!known) return std::nullopt;
  return *known ? in.x[1] : in.x[2];
}

std::optional<Expr> UndefinedBranch(const RuleInput& in) {
  if (!in.x[1].IsOverflow() && !in.x[2].IsOverflow()) return std::nullopt;
  return Expr::Overflow();
}

std::optional<Expr> EqualBranches(const RuleInput& in) {
  if (in.x[1] != in.x[2]) return std::nullopt;
  return in.x[1];
}

std::optional<Expr> AsCondition(const RuleInput& in) {
  if (in.x[1] == Expr::Bool(true) && in.x[2] == Expr::Bool(false)) return in.x[0];
  if (in.x[1] == Expr::Bool(false) && in.x[2] == Expr::Bool(true)) {
    return SimplifyNot(in.context, in.x[0]);
  }
  return std::nullopt;
}

std::optional<Expr> OfNot(const RuleInput& in) {
  if (in.x[0].kind() != ExprKind::kNot) return std::nullopt;
  return SimplifyWhere(in.context, in.x[0].operands()[0], in.x[2], in.x[1]);
}

constexpr Rule kRules[] = {
    {"where.known_condition", "where(true, x, y) = x, where(false, x, y) = y", "always",
     KnownCondition},
    {"where.undefined_branch", "where(c, overflow, y) = overflow", "c is no constant",
     UndefinedBranch},
    {"where.equal_branches", "where(c, x, x) = x", "always", EqualBranches},
    {"where.as_condition", "where(c, true, false) = c", "always", AsCondition},
    {"where.of_not", "where(not c, x, y) = where(c, y, x)", "always", OfNot},
};

}  // namespace

absl::Span<const Rule> WhereRules() { return kRules; }

Expr SimplifyWhere(ExprContext* context, const Expr& condition, const Expr& then_value,
                   const Expr& else_value) {
  Expr operands[] = {AsBoolean(context, condition), then_value, else_value};
  if (operands[0].IsOverflow()) return Expr::Overflow();
  if (then_value.type() != else_value.type()) {
    const bool any_float =
        then_value.type() == ExprType::kFloat || else_value.type() == ExprType::kFloat;
    for (Expr* e : {&operands[1], &operands[2]}) {
      *e = any_float ? AsFloatExpr(context, *e) : AsNumber(context, *e);
    }
  }
  if (const auto e = ApplyRules(kRules, {context, ExprKind::kWhere, operands})) return *e;
  return ContextAccess::Intern(context, ExprKind::kWhere, operands);
}

}  // namespace lathe::symbolic
