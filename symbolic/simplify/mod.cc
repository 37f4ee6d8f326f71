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

void ReduceCoefficients(Polynomial& p, int64_t d) {
  size_t out = 0;
  for (Term t : p.terms) {
    t.coefficient %= d;  // keeps its sign: (-n) % 16 reads better than (15*n) % 16
    if (t.coefficient != 0) p.terms[out++] = t;
  }
  p.terms.resize(out, Term{0, 0});
  p.constant = ModBy(p.constant, d);
}

std::optional<Expr> ByOne(const RuleInput& in) {
  if (in.x[1] != 1) return std::nullopt;
  return 0;
}

std::optional<Expr> ByNegative(const RuleInput& in) {
  const std::optional<int64_t> d = in.x[1].AsInt();
  if (!d || *d >= 0 || *d == INT64_MIN) return std::nullopt;
  const Expr negated = SimplifyProduct(in.context, {-1, in.x[0]});
  return SimplifyProduct(in.context, {-1, SimplifyMod(in.context, negated, -*d)});
}

std::optional<Expr> NumberByLeast(const RuleInput& in) {
  if (in.x[1] != INT64_MIN || !in.x[0].is_const()) return std::nullopt;
  const int64_t v = *in.x[0].AsInt();
  return v > 0 ? v + INT64_MIN : v == INT64_MIN ? 0 : v;
}

std::optional<Expr> MultiplesVanish(const RuleInput& in) {
  const std::optional<int64_t> d = PositiveDivisor(in);
  if (!d) return std::nullopt;
  Polynomial p = *in.p;
  ReduceCoefficients(p, *d);
  if (p == *in.p) return std::nullopt;
  return SimplifyMod(in.context, FromPolynomial(in.context, p), *d);
}

std::optional<Expr> OfInnerRemainder(const RuleInput& in) {
  const std::optional<int64_t> d = PositiveDivisor(in);
  thread_local int depth = 0;
  const NestingLimit limit(depth);
  if (!d || limit.reached()) return std::nullopt;
  for (size_t i = 0; i < in.p->terms.size(); ++i) {
    const Term& t = in.p->terms[i];
    if (t.monomial.kind() != ExprKind::kMod) continue;
    const std::optional<int64_t> m = t.monomial.operands()[1].AsInt();
    if (!m || static_cast<__int128>(t.coefficient) * *m % *d != 0) continue;
    Polynomial without = *in.p;
    without.terms.erase(without.terms.begin() + static_cast<int64_t>(i));
    Polynomial x = ToPolynomial(t.monomial.operands()[0]);
    ReduceCoefficients(x, *d);  // so that the product below stays small
    Polynomial opened = AddScaled(without, x, t.coefficient);
    if (opened.overflow) return std::nullopt;
    ReduceCoefficients(opened, *d);
    return SimplifyMod(in.context, FromPolynomial(in.context, opened), *d);
  }
  return std::nullopt;
}

// A factor of a product that is a remainder itself.
std::optional<Expr> OfInnerFactor(const RuleInput& in) {
  const std::optional<int64_t> d = PositiveDivisor(in);
  thread_local int depth = 0;
  const NestingLimit limit(depth);
  if (!d || limit.reached()) return std::nullopt;
  for (const Term& t : in.p->terms) {
    if (t.monomial.kind() != ExprKind::kMul || t.monomial.node()->plain) continue;
    const absl::Span<const Expr> factors = t.monomial.operands();
    for (size_t i = 0; i < factors.size(); ++i) {
      if (factors[i].kind() != ExprKind::kMod) continue;
      const std::optional<int64_t> m = factors[i].operands()[1].AsInt();
      if (!m || *m % *d != 0) continue;
      absl::InlinedVector<Expr, 6> opened(factors.begin(), factors.end());
      opened[i] = factors[i].operands()[0];
      const Expr product = SimplifyProduct(in.context, opened);
      if (product.IsOverflow()) return std::nullopt;
      const Polynomial without = AddScaled(*in.p, ToPolynomial(t.monomial), -t.coefficient);
      const Polynomial sum = AddScaled(without, ToPolynomial(product), t.coefficient);
      if (sum.overflow) return std::nullopt;
      return SimplifyMod(in.context, FromPolynomial(in.context, sum), *d);
    }
  }
  return std::nullopt;
}

std::optional<Expr> CommonFactor(const RuleInput& in) {
  const std::optional<int64_t> d = PositiveDivisor(in);
  if (!d || in.p->terms.empty()) return std::nullopt;
  const int64_t g = Gcd(CoefficientGcd(*in.p), *d);
  if (g <= 1) return std::nullopt;
  Polynomial p = *in.p, remainder;
  remainder.constant = ModBy(p.constant, g);
  for (Term& t : p.terms) t.coefficient /= g;
  p.constant = FloorBy(p.constant, g);
  const Expr inner = SimplifyMod(in.context, FromPolynomial(in.context, p), *d / g);
  return FromPolynomial(in.context, AddScaled(remainder, ToPolynomial(inner), g));
}

std::optional<Expr> WithinOneQuotient(const RuleInput& in) {
  const std::optional<int64_t> d = PositiveDivisor(in);
  const std::optional<int64_t> q = d ? ConstantQuotient(IntrinsicRange(*in.p), *d) : d;
  const std::optional<int64_t> shift = q ? CheckedMul(*q, *d) : q;
  if (!shift) return std::nullopt;
  Polynomial constant;
  constant.constant = *shift;
  return FromPolynomial(in.context, AddScaled(*in.p, constant, -1));
}

std::optional<Expr> OfZero(const RuleInput& in) {
  if (in.x[0] != 0 || in.x[1].is_const()) return std::nullopt;
  return 0;
}

std::optional<Expr> OfSameRemainder(const RuleInput& in) {
  if (in.x[1].is_const()) return std::nullopt;
  for (const Term& t : in.p->terms) {
    if (t.monomial.kind() != ExprKind::kMod || t.monomial.operands()[1] != in.x[1]) continue;
    Polynomial rest = *in.p;
    rest.terms.erase(std::find(rest.terms.begin(), rest.terms.end(), t));
    const Polynomial opened =
        AddScaled(rest, ToPolynomial(t.monomial.operands()[0]), t.coefficient);
    if (opened.overflow) continue;
    return SimplifyMod(in.context, FromPolynomial(in.context, opened), in.x[1]);
  }
  return std::nullopt;
}

std::optional<Expr> CommonInteger(const RuleInput& in) {
  if (in.x[1].is_const()) return std::nullopt;
  const CommonParts parts = WithoutCommonFactor(in.context, in.x[0], in.x[1]);
  if (parts.factor == 1) return std::nullopt;
  return SimplifyProduct(in.context, {parts.factor, SimplifyMod(in.context, parts.a, parts.b)});
}

constexpr Rule kRules[] = {
    {"mod.by_one", "x % 1 = 0", "always", ByOne},
    {"mod.by_negative", "x % -d = -((-x) % d)", "d > 0 constant", ByNegative},
    {"mod.number_by_least", "c % -2**63 = c, c - 2**63 or 0", "c constant", NumberByLeast},
    {"mod.multiples_vanish", "(c*y + k) % d = ((c rem d)*y + k % d) % d",
     "d > 0 constant; some coefficient is not in (-d, d) or k not in [0, d)", MultiplesVanish},
    {"mod.of_inner_remainder", "(c*(x % m) + r) % d = (c*x + r) % d",
     "d > 0 constant, d divides c*m", OfInnerRemainder},
    {"mod.of_inner_factor", "(c*(x % m)*z + r) % d = (c*x*z + r) % d",
     "d > 0 constant divides m constant", OfInnerFactor},
    {"mod.common_factor", "(g*y + k) % (g*d) = g*((y + k//g) % d) + k % g", "g > 1, d > 0 constant",
     CommonFactor},
    {"mod.within_one_quotient", "x % d = x - q*d", "d > 0 constant, q*d <= x < q*d + d by bounds",
     WithinOneQuotient},
    {"mod.of_zero", "0 % y = 0", "y != 0, elsewhere undefined", OfZero},
    {"mod.of_same_remainder", "(c*(x % y) + r) % y = (c*x + r) % y", "y != 0, elsewhere undefined",
     OfSameRemainder},
    {"mod.common_integer", "(g*x) % (g*y) = g*(x % y)",
     "g != 0 constant; it makes the first coefficient of y positive", CommonInteger},
};

}  // namespace

absl::Span<const Rule> ModRules() { return kRules; }

Expr SimplifyMod(ExprContext* context, const Expr& x, const Expr& y) {
  if (x.IsOverflow() || y.IsOverflow()) return Expr::Overflow();
  if (x.type() == ExprType::kFloat || y.type() == ExprType::kFloat) return Expr::Overflow();
  const Expr a = AsNumber(context, x), b = AsNumber(context, y);
  if (IsInfinite(a) || IsInfinite(b) || b == 0) return Expr::Overflow();
  const Expr operands[] = {a, b};
  const Polynomial p = ToPolynomial(a);
  if (const auto e = ApplyRules(kRules, {context, ExprKind::kMod, operands, &p})) return *e;
  return ContextAccess::Intern(context, ExprKind::kMod, operands);
}

}  // namespace lathe::symbolic
