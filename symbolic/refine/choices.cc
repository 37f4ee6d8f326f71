// Rules of operations that are one of their operands: minimum, maximum, absolute value.

#include <vector>

#include "absl/container/inlined_vector.h"
#include "symbolic/knowledge.h"
#include "symbolic/monomial.h"
#include "symbolic/refine/fact_rule.h"

namespace lathe::symbolic {
namespace {

constexpr size_t kMostCompared = 6;

std::optional<Expr> NonNegativeAbs(const FactRuleInput& in) {
  if (in.e.kind() != ExprKind::kAbs || in.k.RangeOf(in.x[0]).lower < 0) return std::nullopt;
  return in.x[0];
}

std::optional<Expr> NonPositiveAbs(const FactRuleInput& in) {
  if (in.e.kind() != ExprKind::kAbs || in.k.RangeOf(in.x[0]).upper > 0) return std::nullopt;
  return -in.x[0];
}

// Without the first operand that another one beats; `sign` 1: of a minimum.
std::optional<Expr> WithoutBeaten(const FactRuleInput& in, int64_t sign) {
  if (in.e.type() != ExprType::kInt || in.x.size() > kMostCompared) return std::nullopt;
  for (size_t i = 0; i < in.x.size(); ++i) {
    for (size_t j = 0; j < in.x.size(); ++j) {
      if (i == j) continue;
      if (!in.k.IsNonNegative(Scaled(Difference(in.x[i], in.x[j]), sign))) continue;
      absl::InlinedVector<Expr, 6> kept(in.x.begin(), in.x.end());
      kept.erase(kept.begin() + static_cast<int64_t>(i));
      return kept.size() == 1 ? kept[0] : in.context->Make(in.e.kind(), kept);
    }
  }
  return std::nullopt;
}

std::optional<Expr> BeatenMinimum(const FactRuleInput& in) {
  return in.e.kind() == ExprKind::kMin ? WithoutBeaten(in, 1) : std::nullopt;
}

std::optional<Expr> BeatenMaximum(const FactRuleInput& in) {
  return in.e.kind() == ExprKind::kMax ? WithoutBeaten(in, -1) : std::nullopt;
}

// Of operands that are one product each.
std::optional<Expr> CommonFactor(const FactRuleInput& in) {
  const bool chooses = in.e.kind() == ExprKind::kMin || in.e.kind() == ExprKind::kMax;
  if (!chooses || in.e.type() != ExprType::kInt || in.x.size() > kMostCompared) return std::nullopt;
  std::vector<Power> common;
  for (const Expr& o : in.x) {
    if (o.kind() != ExprKind::kMul && o.kind() != ExprKind::kPow && !o.is_symbol()) {
      return std::nullopt;
    }
    const std::vector<Power> own = FactorsOf(ToTerm(o).monomial);
    common = o == in.x[0] ? own : CommonPowers(common, own);
    if (common.empty()) return std::nullopt;
  }
  const Expr factor = ProductOf(in.context, common);
  if (in.k.RangeOf(factor).lower < 0) return std::nullopt;
  absl::InlinedVector<Expr, 6> rest;
  for (const Expr& o : in.x) {
    const Term t = ToTerm(o);
    const std::optional<Expr> q = DivideMonomial(in.context, t.monomial, factor);
    if (!q) return std::nullopt;
    rest.push_back(*q * t.coefficient);
  }
  return factor * in.context->Make(in.e.kind(), rest);
}

constexpr FactRule kRules[] = {
    {"abs.of_non_negative", "abs(x) = x", "x >= 0 known", NonNegativeAbs},
    {"abs.of_non_positive", "abs(x) = -x", "x <= 0 known", NonPositiveAbs},
    {"min.beaten", "min(x, y) = y", "x >= y known, at most 6 operands", BeatenMinimum},
    {"max.beaten", "max(x, y) = y", "x <= y known, at most 6 operands", BeatenMaximum},
    {"choice.common_factor", "min(x*y, x*z) = x*min(y, z), max too",
     "x >= 0 known, products of at most 6", CommonFactor},
};

}  // namespace

absl::Span<const FactRule> ChoiceRules() { return kRules; }

}  // namespace lathe::symbolic
