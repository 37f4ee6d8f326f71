// Polynomials that are a product of two sums: quadratic ones, by the root of their discriminant.

#include <algorithm>
#include <cmath>
#include <vector>

#include "symbolic/expr_node.h"
#include "symbolic/monomial.h"
#include "symbolic/simplify/checked.h"

namespace lathe::symbolic {
namespace {

constexpr size_t kMostTerms = 8;
constexpr int64_t kLargestCoefficient = int64_t{1} << 24;  // whose squares and products fit

Polynomial Constant(int64_t value) {
  Polynomial p;
  p.constant = value;
  return p;
}

Polynomial Times(ExprContext* context, const Polynomial& p, const Polynomial& q) {
  Polynomial product = MultiplyByTerm(context, p, {Expr(1), q.constant});
  if (q.constant == 0) product = Constant(0);
  for (const Term& t : q.terms) product = AddScaled(product, MultiplyByTerm(context, p, t), 1);
  return product;
}

// The r >= 0 with r*r == v.
std::optional<int64_t> ExactRoot(int64_t v) {
  if (v < 0) return std::nullopt;
  const int64_t r = std::llround(std::sqrt(static_cast<double>(v)));
  return r * r == v ? std::optional<int64_t>(r) : std::nullopt;
}

bool IsSmall(const Polynomial& p) {
  const auto is_small = [](int64_t v) {
    return v >= -kLargestCoefficient && v <= kLargestCoefficient;
  };
  return !p.overflow && p.terms.size() <= kMostTerms && is_small(p.constant) &&
         std::all_of(p.terms.begin(), p.terms.end(),
                     [&](const Term& t) { return is_small(t.coefficient); });
}

// p = a*x**2 + b*x + c, with b and c without x.
struct InUnknown {
  int64_t a = 0;
  Polynomial b, c;
};
std::optional<InUnknown> Collect(ExprContext* context, const Polynomial& p, const Expr& x) {
  InUnknown q;
  q.c.constant = p.constant;
  for (const Term& t : p.terms) {
    const std::optional<Expr> once = DivideMonomial(context, t.monomial, x);
    if (!once) {
      q.c.terms.push_back(t);
      continue;
    }
    if (once->is_const()) {
      q.b = AddScaled(q.b, Constant(t.coefficient), 1);
      continue;
    }
    const std::optional<Expr> twice = DivideMonomial(context, *once, x);
    if (twice && !twice->is_const()) return std::nullopt;
    if (twice) {
      q.a = t.coefficient;
    } else {
      q.b.terms.push_back({*once, t.coefficient});
    }
  }
  std::sort(q.b.terms.begin(), q.b.terms.end(),
            [](const Term& s, const Term& t) { return Compare(s.monomial, t.monomial) < 0; });
  return q;
}

// The s with s*s == d; of its two signs the one whose first coefficient is positive.
std::optional<Polynomial> RootOf(ExprContext* context, const Polynomial& d) {
  if (d.overflow) return std::nullopt;
  Polynomial s;
  std::vector<Expr> unknowns;
  for (const Term& t : d.terms) {
    const std::vector<Power> f = FactorsOf(t.monomial);
    if (f.size() != 1 || f[0].exponent != 2) continue;
    const std::optional<int64_t> r = ExactRoot(t.coefficient);
    if (!r) return std::nullopt;
    s.terms.push_back({f[0].base, *r});
  }
  std::sort(s.terms.begin(), s.terms.end(),
            [](const Term& x, const Term& y) { return Compare(x.monomial, y.monomial) < 0; });
  const std::optional<int64_t> constant = ExactRoot(d.constant);
  if (!constant) return std::nullopt;
  s.constant = *constant;
  // The signs of the others, relative to the first, are those of the mixed products.
  const size_t n = s.terms.size() + (s.constant != 0 ? 1 : 0);
  for (uint32_t signs = 0; signs < (uint32_t{1} << (n == 0 ? 0 : n - 1)); ++signs) {
    Polynomial one = s;
    for (size_t i = 1; i < n; ++i) {
      if ((signs >> (i - 1) & 1) == 0) continue;
      int64_t& v = i < s.terms.size() ? one.terms[i].coefficient : one.constant;
      v = -v;
    }
    if (Times(context, one, one) == d) return one;
  }
  return std::nullopt;
}

// b*x + c = b*(x + c/b)
std::optional<TwoFactors> FactorOfLinear(ExprContext* context, const InUnknown& q, const Expr& x) {
  if (q.b.terms.empty()) return std::nullopt;
  const std::optional<Polynomial> rest = DivideExactly(context, q.c, q.b);
  if (!rest) return std::nullopt;
  Polynomial one;
  one.terms.push_back({x, 1});
  TwoFactors f = {q.b, AddScaled(one, *rest, 1)};
  return f.second.overflow ? std::nullopt : std::optional<TwoFactors>(std::move(f));
}

// 4*a*p = (2*a*x + b - s)*(2*a*x + b + s) where s*s = b*b - 4*a*c.
std::optional<TwoFactors> FactorIn(ExprContext* context, const Polynomial& p, const Expr& x) {
  std::optional<InUnknown> q = Collect(context, p, x);
  if (!q) return std::nullopt;
  if (q->a == 0) return FactorOfLinear(context, *q, x);
  const bool negative = q->a < 0;
  if (negative) {
    q->a = -q->a;
    q->b = Scaled(q->b, -1);
    q->c = Scaled(q->c, -1);
  }
  const Polynomial d = AddScaled(Times(context, q->b, q->b), q->c, -4 * q->a);
  if (!IsSmall(d)) return std::nullopt;
  const std::optional<Polynomial> s = RootOf(context, d);
  if (!s) return std::nullopt;
  Polynomial middle = q->b;
  Polynomial twice;
  twice.terms.push_back({x, 2 * q->a});
  middle = AddScaled(middle, twice, 1);
  TwoFactors f = {AddScaled(middle, *s, -1), AddScaled(middle, *s, 1)};
  for (Polynomial* one : {&f.first, &f.second}) {
    const int64_t g = Gcd(CoefficientGcd(*one), one->constant);
    if (g <= 1) continue;
    for (Term& t : one->terms) t.coefficient /= g;
    one->constant /= g;
  }
  if (negative) f.first = Scaled(f.first, -1);
  if (f.first.overflow || f.second.overflow) return std::nullopt;
  return f;
}

Expr AtLeast(ExprContext* context, const Polynomial& p, int64_t least) {
  return Le(least, FromPolynomial(context, p));
}

// first * second >= 0, or > 0 for `least` 1.
std::optional<Expr> SameSign(ExprContext* context, const TwoFactors& f, int64_t least) {
  const Polynomial a = Scaled(f.first, -1), b = Scaled(f.second, -1);
  if (a.overflow || b.overflow) return std::nullopt;
  const auto both = [&](const Polynomial& x, const Polynomial& y) {
    // Where they differ by a number one of them says it all.
    const Polynomial apart = AddScaled(x, y, -1);
    if (apart.is_constant()) return AtLeast(context, apart.constant >= 0 ? y : x, least);
    return And(AtLeast(context, x, least), AtLeast(context, y, least));
  };
  const Expr result = Or(both(f.first, f.second), both(a, b));
  return result.IsOverflow() ? std::nullopt : std::optional<Expr>(result);
}

}  // namespace

std::optional<TwoFactors> FactorsOfQuadratic(ExprContext* context, const Polynomial& p) {
  if (!IsSmall(p)) return std::nullopt;
  for (const Term& t : p.terms) {
    const std::vector<Power> f = FactorsOf(t.monomial);
    if (f.size() != 1 || f[0].exponent != 2) continue;
    if (std::optional<TwoFactors> found = FactorIn(context, p, f[0].base)) return found;
  }
  if (p.terms.size() != 3) return std::nullopt;
  for (const Term& t : p.terms) {  // x*y + c*x + d*y + c*d
    const std::vector<Power> f = FactorsOf(t.monomial);
    if (f.size() == 2 && f[0].exponent == 1 && f[1].exponent == 1) {
      return FactorIn(context, p, f[0].base);
    }
  }
  return std::nullopt;
}

std::optional<Expr> ComparisonOfFactors(ExprContext* context, const Expr& comparison) {
  const ExprKind kind = comparison.kind();
  if (kind < ExprKind::kEq || kind > ExprKind::kLe) return std::nullopt;
  const Expr &x = comparison.operands()[0], &y = comparison.operands()[1];
  if (x.type() != ExprType::kInt || y.type() != ExprType::kInt) return std::nullopt;
  const Polynomial p = Difference(y, x);
  if (kind == ExprKind::kLe || kind == ExprKind::kLt) {
    const int64_t least = kind == ExprKind::kLt ? 1 : 0;
    if (const auto f = FactorsOfQuadratic(context, p)) return SameSign(context, *f, least);
    // 0 <= p is 0 < p + 1, and 0 < p is 0 <= p - 1.
    const Polynomial next = AddScaled(p, Constant(1), least == 0 ? 1 : -1);
    if (const auto f = FactorsOfQuadratic(context, next)) return SameSign(context, *f, 1 - least);
    return std::nullopt;
  }
  const std::optional<TwoFactors> f = FactorsOfQuadratic(context, p);
  if (!f) return std::nullopt;
  const Expr first = FromPolynomial(context, f->first);
  const Expr second = FromPolynomial(context, f->second);
  const Expr result =
      kind == ExprKind::kEq ? Or(Eq(first, 0), Eq(second, 0)) : And(Ne(first, 0), Ne(second, 0));
  return result.IsOverflow() ? std::nullopt : std::optional<Expr>(result);
}

}  // namespace lathe::symbolic
