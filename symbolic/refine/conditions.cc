// Rules of comparisons and other conditions.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "symbolic/knowledge.h"
#include "symbolic/monomial.h"
#include "symbolic/real_ranges.h"
#include "symbolic/refine/divisions.h"
#include "symbolic/refine/fact_rule.h"

namespace lathe::symbolic {
namespace {

constexpr int64_t kHighestRoot = 8;

// The r >= 0 with r**n == v.
std::optional<int64_t> ExactRoot(int64_t v, int64_t n) {
  if (v < 0) return std::nullopt;
  const int64_t near = std::llround(std::pow(static_cast<double>(v), 1.0 / static_cast<double>(n)));
  for (int64_t r = std::max<int64_t>(near - 1, 0); r <= near + 1; ++r) {
    int64_t power = 1;
    bool fits = true;
    for (int64_t i = 0; i < n; ++i) fits = fits && !__builtin_mul_overflow(power, r, &power);
    if (fits && power == v) return r;
  }
  return std::nullopt;
}

bool IsEquality(const Expr& e) { return e.kind() == ExprKind::kEq || e.kind() == ExprKind::kNe; }

std::optional<Expr> Learnt(const FactRuleInput& in) {
  const std::optional<bool> truth = in.k.AsLearnt(in.e);
  return truth ? std::optional<Expr>(Expr::Bool(*truth)) : std::nullopt;
}

// The right side minus the left one; nothing where their bounds have said all that it could.
std::optional<Polynomial> OpenDifference(const FactRuleInput& in) {
  const Expr &a = in.x[0], &b = in.x[1];
  if (a.type() != ExprType::kInt || b.type() != ExprType::kInt) return std::nullopt;
  if ((a.is_const() || b.is_const()) && !IsEquality(in.e)) return std::nullopt;
  Polynomial p = Difference(b, a);
  if (p.overflow) return std::nullopt;
  return p;
}

std::optional<Expr> BoundedDifference(const FactRuleInput& in) {
  const std::optional<Polynomial> p = OpenDifference(in);
  if (!p) return std::nullopt;
  const std::optional<int64_t> truth =
      OnlyValue(RangeOfOperation(in.e.kind(), {Range{0, 0}, in.k.RangeOf(*p)}));
  return truth ? std::optional<Expr>(Expr::Bool(*truth != 0)) : std::nullopt;
}

std::optional<Expr> NeverThatRemainder(const FactRuleInput& in) {
  if (!IsEquality(in.e)) return std::nullopt;
  const std::optional<Polynomial> p = OpenDifference(in);
  if (!p || !in.k.IsNeverZeroByRemainder(*p)) return std::nullopt;
  return Expr::Bool(in.e.kind() == ExprKind::kNe);
}

// x % d + c == 0 needs x + c to be a multiple of d.
std::optional<Expr> RemainderIsNever(const FactRuleInput& in) {
  if (!IsEquality(in.e)) return std::nullopt;
  const std::optional<Polynomial> p = OpenDifference(in);
  if (!p || p->terms.size() != 1 || p->terms[0].monomial.kind() != ExprKind::kMod) {
    return std::nullopt;
  }
  const int64_t sign = p->terms[0].coefficient;
  const absl::Span<const Expr> x = p->terms[0].monomial.operands();
  const std::optional<int64_t> d = x[1].AsInt();
  if (!d || *d <= 0 || (sign != 1 && sign != -1)) return std::nullopt;
  const Polynomial shifted = AddScaled(ConstantPolynomial(p->constant), ToPolynomial(x[0]), sign);
  if (!in.k.IsNeverZeroByRemainder(shifted, *d)) return std::nullopt;
  return Expr::Bool(in.e.kind() == ExprKind::kNe);
}

// The factors of all terms: of equalities those that are not 0, of orders those that are positive.
std::optional<Expr> CommonFactorLeaves(const FactRuleInput& in) {
  if (in.x[0].type() != ExprType::kInt || in.x[1].type() != ExprType::kInt) return std::nullopt;
  const Polynomial p = Difference(in.x[1], in.x[0]);
  if (p.overflow || p.constant != 0 || p.terms.size() < 2) return std::nullopt;
  std::vector<Power> common = PowersCommonToTerms(p);
  common.erase(std::remove_if(common.begin(), common.end(),
                              [&](const Power& f) {
                                return IsEquality(in.e) ? !in.k.IsNonZero(f.base)
                                                        : in.k.RangeOf(f.base).lower < 1;
                              }),
               common.end());
  if (common.empty()) return std::nullopt;
  Polynomial divisor;
  divisor.terms.push_back({ProductOf(in.context, common), 1});
  const std::optional<Polynomial> q = DivideExactly(in.context, p, divisor);
  if (!q || q->overflow) return std::nullopt;
  return in.context->Make(in.e.kind(), {0, FromPolynomial(in.context, *q)});
}

// The n-th root of c*x**n where all its exponents and c allow one, for n > 0.
std::optional<Expr> RootOf(const Term& t, int64_t n) {
  const std::optional<int64_t> c = ExactRoot(t.coefficient, n);
  if (!c) return std::nullopt;
  Expr root = *c;
  for (const Power& f : FactorsOf(t.monomial)) {
    if (f.exponent % n != 0) return std::nullopt;
    root = root * (f.exponent == n ? f.base : Pow(f.base, f.exponent / n));
  }
  return root.IsOverflow() ? std::nullopt : std::optional<Expr>(root);
}

std::optional<Expr> OneExponent(const FactRuleInput& in) {
  for (const Expr& e : in.x) {
    const bool is_power = e.kind() == ExprKind::kPow || e.kind() == ExprKind::kMul;
    if (e.type() != ExprType::kInt || !is_power) return std::nullopt;
  }
  const Term a = ToTerm(in.x[0]), b = ToTerm(in.x[1]);
  int64_t n = 0;
  for (const Term* t : {&a, &b}) {
    for (const Power& f : FactorsOf(t->monomial)) n = std::gcd(n, f.exponent);
  }
  if (n < 2 || n > kHighestRoot) return std::nullopt;
  const std::optional<Expr> x = RootOf(a, n), y = RootOf(b, n);
  if (!x || !y) return std::nullopt;
  const Expr result = n % 2 == 1 ? in.context->Make(in.e.kind(), {*x, *y})
                                 : in.context->Make(in.e.kind(), {Abs(*x), Abs(*y)});
  return result.IsOverflow() ? std::nullopt : std::optional<Expr>(result);
}

// abs(x) of an x that is not 0 is at least what divides it.
std::optional<Expr> MagnitudeOfMultiple(const FactRuleInput& in) {
  if (in.e.kind() != ExprKind::kLe || in.x[1].kind() != ExprKind::kAbs ||
      in.x[1].type() != ExprType::kInt) {
    return std::nullopt;
  }
  const std::optional<int64_t> least = in.x[0].AsInt();
  const Expr& x = in.x[1].operands()[0];
  if (!least || in.k.DivisorOf(x) < *least || !in.k.IsNonZero(x)) return std::nullopt;
  return Expr::Bool(true);
}

// min(x, y) == x is x <= y.
std::optional<Expr> ChoiceIsOperand(const FactRuleInput& in) {
  if (!IsEquality(in.e)) return std::nullopt;
  for (const size_t i : {0, 1}) {
    const Expr &choice = in.x[i], &other = in.x[1 - i];
    const bool is_min = choice.kind() == ExprKind::kMin;
    if ((!is_min && choice.kind() != ExprKind::kMax) || choice.type() != ExprType::kInt ||
        choice.operands().size() != 2) {
      continue;
    }
    for (const size_t j : {0, 1}) {
      const Expr &x = choice.operands()[j], &y = choice.operands()[1 - j];
      if (x != other) continue;
      const Expr order = is_min ? Le(x, y) : Le(y, x);
      return in.e.kind() == ExprKind::kEq ? order : Not(order);
    }
  }
  return std::nullopt;
}

std::optional<Expr> RealBounds(const FactRuleInput& in) {
  if (in.x[0].type() != ExprType::kFloat && in.x[1].type() != ExprType::kFloat) {
    return std::nullopt;
  }
  const std::optional<bool> truth = ByRealBounds(in.k, in.e);
  return truth ? std::optional<Expr>(Expr::Bool(*truth)) : std::nullopt;
}

constexpr FactRule kComparisonRules[] = {
    {"compare.learnt", "x < y = true or false", "it, or its opposite, is a fact", Learnt},
    {"compare.real_bounds", "x < y = true or false", "a float; bounds of both sides known",
     RealBounds},
    {"compare.bounded_difference", "x < y = true or false", "bounds of y - x known",
     BoundedDifference},
    {"compare.never_that_remainder", "x == y = false", "(x - y) % m != 0 known",
     NeverThatRemainder},
    {"compare.remainder_is_never", "x % d == c = false", "(x - c) % d != 0 known",
     RemainderIsNever},
    {"compare.magnitude_of_multiple", "c <= abs(x) = true", "x != 0 and d divides x known, c <= d",
     MagnitudeOfMultiple},
    {"compare.choice_is_operand", "min(x, y) == x = x <= y, max too", "always", ChoiceIsOperand},
    {"compare.one_exponent", "x**n < y**n = x < y of an odd n, abs(x) < abs(y) of an even one",
     "n > 1 constant", OneExponent},
    {"compare.common_factor_leaves", "x*z < y*z = x < y", "z > 0 known; of == and != z != 0 known",
     CommonFactorLeaves},
};

constexpr FactRule kConditionRules[] = {
    {"condition.learnt", "c = true or false", "it, or its opposite, is a fact", Learnt},
};

}  // namespace

absl::Span<const FactRule> ComparisonRules() { return kComparisonRules; }
absl::Span<const FactRule> ConditionRules() { return kConditionRules; }

}  // namespace lathe::symbolic
