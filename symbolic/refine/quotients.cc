// Rules of floor divisions.

#include <algorithm>
#include <vector>

#include "symbolic/knowledge.h"
#include "symbolic/monomial.h"
#include "symbolic/refine/divisions.h"
#include "symbolic/refine/fact_rule.h"

namespace lathe::symbolic {
namespace {

// ---- by a number d > 1

std::optional<Expr> MultiplesApart(const FactRuleInput& in) {
  const int64_t d = *in.x[1].AsInt();
  const Polynomial p = ToPolynomial(in.x[0]);
  Polynomial multiple, rest;
  for (const Term& t : p.terms) (IsMultiple(in.k, t, d) ? multiple : rest).terms.push_back(t);
  rest.constant = p.constant;
  if (multiple.terms.empty() || (rest.terms.empty() && rest.constant == 0)) return std::nullopt;
  return FloorDiv(FromPolynomial(in.context, multiple), d) +
         FloorDiv(FromPolynomial(in.context, rest), d);
}

std::optional<Expr> LowDigits(const FactRuleInput& in) {
  const int64_t d = *in.x[1].AsInt();
  const std::optional<Digits> s = SplitDigits(in.k, ToPolynomial(in.x[0]), d);
  if (!s) return std::nullopt;
  return FloorDiv(FromPolynomial(in.context, s->high), d / s->g);
}

constexpr FactRule kByNumberRules[] = {
    {"floor_div.multiples_apart", "(m + r)//d = m//d + r//d", "d divides m", MultiplesApart},
    {"floor_div.low_digits", "(g*x + r)//d = x//(d//g)", "g divides d, 0 <= r < g known",
     LowDigits},
};

// ---- by anything else

std::optional<Expr> OfFactors(const FactRuleInput& in) {
  const Polynomial x = ToPolynomial(in.x[0]), y = ToPolynomial(in.x[1]);
  if (x.terms.size() != 1 || x.constant != 0 || y.terms.size() != 1 || y.constant != 0) {
    return std::nullopt;
  }
  const int64_t c = x.terms[0].coefficient, d = y.terms[0].coefficient;
  if (d == -1 || c % d != 0) return std::nullopt;
  const std::optional<Expr> q =
      DivideMonomial(in.context, x.terms[0].monomial, y.terms[0].monomial);
  return q && in.k.IsNonZero(in.x[1]) ? std::optional<Expr>(*q * (c / d)) : std::nullopt;
}

std::optional<Expr> CommonFactorLeaves(const FactRuleInput& in) {
  const std::optional<CommonDivision> d = WithoutCommonFactor(in);
  return d ? std::optional<Expr>(FloorDiv(d->x, d->y)) : std::nullopt;
}

std::optional<Expr> WholeTerms(const FactRuleInput& in) {
  if (!in.k.IsNonZero(in.x[1])) return std::nullopt;
  const auto d = DivideTerms(in.context, ToPolynomial(in.x[0]), ToPolynomial(in.x[1]));
  if (!d) return std::nullopt;
  return FromPolynomial(in.context, d->quotient) +
         FloorDiv(FromPolynomial(in.context, d->rest), in.x[1]);
}

std::optional<Expr> WholeSum(const FactRuleInput& in) {
  if (!in.k.IsNonZero(in.x[1])) return std::nullopt;
  const auto q = DivideBySum(in.context, ToPolynomial(in.x[0]), ToPolynomial(in.x[1]));
  return q ? std::optional<Expr>(FromPolynomial(in.context, *q)) : std::nullopt;
}

std::optional<Expr> OfQuotient(const FactRuleInput& in) {
  if (in.x[0].kind() != ExprKind::kFloorDiv || in.k.RangeOf(in.x[1]).lower < 1) {
    return std::nullopt;
  }
  const absl::Span<const Expr> inner = in.x[0].operands();
  return FloorDiv(inner[0], inner[1] * in.x[1]);
}

std::optional<Expr> OfKnownRemainder(const FactRuleInput& in) {
  if (in.x[0].kind() != ExprKind::kMod) return std::nullopt;
  const absl::Span<const Expr> inner = in.x[0].operands();
  const Polynomial m = ToPolynomial(inner[1]), y = ToPolynomial(in.x[1]);
  if (m.terms.size() != 1 || m.constant != 0 || y.terms.size() != 1 || y.constant != 0) {
    return std::nullopt;
  }
  const int64_t c = m.terms[0].coefficient, d = y.terms[0].coefficient;
  if (d < 1 || c % d != 0 || in.k.RangeOf(in.x[1]).lower < 1) return std::nullopt;
  const std::optional<Expr> z =
      DivideMonomial(in.context, m.terms[0].monomial, y.terms[0].monomial);
  if (!z || in.k.RangeOf(*z * (c / d)).lower < 1) return std::nullopt;
  return Mod(FloorDiv(inner[0], in.x[1]), *z * (c / d));
}

std::optional<Expr> OfNegative(const FactRuleInput& in) {
  if (in.x[0].is_const() || in.k.RangeOf(in.x[1]).lower < 1) return std::nullopt;
  const Polynomial p = ToPolynomial(in.x[0]);
  if (p.overflow || p.terms[0].coefficient >= 0) return std::nullopt;
  const Expr positive = -in.x[0] - 1;
  return positive.IsOverflow() ? std::nullopt
                               : std::optional<Expr>(-FloorDiv(positive, in.x[1]) - 1);
}

std::optional<Expr> NearZero(const FactRuleInput& in) {
  const std::optional<int64_t> q = SmallQuotient(in.k, in.x[0], in.x[1]);
  return q ? std::optional<Expr>(*q) : std::nullopt;
}

constexpr FactRule kRules[] = {
    {"floor_div.of_factors", "(c*d*y*z)//(d*y) = c*z", "y != 0 known, one product each", OfFactors},
    {"floor_div.common_factor_leaves", "(z*x)//(z*y) = x//y", "z != 0 known", CommonFactorLeaves},
    {"floor_div.whole_terms", "(y*z + r)//y = z + r//y", "one product; y != 0 known where r is 0",
     WholeTerms},
    {"floor_div.whole_sum", "(y*z)//y = z", "y != 0 known, a sum", WholeSum},
    {"floor_div.of_known_quotient", "(x//y)//z = x//(y*z)", "z > 0 known", OfQuotient},
    {"floor_div.of_known_remainder", "(x % (y*z))//y = (x//y) % z", "y, z > 0 known, one product",
     OfKnownRemainder},
    {"floor_div.of_negative", "(-x)//y = -((x - 1)//y) - 1", "y > 0 known", OfNegative},
    {"floor_div.near_zero", "x//y = q", "q*y <= x < q*y + y known, -1 <= q <= 1", NearZero},
};

}  // namespace

absl::Span<const FactRule> QuotientByNumberRules() { return kByNumberRules; }
absl::Span<const FactRule> QuotientRules() { return kRules; }

}  // namespace lathe::symbolic
