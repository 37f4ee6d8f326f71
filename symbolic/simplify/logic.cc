#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/rule.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {

Expr AsBoolean(ExprContext* context, const Expr& e) {
  if (e.type() == ExprType::kBool || e.IsOverflow()) return e;
  return SimplifyComparison(context, ExprKind::kNe, e, 0);
}

Expr AsNumber(ExprContext* context, const Expr& e) {
  if (e.type() != ExprType::kBool) return e;
  if (const std::optional<bool> value = e.AsBool()) return *value ? 1 : 0;
  // As "where" has it: a choice by "not c" is one by c.
  if (e.kind() == ExprKind::kNot) {
    return ContextAccess::Intern(context, ExprKind::kWhere, {e.operands()[0], 0, 1});
  }
  return ContextAccess::Intern(context, ExprKind::kWhere, {e, 1, 0});
}

namespace {

std::optional<Expr> NotKnown(const RuleInput& in) {
  const std::optional<bool> value = in.x[0].AsBool();
  return value ? std::optional<Expr>(Expr::Bool(!*value)) : std::nullopt;
}

std::optional<Expr> NotNot(const RuleInput& in) {
  if (in.x[0].kind() != ExprKind::kNot) return std::nullopt;
  return in.x[0].operands()[0];
}

std::optional<Expr> NotEquality(const RuleInput& in) {
  const ExprKind kind = in.x[0].kind();
  if (kind != ExprKind::kEq && kind != ExprKind::kNe) return std::nullopt;
  const absl::Span<const Expr> sides = in.x[0].operands();
  return SimplifyComparison(in.context, kind == ExprKind::kEq ? ExprKind::kNe : ExprKind::kEq,
                            sides[0], sides[1]);
}

std::optional<Expr> NotOrder(const RuleInput& in) {
  const ExprKind kind = in.x[0].kind();
  if (kind != ExprKind::kLt && kind != ExprKind::kLe) return std::nullopt;
  const absl::Span<const Expr> sides = in.x[0].operands();
  if (sides[0].type() == ExprType::kFloat || sides[1].type() == ExprType::kFloat) {
    return std::nullopt;
  }
  return SimplifyComparison(in.context, kind == ExprKind::kLt ? ExprKind::kLe : ExprKind::kLt,
                            sides[1], sides[0]);
}

constexpr Rule kNotRules[] = {
    {"not.of_known", "not true = false", "always", NotKnown},
    {"not.of_not", "not not c = c", "always", NotNot},
    {"not.of_equality", "not x == y = x != y, not x != y = x == y", "always", NotEquality},
    {"not.of_order", "not x < y = y <= x, not x <= y = y < x",
     "integers: a comparison with a NaN is false either way", NotOrder},
};

// Rows of "and" and "or" see all parts: flat, sorted, none twice, no constant but the deciding one.
std::optional<Expr> Decided(const RuleInput& in) {
  const Expr deciding = Expr::Bool(in.kind == ExprKind::kOr);
  const bool any = std::find(in.x.begin(), in.x.end(), deciding) != in.x.end();
  return any ? std::optional<Expr>(deciding) : std::nullopt;
}

std::optional<Expr> OnePart(const RuleInput& in) {
  if (in.x.size() != 1) return std::nullopt;
  return in.x[0];
}

std::optional<Expr> Opposites(const RuleInput& in) {
  constexpr size_t kMost = 16;
  if (in.x.size() > kMost) return std::nullopt;
  for (const Expr& e : in.x) {
    const Expr opposite = SimplifyNot(in.context, e);
    if (std::find(in.x.begin(), in.x.end(), opposite) != in.x.end()) {
      return Expr::Bool(in.kind == ExprKind::kOr);
    }
  }
  return std::nullopt;
}

constexpr Rule kAndOrRules[] = {
    {"and_or.decided", "c and false = false, c or true = true", "always", Decided},
    {"and_or.one_part", "and(c) = or(c) = c", "always", OnePart},
    {"and_or.opposites", "c and not c = false, c or not c = true", "at most 16 parts", Opposites},
};

}  // namespace

absl::Span<const Rule> NotRules() { return kNotRules; }
absl::Span<const Rule> AndOrRules() { return kAndOrRules; }

Expr SimplifyNot(ExprContext* context, const Expr& x) {
  const Expr operands[] = {AsBoolean(context, x)};
  if (operands[0].IsOverflow()) return Expr::Overflow();
  if (const auto e = ApplyRules(kNotRules, {context, ExprKind::kNot, operands})) return *e;
  return ContextAccess::Intern(context, ExprKind::kNot, operands);
}

Expr SimplifyAndOr(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands) {
  const Expr neutral = Expr::Bool(kind == ExprKind::kAnd);
  absl::InlinedVector<Expr, 6> list;
  bool overflow = false;
  for (const Expr& operand : operands) {
    const Expr e = AsBoolean(context, operand);
    if (e.IsOverflow()) {
      overflow = true;
    } else if (e.kind() == kind && e.operands().size() <= kLargestFlattened) {
      list.insert(list.end(), e.operands().begin(), e.operands().end());
    } else if (e != neutral) {
      list.push_back(e);
    }
  }
  // What decides does so whatever the others are.
  const bool decided = Decided({context, kind, list}).has_value();
  if (overflow && !decided) return Expr::Overflow();
  if (list.empty()) return neutral;
  std::sort(list.begin(), list.end(),
            [](const Expr& a, const Expr& b) { return Compare(a, b) < 0; });
  list.erase(std::unique(list.begin(), list.end()), list.end());
  if (const auto e = ApplyRules(kAndOrRules, {context, kind, list})) return *e;
  return ContextAccess::Intern(context, kind, list);
}

}  // namespace lathe::symbolic
