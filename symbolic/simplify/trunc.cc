// TruncDiv and TruncMod: C's sign rule.

#include "symbolic/expr_node.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rule.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

bool IsUndefinedOperand(const Expr& e) {
  return e.IsOverflow() || IsInfinite(e) || e.type() == ExprType::kFloat;
}

bool AreNatural(const RuleInput& in) {
  return IntrinsicRange(in.x[0]).lower >= 0 && IntrinsicRange(in.x[1]).lower >= 0;
}

std::optional<Expr> OfZero(const RuleInput& in) {
  if (in.x[0] != 0) return std::nullopt;
  return 0;
}

std::optional<Expr> DivByOne(const RuleInput& in) {
  if (in.x[1] != 1) return std::nullopt;
  return in.x[0];
}
std::optional<Expr> DivByMinusOne(const RuleInput& in) {
  if (in.x[1] != -1) return std::nullopt;
  return SimplifyProduct(in.context, {-1, in.x[0]});
}
std::optional<Expr> DivOfNumbers(const RuleInput& in) {
  if (!in.x[0].is_const() || !in.x[1].is_const()) return std::nullopt;
  return *in.x[0].AsInt() / *in.x[1].AsInt();  // not by -1
}
std::optional<Expr> DivOfNaturals(const RuleInput& in) {
  if (!AreNatural(in)) return std::nullopt;
  return SimplifyFloorDiv(in.context, in.x[0], in.x[1]);
}

std::optional<Expr> DivByNegative(const RuleInput& in) {
  const std::optional<int64_t> d = in.x[1].AsInt();
  if (!d || *d >= 0 || *d == INT64_MIN) return std::nullopt;
  return SimplifyProduct(in.context, {-1, SimplifyTruncDiv(in.context, in.x[0], -*d)});
}

std::optional<Expr> ModByUnit(const RuleInput& in) {
  if (in.x[1] != 1 && in.x[1] != -1) return std::nullopt;
  return 0;
}
std::optional<Expr> ModOfNumbers(const RuleInput& in) {
  if (!in.x[0].is_const() || !in.x[1].is_const()) return std::nullopt;
  return *in.x[0].AsInt() % *in.x[1].AsInt();
}
std::optional<Expr> ModByNegative(const RuleInput& in) {
  const std::optional<int64_t> d = in.x[1].AsInt();
  if (!d || *d >= 0 || *d == INT64_MIN) return std::nullopt;
  return SimplifyTruncMod(in.context, in.x[0], -*d);
}
std::optional<Expr> ModOfNaturals(const RuleInput& in) {
  if (!AreNatural(in)) return std::nullopt;
  return SimplifyMod(in.context, in.x[0], in.x[1]);
}

// The dividend negated, where its first coefficient is negative.
std::optional<Expr> Negated(const RuleInput& in) {
  if (in.x[0].is_const()) return std::nullopt;
  const Polynomial p = ToPolynomial(in.x[0]);
  if (p.overflow || p.terms[0].coefficient >= 0) return std::nullopt;
  const Polynomial negated = Scaled(p, -1);
  return negated.overflow ? std::nullopt : std::optional<Expr>(FromPolynomial(in.context, negated));
}

std::optional<Expr> DivIsOdd(const RuleInput& in) {
  const std::optional<Expr> x = Negated(in);
  if (!x) return std::nullopt;
  return SimplifyProduct(in.context, {-1, SimplifyTruncDiv(in.context, *x, in.x[1])});
}
std::optional<Expr> ModIsOdd(const RuleInput& in) {
  const std::optional<Expr> x = Negated(in);
  if (!x) return std::nullopt;
  return SimplifyProduct(in.context, {-1, SimplifyTruncMod(in.context, *x, in.x[1])});
}

constexpr Rule kDivRules[] = {
    {"trunc_div.by_one", "truncdiv(x, 1) = x", "always", DivByOne},
    {"trunc_div.by_minus_one", "truncdiv(x, -1) = -x", "always", DivByMinusOne},
    {"trunc_div.of_numbers", "truncdiv(c, d) = its value", "c, d constant, d != 0", DivOfNumbers},
    {"trunc_div.by_negative", "truncdiv(x, -d) = -truncdiv(x, d)", "d > 0 constant", DivByNegative},
    {"trunc_div.of_zero", "truncdiv(0, y) = 0", "y != 0, elsewhere undefined", OfZero},
    {"trunc_div.of_naturals", "truncdiv(x, y) = x//y", "x >= 0 and y >= 0 by bounds",
     DivOfNaturals},
    {"trunc_div.is_odd", "truncdiv(-x, y) = -truncdiv(x, y)", "always", DivIsOdd},
};

constexpr Rule kModRules[] = {
    {"trunc_mod.by_unit", "truncmod(x, 1) = truncmod(x, -1) = 0", "always", ModByUnit},
    {"trunc_mod.of_numbers", "truncmod(c, d) = its value", "c, d constant, d != 0", ModOfNumbers},
    {"trunc_mod.by_negative", "truncmod(x, -d) = truncmod(x, d)", "d > 0 constant", ModByNegative},
    {"trunc_mod.of_zero", "truncmod(0, y) = 0", "y != 0, elsewhere undefined", OfZero},
    {"trunc_mod.of_naturals", "truncmod(x, y) = x % y", "x >= 0 and y >= 0 by bounds",
     ModOfNaturals},
    {"trunc_mod.is_odd", "truncmod(-x, y) = -truncmod(x, y)", "always", ModIsOdd},
};

Expr Simplify(ExprContext* context, ExprKind kind, absl::Span<const Rule> rules, const Expr& x,
              const Expr& y) {
  if (IsUndefinedOperand(x) || IsUndefinedOperand(y)) return Expr::Overflow();
  const Expr operands[] = {AsNumber(context, x), AsNumber(context, y)};
  if (operands[1] == 0) return Expr::Overflow();
  if (const auto e = ApplyRules(rules, {context, kind, operands})) return *e;
  return ContextAccess::Intern(context, kind, operands);
}

}  // namespace

absl::Span<const Rule> TruncDivRules() { return kDivRules; }
absl::Span<const Rule> TruncModRules() { return kModRules; }

Expr SimplifyTruncDiv(ExprContext* context, const Expr& x, const Expr& y) {
  return Simplify(context, ExprKind::kTruncDiv, kDivRules, x, y);
}
Expr SimplifyTruncMod(ExprContext* context, const Expr& x, const Expr& y) {
  return Simplify(context, ExprKind::kTruncMod, kModRules, x, y);
}

}  // namespace lathe::symbolic
