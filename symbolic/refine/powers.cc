// Rules of powers whose exponents are no numbers.

#include "symbolic/knowledge.h"
#include "symbolic/refine/fact_rule.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {
namespace {

constexpr int64_t kLargestApart = 62;

std::optional<Expr> ExponentApart(const FactRuleInput& in) {
  if (in.x[1].kind() != ExprKind::kAdd) return std::nullopt;
  Polynomial exponent = ToPolynomial(in.x[1]);
  const int64_t c = exponent.constant;
  if (exponent.overflow || c <= 0 || c > kLargestApart) return std::nullopt;
  exponent.constant = 0;
  if (in.k.RangeOf(exponent).lower < 0) return std::nullopt;
  return Pow(in.x[0], c) * Pow(in.x[0], FromPolynomial(in.context, exponent));
}

constexpr FactRule kRules[] = {
    {"pow.exponent_apart", "x**(y + c) = x**c*x**y", "0 <= y known, 0 < c <= 62", ExponentApart},
};

}  // namespace

absl::Span<const FactRule> PowerRules() { return kRules; }

}  // namespace lathe::symbolic
