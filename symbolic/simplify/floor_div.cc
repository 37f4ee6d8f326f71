#include <algorithm>
#include <optional>

#include "symbolic/expr_node.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/divide_common.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rule.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

std::optional<int64_t> PositiveDivisor(const RuleInput& in) {
  const std::optional<int64_t> d = in.x[1].AsInt();
  return d && *d > 0 ? d : std::nullopt;
}

std::optional<Expr> ByOne(const RuleInput& in) {
  if (in.x[1] != 1) return std::nullopt;
  return in.x[0];
}

std::optional<Expr> ByNegative(const RuleInput& in) {
  const std::optional<int64_t> d = in.x[1].AsInt();
  if (!d || *d >= 0 || *d == INT64_MIN) return std::nullopt;
  return SimplifyFloorDiv(in.context, SimplifyProduct(in.context, {-1, in.x[0]}), -*d);
}

std::optional<Expr> NumberByLeast(const RuleInput& in) {
  if (in.x[1] != INT64_MIN || !in.x[0].is_const()) return std::nullopt;
  const int64_t v = *in.x[0].AsInt();
  return v == INT64_MIN ? 1 : v > 0 ? -1 : 0;
}

std::optional<Expr> MultiplesLeave(const RuleInput& in) {
  const std::optional<int64_t> d = PositiveDivisor(in);
  if (!d) return std::nullopt;
  Polynomial quotient, rest;
  for (const Term& t : in.p->terms) {
    if (t.coefficient % *d == 0) {
      quotient.terms.push_back({t.monomial, t.coefficient / *d});
    } else {
      rest.terms.push_back(t);
    }
  }
  quotient.constant = FloorBy(in.p->constant, *d);
  rest.constant = ModBy(in.p->constant, *d);
  if (quotient.terms.empty() && quotient.constant == 0) return std::nullopt;
  if (rest.terms.empty()) return FromPolynomial(in.context, quotient);
  const Expr inner = SimplifyFloorDiv(in.context, FromPolynomial(in.context, rest), *d);
  return FromPolynomial(in.context, AddScaled(quotient, ToPolynomial(inner), 1));
}

std::optional<Expr> CommonFactor(const RuleInput& in) {
  const std::optional<int64_t> d = PositiveDivisor(in);
  if (!d || in.p->terms.empty()) return std::nullopt;
  const int64_t g = Gcd(CoefficientGcd(*in.p), *d);
  if (g <= 1) return std::nullopt;
  Polynomial p = *in.p;
  for (Term& t : p.terms) t.coefficient /= g;
  p.constant = FloorBy(p.constant, g);
  return SimplifyFloorDiv(in.context, FromPolynomial(in.context, p), *d / g);
}

std::optional<Expr> WithinOneQuotient(const RuleInput& in) {
  const std::optional<int64_t> d = PositiveDivisor(in);
  const std::optional<int64_t> q = d ? ConstantQuotient(IntrinsicRange(*in.p), *d) : d;
  return q ? std::optional<Expr>(*q) : std::nullopt;
}

// One form for ceilings too.
std::optional<Expr> LeadingSign(const RuleInput& in) {
  const std::optional<int64_t> d = PositiveDivisor(in);
  if (!d || in.p->terms.empty() || in.p->terms[0].coefficient >= 0) return std::nullopt;
  Polynomial top;
  top.constant = *d - 1;
  const Polynomial negated = AddScaled(top, *in.p, -1);
  if (negated.overflow) return std::nullopt;
  const Expr inner = SimplifyFloorDiv(in.context, FromPolynomial(in.context, negated), *d);
  return FromPolynomial(in.context, Scaled(ToPolynomial(inner), -1));
}

// The dividend is one operation of `kind` by a positive constant, which is returned, plus a number.
std::optional<int64_t> DivisorInside(const RuleInput& in, ExprKind kind) {
  if (!PositiveDivisor(in) || in.p->terms.size() != 1 || in.p->terms[0].coefficient != 1) {
    return std::nullopt;
  }
  const Expr& inner = in.p->terms[0].monomial;
  if (inner.kind() != kind) return std::nullopt;
  const std::optional<int64_t> m = inner.operands()[1].AsInt();
  return m && *m > 0 ? m : std::nullopt;
}

std::optional<Expr> OfQuotient(const RuleInput& in) {
  thread_local int depth = 0;
  const NestingLimit limit(depth);
  const std::optional<int64_t> m = DivisorInside(in, ExprKind::kFloorDiv);
  if (!m || limit.reached()) return std::nullopt;
  const std::optional<int64_t> total = CheckedMul(*m, *in.x[1].AsInt());
  if (!total) return std::nullopt;
  Polynomial shift;
  shift.constant = in.p->constant;
  const Polynomial sum = AddScaled(ToPolynomial(in.p->terms[0].monomial.operands()[0]), shift, *m);
  if (sum.overflow) return std::nullopt;
  return SimplifyFloorDiv(in.context, FromPolynomial(in.context, sum), *total);
}

std::optional<Expr> OfRemainder(const RuleInput& in) {
  thread_local int depth = 0;
  const NestingLimit limit(depth);
  const std::optional<int64_t> m = DivisorInside(in, ExprKind::kMod);
  if (!m || limit.reached() || in.p->constant != 0) return std::nullopt;
  const int64_t d = *in.x[1].AsInt();
  if (*m % d != 0) return std::nullopt;
  const Expr& x = in.p->terms[0].monomial.operands()[0];
  return SimplifyMod(in.context, SimplifyFloorDiv(in.context, x, d), *m / d);
}

std::optional<Expr> OfZero(const RuleInput& in) {
  if (in.x[0] != 0 || in.x[1].is_const()) return std::nullopt;
  return 0;
}

std::optional<Expr> CommonInteger(const RuleInput& in) {
  if (in.x[1].is_const()) return std::nullopt;
  const CommonParts parts = WithoutCommonFactor(in.context, in.x[0], in.x[1]);
  if (parts.factor == 1) return std::nullopt;
  return SimplifyFloorDiv(in.context, parts.a, parts.b);
}

constexpr Rule kRules[] = {
    {"floor_div.by_one", "x//1 = x", "always", ByOne},
    {"floor_div.by_negative", "x//-d = (-x)//d", "d > 0 constant", ByNegative},
    {"floor_div.number_by_least", "c//-2**63 = 1, -1 or 0", "c constant", NumberByLeast},
    {"floor_div.multiples_leave", "(d*y + r)//d = y + r//d",
     "d > 0 constant; some coefficient is a multiple of d or the constant is not in [0, d)",
     MultiplesLeave},
    {"floor_div.common_factor", "(g*y + k)//(g*d) = (y + k//g)//d", "g > 1, d > 0 constant",
     CommonFactor},
    {"floor_div.within_one_quotient", "x//d = q", "d > 0 constant, q*d <= x < q*d + d by bounds",
     WithinOneQuotient},
    {"floor_div.leading_sign", "x//d = -((-x + d - 1)//d)",
     "d > 0 constant, the first coefficient of x is negative", LeadingSign},
    {"floor_div.of_quotient", "(x//m + k)//d = (x + m*k)//(m*d)", "m, d > 0 constant", OfQuotient},
    {"floor_div.of_remainder", "(x % m)//d = (x//d) % (m//d)", "m, d > 0 constant, d divides m",
     OfRemainder},
    {"floor_div.of_zero", "0//y = 0", "y != 0, elsewhere undefined", OfZero},
    {"floor_div.common_integer", "(g*x)//(g*y) = x//y",
     "g != 0 constant; it makes the first coefficient of y positive", CommonInteger},
};

}  // namespace

absl::Span<const Rule> FloorDivRules() { return kRules; }

Expr SimplifyFloorDiv(ExprContext* context, const Expr& x, const Expr& y) {
  if (x.IsOverflow() || y.IsOverflow()) return Expr::Overflow();
  const Expr a = AsNumber(context, x), b = AsNumber(context, y);
  if (a.type() == ExprType::kFloat || b.type() == ExprType::kFloat) {
    return SimplifyFloat(context, ExprKind::kFloor,
                         {SimplifyFloat(context, ExprKind::kTrueDiv, {a, b})});
  }
  if (IsInfinite(a) || IsInfinite(b) || b == 0) return Expr::Overflow();
  const Expr operands[] = {a, b};
  const Polynomial p = ToPolynomial(a);
  if (const auto e = ApplyRules(kRules, {context, ExprKind::kFloorDiv, operands, &p})) return *e;
  return ContextAccess::Intern(context, ExprKind::kFloorDiv, operands);
}

}  // namespace lathe::symbolic
