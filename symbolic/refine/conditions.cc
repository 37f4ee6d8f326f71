// Rules of comparisons and other conditions.

#include <algorithm>
#include <vector>

#include "symbolic/knowledge.h"
#include "symbolic/monomial.h"
#include "symbolic/real_ranges.h"
#include "symbolic/refine/divisions.h"
#include "symbolic/refine/fact_rule.h"

namespace lathe::symbolic {
namespace {

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
