#include <algorithm>
#include <optional>

#include "symbolic/expr_node.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/divide_common.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

void ReduceCoefficients(Polynomial& p, int64_t d) {
  size_t out = 0;
  for (Term t : p.terms) {
    t.coefficient %= d;  // keeps its sign: (-n) % 16 reads better than (15*n) % 16
    if (t.coefficient != 0) p.terms[out++] = t;
  }
  p.terms.resize(out, Term{0, 0});
  p.constant = ModBy(p.constant, d);
}

// c * (x % m) = c*x modulo d when d divides c*m. True if a term was replaced.
bool OpenInnerMod(Polynomial& p, int64_t d) {
  for (size_t i = 0; i < p.terms.size(); ++i) {
    const Term t = p.terms[i];
    if (t.monomial.kind() != ExprKind::kMod) continue;
    const std::optional<int64_t> m = t.monomial.operands()[1].AsInt();
    if (!m || static_cast<__int128>(t.coefficient) * *m % d != 0) continue;
    Polynomial without = p;
    without.terms.erase(without.terms.begin() + static_cast<int64_t>(i));
    Polynomial x = ToPolynomial(t.monomial.operands()[0]);
    ReduceCoefficients(x, d);  // so that the product below stays small
    const Polynomial opened = AddScaled(without, x, t.coefficient);
    if (opened.overflow) return false;
    p = opened;
    return true;
  }
  return false;
}

Expr ModByPositive(ExprContext* context, const Expr& a, int64_t d) {
  Polynomial p = ToPolynomial(a);
  if (p.overflow) return Expr::Overflow();
  ReduceCoefficients(p, d);
  for (int i = 0; i < 16 && OpenInnerMod(p, d); ++i) ReduceCoefficients(p, d);
  if (p.terms.empty()) return p.constant;
  // (g*y + g*q + r) % (g*d') = g*((y + q) % d') + r for 0 <= r < g
  const int64_t g = Gcd(CoefficientGcd(p), d);
  if (g > 1) {
    Polynomial remainder;
    remainder.constant = ModBy(p.constant, g);
    for (Term& t : p.terms) t.coefficient /= g;
    p.constant = FloorBy(p.constant, g);
    const Expr inner = ModByPositive(context, FromPolynomial(context, p), d / g);
    return FromPolynomial(context, AddScaled(remainder, ToPolynomial(inner), g));
  }
  if (d == 1) return 0;
  if (const std::optional<int64_t> q = ConstantQuotient(IntrinsicRange(p), d)) {
    if (const std::optional<int64_t> shift = CheckedMul(*q, d)) {
      Polynomial constant;
      constant.constant = *shift;
      return FromPolynomial(context, AddScaled(p, constant, -1));
    }
  }
  return ContextAccess::Intern(context, ExprKind::kMod, {FromPolynomial(context, p), d});
}

// c * (x % b) = c*x modulo any b.
std::optional<Expr> WithoutModBySame(ExprContext* context, const Expr& a, const Expr& b) {
  const Polynomial p = ToPolynomial(a);
  for (const Term& t : p.terms) {
    if (t.monomial.kind() != ExprKind::kMod || t.monomial.operands()[1] != b) continue;
    Polynomial rest = p;
    rest.terms.erase(std::find(rest.terms.begin(), rest.terms.end(), t));
    const Polynomial opened =
        AddScaled(rest, ToPolynomial(t.monomial.operands()[0]), t.coefficient);
    if (!opened.overflow) return FromPolynomial(context, opened);
  }
  return std::nullopt;
}

}  // namespace

Expr SimplifyMod(ExprContext* context, const Expr& x, const Expr& y) {
  if (x.IsOverflow() || y.IsOverflow()) return Expr::Overflow();
  if (x.type() == ExprType::kFloat || y.type() == ExprType::kFloat) return Expr::Overflow();
  const Expr a = AsNumber(context, x), b = AsNumber(context, y);
  if (IsInfinite(a) || IsInfinite(b)) return Expr::Overflow();
  if (const std::optional<int64_t> d = b.AsInt()) {
    if (*d == 0) return Expr::Overflow();
    if (*d > 0) return ModByPositive(context, a, *d);
    if (*d == INT64_MIN) {
      if (a.is_const()) {
        const int64_t v = *a.AsInt();
        return v > 0 ? v + INT64_MIN : v == INT64_MIN ? 0 : v;
      }
      return ContextAccess::Intern(context, ExprKind::kMod, {a, b});
    }
    const Expr negated = SimplifyProduct(context, {-1, a});  // a % -d = -(-a % d)
    return SimplifyProduct(context, {-1, ModByPositive(context, negated, -*d)});
  }
  if (a.is_const() && *a.AsInt() == 0) return 0;
  if (const std::optional<Expr> opened = WithoutModBySame(context, a, b)) {
    return SimplifyMod(context, *opened, b);
  }
  const CommonParts parts = WithoutCommonFactor(context, a, b);
  if (parts.factor == 1) return ContextAccess::Intern(context, ExprKind::kMod, {a, b});
  return SimplifyProduct(context, {parts.factor, SimplifyMod(context, parts.a, parts.b)});
}

}  // namespace lathe::symbolic
