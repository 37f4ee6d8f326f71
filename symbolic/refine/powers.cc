// Rules of powers of a number whose exponents are no numbers: "8*2**k" is 2 to the k + 3.

#include <vector>

#include "symbolic/knowledge.h"
#include "symbolic/monomial.h"
#include "symbolic/refine/divisions.h"
#include "symbolic/refine/fact_rule.h"
#include "symbolic/simplify/checked.h"

namespace lathe::symbolic {
namespace {

constexpr int64_t kLargestApart = 62;

struct PowerOfNumber {
  int64_t number;  // 2 or more
  Expr exponent;
};

// The number and the exponent of c**e, or (c**e)**n.
std::optional<PowerOfNumber> OfFactor(const Power& f) {
  const bool inside = f.base.kind() == ExprKind::kPow;
  if (!inside) return std::nullopt;
  const std::optional<int64_t> c = f.base.operands()[0].AsInt();
  if (!c || *c < 2 || f.exponent < 1) return std::nullopt;
  return PowerOfNumber{*c, f.base.operands()[1] * f.exponent};
}

// The n with c**n == v.
std::optional<int64_t> ExactLogarithm(int64_t c, int64_t v) {
  int64_t n = 0;
  for (; v > 1 && v % c == 0; v /= c) ++n;
  return v == 1 ? std::optional<int64_t>(n) : std::nullopt;
}

// The largest n with c**n <= v, for v >= 1.
int64_t FloorLogarithm(int64_t c, int64_t v) {
  int64_t n = 0;
  for (; v >= c; v /= c) ++n;
  return n;
}

bool IsNatural(Knowledge& k, const Expr& exponent) {
  return !exponent.IsOverflow() && k.RangeOf(exponent).lower >= 0;
}

// `e` = number**exponent with an exponent known to be >= 0: "4*2**k" is 2**(k + 2).
std::optional<PowerOfNumber> PowerOfNumberIn(Knowledge& k, const Expr& e) {
  if (e.type() != ExprType::kInt || e.is_const() || e.kind() == ExprKind::kAdd) return std::nullopt;
  const Term t = ToTerm(e);
  if (t.monomial.kind() != ExprKind::kPow) return std::nullopt;
  Power f = {t.monomial, 1};
  if (t.monomial.operands()[1].is_const()) f = FactorsOf(t.monomial)[0];
  std::optional<PowerOfNumber> p = OfFactor(f);
  if (!p || t.coefficient < 1) return std::nullopt;
  const std::optional<int64_t> more = ExactLogarithm(p->number, t.coefficient);
  if (!more || !IsNatural(k, p->exponent)) return std::nullopt;
  p->exponent = p->exponent + *more;
  return p->exponent.IsOverflow() ? std::nullopt : p;
}

std::optional<Expr> ExponentApart(const FactRuleInput& in) {
  if (in.x[1].is_const()) return std::nullopt;
  const int64_t least = in.k.RangeOf(in.x[1]).lower;
  if (least < 1 || least > kLargestApart) return std::nullopt;
  return Pow(in.x[0], least) * Pow(in.x[0], in.x[1] - least);
}

constexpr FactRule kRules[] = {
    {"pow.exponent_apart", "x**y = x**c*x**(y - c)", "c <= y known, 0 < c <= 62", ExponentApart},
};

// ---- products

std::optional<Expr> OneBase(const FactRuleInput& in) {
  const Term t = ToTerm(in.e);
  const std::vector<Power> factors = FactorsOf(t.monomial);
  for (size_t i = 0; i < factors.size(); ++i) {
    const std::optional<PowerOfNumber> a = OfFactor(factors[i]);
    if (!a || !IsNatural(in.k, a->exponent)) continue;
    for (size_t j = i + 1; j < factors.size(); ++j) {
      const std::optional<PowerOfNumber> b = OfFactor(factors[j]);
      if (!b || b->number != a->number || !IsNatural(in.k, b->exponent)) continue;
      Expr product = Pow(a->number, a->exponent + b->exponent) * t.coefficient;
      for (size_t n = 0; n < factors.size(); ++n) {
        if (n != i && n != j) product = product * Pow(factors[n].base, factors[n].exponent);
      }
      return product;
    }
  }
  return std::nullopt;
}

constexpr FactRule kProductRules[] = {
    {"term.powers_of_one_number", "c**x*c**y*z = c**(x + y)*z", "x, y >= 0 known", OneBase},
};

// ---- quotients and remainders

// A term as a power of a number times something else.
struct Dividend {
  Expr exponent, rest;
};
std::optional<Dividend> PowerInside(Knowledge& k, const Expr& e, int64_t number) {
  if (e.is_const() || e.kind() == ExprKind::kAdd) return std::nullopt;
  const Term t = ToTerm(e);
  Dividend d = {0, t.coefficient};
  bool found = false;
  for (const Power& f : FactorsOf(t.monomial)) {
    const std::optional<PowerOfNumber> p = OfFactor(f);
    if (p && p->number == number && IsNatural(k, p->exponent)) {
      d.exponent = d.exponent + p->exponent;
      found = true;
    } else {
      d.rest = d.rest * Pow(f.base, f.exponent);
    }
  }
  return found ? std::optional<Dividend>(d) : std::nullopt;
}

// x // y of powers of one number where the exponent of y is not above that of x.
std::optional<Expr> ExactPowerQuotient(const FactRuleInput& in) {
  const std::optional<PowerOfNumber> y = PowerOfNumberIn(in.k, in.x[1]);
  if (!y) return std::nullopt;
  const std::optional<Dividend> x = PowerInside(in.k, in.x[0], y->number);
  if (!x) return std::nullopt;
  const Expr apart = x->exponent - y->exponent;
  if (apart.IsOverflow() || !in.k.IsNonNegative(ToPolynomial(apart))) return std::nullopt;
  const Expr quotient = Pow(y->number, apart) * x->rest;
  return quotient.IsOverflow() ? std::nullopt : std::optional<Expr>(quotient);
}

std::optional<Expr> QuotientOfPowers(const FactRuleInput& in) { return ExactPowerQuotient(in); }

std::optional<Expr> RemainderOfPowers(const FactRuleInput& in) {
  return ExactPowerQuotient(in) ? std::optional<Expr>(0) : std::nullopt;
}

constexpr FactRule kQuotientRules[] = {
    {"floor_div.of_powers", "(c**x*z)//c**y = c**(x - y)*z", "x >= y >= 0 known", QuotientOfPowers},
};
constexpr FactRule kRemainderRules[] = {
    {"mod.of_powers", "(c**x*z) % c**y = 0", "x >= y >= 0 known", RemainderOfPowers},
};

// ---- comparisons

std::optional<Expr> PowersOfOneNumber(const FactRuleInput& in) {
  const std::optional<PowerOfNumber> a = PowerOfNumberIn(in.k, in.x[0]);
  const std::optional<PowerOfNumber> b = PowerOfNumberIn(in.k, in.x[1]);
  if (!a || !b || a->number != b->number) return std::nullopt;
  const Expr result = in.context->Make(in.e.kind(), {a->exponent, b->exponent});
  return result.IsOverflow() ? std::nullopt : std::optional<Expr>(result);
}

std::optional<Expr> PowerAndNumber(const FactRuleInput& in) {
  const bool left = in.x[0].is_const();
  if (left == in.x[1].is_const()) return std::nullopt;
  const std::optional<PowerOfNumber> p = PowerOfNumberIn(in.k, in.x[left ? 1 : 0]);
  const std::optional<int64_t> v = in.x[left ? 0 : 1].AsInt();
  if (!p || !v || *v < 1) return std::nullopt;
  const std::optional<int64_t> exact = ExactLogarithm(p->number, *v);
  if (in.e.kind() == ExprKind::kEq || in.e.kind() == ExprKind::kNe) {
    if (!exact) return Expr::Bool(in.e.kind() == ExprKind::kNe);
    return in.context->Make(in.e.kind(), {p->exponent, *exact});
  }
  if (in.e.kind() != ExprKind::kLe) return std::nullopt;
  const int64_t below = FloorLogarithm(p->number, *v);
  return left ? Le(exact ? *exact : below + 1, p->exponent) : Le(p->exponent, below);
}

constexpr FactRule kComparisonRules[] = {
    {"compare.powers_of_one_number", "c**x < c**y = x < y", "x, y >= 0 known, c > 1",
     PowersOfOneNumber},
    {"compare.power_and_number", "c**x <= d = x <= log(d)", "x >= 0 known, c > 1, d > 0 constant",
     PowerAndNumber},
};

// ---- bits

std::optional<Expr> MaskOfPower(const FactRuleInput& in) {
  if (in.e.kind() != ExprKind::kBitAnd) return std::nullopt;
  for (const size_t mask : {0, 1}) {
    const Expr size = in.x[mask] + 1;
    if (size.IsOverflow() || size.is_const()) continue;
    const std::optional<PowerOfNumber> p = PowerOfNumberIn(in.k, size);
    if (p && p->number == 2) return Mod(in.x[1 - mask], size);
  }
  return std::nullopt;
}

constexpr FactRule kBitRules[] = {
    {"bits.mask_of_power", "x & (2**y - 1) = x % 2**y", "y >= 0 known", MaskOfPower},
};

}  // namespace

absl::Span<const FactRule> PowerRules() { return kRules; }
absl::Span<const FactRule> PowerProductRules() { return kProductRules; }
absl::Span<const FactRule> PowerQuotientRules() { return kQuotientRules; }
absl::Span<const FactRule> PowerRemainderRules() { return kRemainderRules; }
absl::Span<const FactRule> PowerComparisonRules() { return kComparisonRules; }
absl::Span<const FactRule> BitFactRules() { return kBitRules; }

}  // namespace lathe::symbolic
