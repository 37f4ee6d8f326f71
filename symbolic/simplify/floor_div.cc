#include <optional>

#include "symbolic/expr_node.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/divide_common.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

Expr DivideByPositive(ExprContext* context, const Expr& a, int64_t d);

// floor((x + k) / d) for one monomial x that is itself a quotient or a remainder.
std::optional<Expr> DivideNested(ExprContext* context, const Polynomial& p, int64_t d) {
  if (p.terms.size() != 1 || p.terms[0].coefficient != 1) return std::nullopt;
  thread_local int depth = 0;
  const NestingLimit limit(depth);
  if (limit.reached()) return std::nullopt;
  const Expr& inner = p.terms[0].monomial;
  if (inner.kind() != ExprKind::kFloorDiv && inner.kind() != ExprKind::kMod) return std::nullopt;
  const Expr& x = inner.operands()[0];
  const std::optional<int64_t> m = inner.operands()[1].AsInt();
  if (!m || *m <= 0) return std::nullopt;
  if (inner.kind() == ExprKind::kFloorDiv) {  // (x//m + k)//d = (x + m*k)//(m*d)
    const std::optional<int64_t> total = CheckedMul(*m, d);
    if (!total) return std::nullopt;
    Polynomial shift;
    shift.constant = p.constant;
    const Polynomial sum = AddScaled(ToPolynomial(x), shift, *m);
    if (sum.overflow) return std::nullopt;
    return DivideByPositive(context, FromPolynomial(context, sum), *total);
  }
  if (p.constant == 0 && *m % d == 0) {  // (x % m)//d = (x//d) % (m/d)
    return SimplifyMod(context, DivideByPositive(context, x, d), *m / d);
  }
  return std::nullopt;
}

// `p` has no coefficient that d divides, gcd(coefficients, d) = 1, 0 <= constant < d.
Expr DivideReduced(ExprContext* context, const Polynomial& p, int64_t d) {
  if (const std::optional<Expr> nested = DivideNested(context, p, d)) return *nested;
  return ContextAccess::Intern(context, ExprKind::kFloorDiv, {FromPolynomial(context, p), d});
}

Expr DivideByPositive(ExprContext* context, const Expr& a, int64_t d) {
  if (d == 1) return a;
  const Polynomial p = ToPolynomial(a);
  if (p.overflow) return Expr::Overflow();
  Polynomial quotient, rest;
  for (const Term& t : p.terms) {
    if (t.coefficient % d == 0) {
      quotient.terms.push_back({t.monomial, t.coefficient / d});
    } else {
      rest.terms.push_back(t);
    }
  }
  quotient.constant = FloorBy(p.constant, d);
  rest.constant = ModBy(p.constant, d);
  const int64_t g = Gcd(CoefficientGcd(rest), d);
  if (g > 1) {
    for (Term& t : rest.terms) t.coefficient /= g;
    rest.constant /= g;
    d /= g;
  }
  if (rest.terms.empty()) return FromPolynomial(context, quotient);
  if (const std::optional<int64_t> q = ConstantQuotient(IntrinsicRange(rest), d)) {
    quotient.constant += *q;  // |q| is far from 2^63: rest.constant < d
    return FromPolynomial(context, quotient);
  }
  int64_t sign = 1;
  if (rest.terms[0].coefficient < 0) {  // x//d = -((-x + d-1)//d): one form for ceilings too
    Polynomial top;
    top.constant = d - 1;
    const Polynomial negated = AddScaled(top, rest, -1);
    if (!negated.overflow) {
      rest = negated;
      sign = -1;
    }
  }
  const Polynomial core = ToPolynomial(DivideReduced(context, rest, d));
  return FromPolynomial(context, AddScaled(quotient, core, sign));
}

}  // namespace

Expr SimplifyFloorDiv(ExprContext* context, const Expr& x, const Expr& y) {
  if (x.IsOverflow() || y.IsOverflow()) return Expr::Overflow();
  const Expr a = AsNumber(context, x), b = AsNumber(context, y);
  if (a.type() == ExprType::kFloat || b.type() == ExprType::kFloat) {
    return SimplifyFloat(context, ExprKind::kFloor,
                         {SimplifyFloat(context, ExprKind::kTrueDiv, {a, b})});
  }
  if (IsInfinite(a) || IsInfinite(b)) return Expr::Overflow();
  if (const std::optional<int64_t> d = b.AsInt()) {
    if (*d == 0) return Expr::Overflow();
    if (*d > 0) return DivideByPositive(context, a, *d);
    if (*d == INT64_MIN) {
      if (a.is_const()) return *a.AsInt() == INT64_MIN ? 1 : *a.AsInt() > 0 ? -1 : 0;
      return ContextAccess::Intern(context, ExprKind::kFloorDiv, {a, b});
    }
    return DivideByPositive(context, SimplifyProduct(context, {-1, a}), -*d);
  }
  if (a.is_const() && *a.AsInt() == 0) return 0;
  const CommonParts parts = WithoutCommonFactor(context, a, b);
  if (parts.b.is_const()) return SimplifyFloorDiv(context, parts.a, parts.b);
  return ContextAccess::Intern(context, ExprKind::kFloorDiv, {parts.a, parts.b});
}

}  // namespace lathe::symbolic
