// Rules of remainders, and of divisions that truncate.

#include <algorithm>
#include <vector>

#include "symbolic/knowledge.h"
#include "symbolic/monomial.h"
#include "symbolic/refine/divisions.h"
#include "symbolic/refine/fact_rule.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/divide_common.h"

namespace lathe::symbolic {
namespace {

constexpr size_t kMostFactors = 8;
constexpr int64_t kLargestProductModulus = int64_t{1} << 31;
constexpr int64_t kHighestPower = 64;

// ---- by a number d > 1

// The remainder of the term by d if all its values have one.
std::optional<int64_t> KnownRemainder(Knowledge& k, const Term& t, int64_t d) {
  const Residue r = k.ResidueOf(t.monomial);
  if (r.modulus > 1 && static_cast<__int128>(t.coefficient) * r.modulus % d == 0) {
    return CheckedMul(t.coefficient % d, r.remainder % d);
  }
  if (IsMultiple(k, t, d)) return 0;
  // Of a product, by those of its factors.
  int64_t product = ModBy(t.coefficient, d);
  const std::vector<Power> factors = FactorsOf(t.monomial);
  if (factors.size() > kMostFactors || d > kLargestProductModulus) return std::nullopt;
  for (const Power& f : factors) {
    const Residue of = k.ResidueOf(f.base);
    if (of.modulus % d != 0 || f.exponent > kHighestPower) return std::nullopt;
    for (int64_t i = 0; i < f.exponent; ++i) product = product * (of.remainder % d) % d;
  }
  return product;
}

std::optional<Expr> KnownTerms(const FactRuleInput& in) {
  const int64_t d = *in.x[1].AsInt();
  const Polynomial p = ToPolynomial(in.x[0]);
  Polynomial rest;
  rest.constant = p.constant;
  for (const Term& t : p.terms) {
    if (const std::optional<int64_t> value = KnownRemainder(in.k, t, d)) {
      rest = AddScaled(rest, ConstantPolynomial(ModBy(*value, d)), 1);
    } else {
      rest.terms.push_back(t);
    }
    if (rest.overflow) return std::nullopt;
  }
  if (rest.terms.size() == p.terms.size()) return std::nullopt;
  return Mod(FromPolynomial(in.context, rest), d);
}

std::optional<Expr> KnownSum(const FactRuleInput& in) {
  const int64_t d = *in.x[1].AsInt();
  const Polynomial p = ToPolynomial(in.x[0]);
  if (p.terms.size() < 2 || !in.k.HasResidues()) return std::nullopt;
  const Residue r = in.k.ResidueOf(LinearPart(in.context, p));
  if (r.modulus % d != 0) return std::nullopt;
  const std::optional<int64_t> sum = CheckedAdd(ModBy(p.constant, d), r.remainder % d);
  return sum ? std::optional<Expr>(ModBy(*sum, d)) : std::nullopt;
}

std::optional<Expr> OneQuotient(const FactRuleInput& in) {
  const int64_t d = *in.x[1].AsInt();
  const Polynomial p = ToPolynomial(in.x[0]);
  const std::optional<int64_t> q = ConstantQuotient(in.k.RangeOf(p), d);
  if (!q) return std::nullopt;
  return FromPolynomial(in.context, AddScaled(p, ConstantPolynomial(*q), -d));
}

std::optional<Expr> LowDigits(const FactRuleInput& in) {
  const int64_t d = *in.x[1].AsInt();
  const std::optional<Digits> s = SplitDigits(in.k, ToPolynomial(in.x[0]), d);
  if (!s) return std::nullopt;
  return Mod(FromPolynomial(in.context, s->high), d / s->g) * s->g +
         FromPolynomial(in.context, s->low);
}

// (x//y) % z where y*z divides x; y > 0.
std::optional<Expr> OfWholeQuotient(const FactRuleInput& in) {
  if (in.x[0].kind() != ExprKind::kFloorDiv) return std::nullopt;
  const absl::Span<const Expr> inner = in.x[0].operands();
  if (inner[1].is_const() || in.k.RangeOf(inner[1]).lower < 1) return std::nullopt;
  const Expr whole = Mod(inner[0], inner[1] * in.x[1]);
  if (whole.IsOverflow() || in.k.RangeOf(whole) != Range{0, 0}) return std::nullopt;
  return 0;
}

constexpr FactRule kByNumberRules[] = {
    {"mod.known_terms", "(x + r) % d = (x % d + r) % d", "x % d known", KnownTerms},
    {"mod.known_sum", "(x + y + c) % d = its value", "(x + y) % d known", KnownSum},
    {"mod.one_quotient", "x % d = x - q*d", "q*d <= x < q*d + d known", OneQuotient},
    {"mod.low_digits", "(g*x + r) % d = g*(x % (d//g)) + r", "g divides d, 0 <= r < g known",
     LowDigits},
    {"mod.of_whole_quotient", "(x//y) % d = 0", "x % (y*d) = 0 and y > 0 known", OfWholeQuotient},
};

// ---- by anything else

std::optional<Expr> WholeTerms(const FactRuleInput& in) {
  if (!in.k.IsNonZero(in.x[1])) return std::nullopt;
  const auto d = DivideTerms(in.context, ToPolynomial(in.x[0]), ToPolynomial(in.x[1]));
  if (!d) return std::nullopt;
  return Mod(FromPolynomial(in.context, d->rest), in.x[1]);
}

std::optional<Expr> WholeSum(const FactRuleInput& in) {
  if (!in.k.IsNonZero(in.x[1])) return std::nullopt;
  const auto q = DivideBySum(in.context, ToPolynomial(in.x[0]), ToPolynomial(in.x[1]));
  return q ? std::optional<Expr>(0) : std::nullopt;
}

std::optional<Expr> NearZero(const FactRuleInput& in) {
  const std::optional<int64_t> q = SmallQuotient(in.k, in.x[0], in.x[1]);
  return q ? std::optional<Expr>(in.x[0] - in.x[1] * *q) : std::nullopt;
}

std::optional<Expr> CommonFactorLeaves(const FactRuleInput& in) {
  const std::optional<CommonDivision> d = WithoutCommonFactor(in);
  if (!d) return std::nullopt;
  return d->factor * Mod(d->x, d->y);
}

std::optional<Expr> OfInnerMultiple(const FactRuleInput& in) {
  const Polynomial x = ToPolynomial(in.x[0]), y = ToPolynomial(in.x[1]);
  if (y.terms.size() != 1 || y.constant != 0) return std::nullopt;
  for (const Term& t : x.terms) {
    if (t.monomial.kind() != ExprKind::kMod) continue;
    const absl::Span<const Expr> inner = t.monomial.operands();
    const Polynomial m = ToPolynomial(inner[1]);
    if (m.terms.size() != 1 || m.constant != 0) continue;
    const int64_t d = y.terms[0].coefficient;
    if (d == -1 || m.terms[0].coefficient % d != 0) continue;
    if (!DivideMonomial(in.context, m.terms[0].monomial, y.terms[0].monomial)) continue;
    Polynomial one;
    one.terms.push_back(t);
    const Polynomial rest = AddScaled(x, one, -1);
    const Polynomial opened = AddScaled(rest, ToPolynomial(inner[0]), t.coefficient);
    if (opened.overflow) continue;
    return Mod(FromPolynomial(in.context, opened), in.x[1]);
  }
  return std::nullopt;
}

// x % y = 0, of x or a factor of it.
bool IsKnownMultiple(const FactRuleInput& in, const Expr& x) {
  const auto is_multiple = [&](const Expr& e) {
    const Expr rest = Mod(e, in.x[1]);
    return rest == 0 || (!rest.IsOverflow() && in.k.RangeOf(rest) == Range{0, 0});
  };
  if (is_multiple(x)) return true;
  if (x.kind() != ExprKind::kMul && x.kind() != ExprKind::kPow) return false;
  const std::vector<Power> factors = FactorsOf(x);
  return factors.size() <= kMostFactors &&
         std::any_of(factors.begin(), factors.end(),
                     [&](const Power& f) { return is_multiple(f.base); });
}

std::optional<Expr> KnownMultiples(const FactRuleInput& in) {
  const Polynomial p = ToPolynomial(in.x[0]);
  if (p.terms.size() > kMostFactors || !in.k.IsNonZero(in.x[1])) return std::nullopt;
  Polynomial rest;
  rest.constant = p.constant;
  for (const Term& t : p.terms) {
    if (!IsKnownMultiple(in, t.monomial)) rest.terms.push_back(t);
  }
  if (rest.terms.size() == p.terms.size()) return std::nullopt;
  return Mod(FromPolynomial(in.context, rest), in.x[1]);
}

constexpr FactRule kRules[] = {
    {"mod.known_multiples", "(c*x*z + r) % y = r % y", "x % y = 0 known, at most 8 terms",
     KnownMultiples},
    {"mod.of_inner_multiple", "(c*(x % (y*z)) + r) % y = (c*x + r) % y", "always, a product y",
     OfInnerMultiple},
    {"mod.common_factor_leaves", "(z*x) % (z*y) = z*(x % y)", "z != 0 known", CommonFactorLeaves},
    {"mod.whole_terms", "(y*z + r) % y = r % y", "one product; y != 0 known where r is 0",
     WholeTerms},
    {"mod.whole_sum", "(y*z) % y = 0", "y != 0 known, a sum", WholeSum},
    {"mod.near_zero", "x % y = x - q*y", "q*y <= x < q*y + y known, -1 <= q <= 1", NearZero},
};

// ---- that truncate

bool AreNonNegative(const FactRuleInput& in) {
  return in.k.RangeOf(in.x[0]).lower >= 0 && in.k.RangeOf(in.x[1]).lower >= 0;
}

std::optional<Expr> TruncatedQuotient(const FactRuleInput& in) {
  if (in.e.kind() != ExprKind::kTruncDiv || !AreNonNegative(in)) return std::nullopt;
  return FloorDiv(in.x[0], in.x[1]);
}

std::optional<Expr> TruncatedRemainder(const FactRuleInput& in) {
  if (in.e.kind() != ExprKind::kTruncMod || !AreNonNegative(in)) return std::nullopt;
  return Mod(in.x[0], in.x[1]);
}

// A dividend that is not positive, by a divisor that is not negative.
std::optional<Expr> Opposite(const FactRuleInput& in) {
  if (in.k.RangeOf(in.x[0]).upper > 0 || in.k.RangeOf(in.x[1]).lower < 0) return std::nullopt;
  return -in.x[0];
}

std::optional<Expr> QuotientOfNegative(const FactRuleInput& in) {
  const std::optional<Expr> x = Opposite(in);
  if (in.e.kind() != ExprKind::kTruncDiv || !x) return std::nullopt;
  return -FloorDiv(*x, in.x[1]);
}

std::optional<Expr> RemainderOfNegative(const FactRuleInput& in) {
  const std::optional<Expr> x = Opposite(in);
  if (in.e.kind() != ExprKind::kTruncMod || !x) return std::nullopt;
  return -Mod(*x, in.x[1]);
}

constexpr FactRule kTruncationRules[] = {
    {"trunc_div.of_non_negative", "trunc_div(x, y) = x//y", "x, y >= 0 known", TruncatedQuotient},
    {"trunc_mod.of_non_negative", "trunc_mod(x, y) = x % y", "x, y >= 0 known", TruncatedRemainder},
    {"trunc_div.of_negative", "trunc_div(x, y) = -((-x)//y)", "x <= 0 <= y known",
     QuotientOfNegative},
    {"trunc_mod.of_negative", "trunc_mod(x, y) = -((-x) % y)", "x <= 0 <= y known",
     RemainderOfNegative},
};

}  // namespace

absl::Span<const FactRule> RemainderByNumberRules() { return kByNumberRules; }
absl::Span<const FactRule> RemainderRules() { return kRules; }
absl::Span<const FactRule> TruncationRules() { return kTruncationRules; }

}  // namespace lathe::symbolic
