#include <cmath>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rule.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

std::optional<Expr> OfNatural(const RuleInput& in) {
  if (IntrinsicRange(in.x[0]).lower < 0) return std::nullopt;
  return in.x[0];
}

std::optional<Expr> OfNegative(const RuleInput& in) {
  if (IntrinsicRange(in.x[0]).upper > 0) return std::nullopt;
  return SimplifyProduct(in.context, {-1, in.x[0]});
}

std::optional<Expr> LeadingSign(const RuleInput& in) {
  const Polynomial p = ToPolynomial(in.x[0]);
  if (p.terms.empty() || p.terms[0].coefficient >= 0) return std::nullopt;
  const Expr negated = SimplifyProduct(in.context, {-1, in.x[0]});
  if (negated.IsOverflow()) return negated;
  return ContextAccess::Intern(in.context, ExprKind::kAbs, {negated});
}

std::optional<Expr> OfProduct(const RuleInput& in) {
  if (in.x[0].kind() != ExprKind::kMul) return std::nullopt;
  absl::InlinedVector<Expr, 4> factors;
  for (const Expr& f : in.x[0].operands()) factors.push_back(SimplifyAbs(in.context, f));
  return SimplifyProduct(in.context, factors);
}

std::optional<Expr> OfPower(const RuleInput& in) {
  if (in.x[0].kind() != ExprKind::kPow || !in.x[0].operands()[1].is_const()) return std::nullopt;
  const absl::Span<const Expr> x = in.x[0].operands();
  return SimplifyPow(in.context, SimplifyAbs(in.context, x[0]), x[1]);
}

constexpr Rule kRules[] = {
    {"abs.of_natural", "abs(x) = x", "x >= 0 by bounds", OfNatural},
    {"abs.of_negative", "abs(x) = -x", "x <= 0 by bounds", OfNegative},
    {"abs.of_product", "abs(x*y) = abs(x)*abs(y)", "always", OfProduct},
    {"abs.of_power", "abs(x**n) = abs(x)**n", "n constant", OfPower},
    {"abs.leading_sign", "abs(x) = abs(-x)", "the first coefficient of x is negative", LeadingSign},
};

}  // namespace

absl::Span<const Rule> AbsRules() { return kRules; }

Expr SimplifyAbs(ExprContext* context, const Expr& x) {
  if (x.IsOverflow()) return x;
  if (x.type() == ExprType::kFloat) {
    if (const std::optional<double> v = x.AsFloat()) return Expr::Float(std::fabs(*v));
    return ContextAccess::Intern(context, ExprKind::kAbs, {x});
  }
  if (IsInfinite(x)) return Expr::Infinity();
  const Expr operands[] = {AsNumber(context, x)};
  if (const auto e = ApplyRules(kRules, {context, ExprKind::kAbs, operands})) return *e;
  return ContextAccess::Intern(context, ExprKind::kAbs, operands);
}

}  // namespace lathe::symbolic
