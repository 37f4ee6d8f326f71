// Rules of anything whose value is known, and of products that hold an exact quotient.

#include <algorithm>

#include "symbolic/knowledge.h"
#include "symbolic/monomial.h"
#include "symbolic/refine/fact_rule.h"

namespace lathe::symbolic {
namespace {

std::optional<Expr> OneValue(const FactRuleInput& in) {
  const std::optional<int64_t> v = OnlyValue(in.k.RangeOf(in.e));
  if (!v) return std::nullopt;
  return in.e.type() == ExprType::kBool ? Expr::Bool(*v != 0) : Expr(*v);
}

constexpr FactRule kValueRules[] = {
    {"any.one_value", "x = v", "v <= x <= v known", OneValue},
};

bool HasQuotientAsFactor(const Expr& monomial) {
  if (monomial.kind() == ExprKind::kFloorDiv) return true;
  if (monomial.kind() != ExprKind::kMul || monomial.node()->plain) return false;
  const absl::Span<const Expr> x = monomial.operands();
  return std::any_of(x.begin(), x.end(),
                     [](const Expr& f) { return f.kind() == ExprKind::kFloorDiv; });
}

// Calls `replace(x, y, others)` for each factor x//y of the term until that gives something.
template <typename Replace>
std::optional<Expr> ForQuotients(const FactRuleInput& in, const Term& t, Replace replace) {
  if (!HasQuotientAsFactor(t.monomial)) return std::nullopt;
  for (const Power& f : FactorsOf(t.monomial)) {
    if (f.exponent != 1 || f.base.kind() != ExprKind::kFloorDiv) continue;
    const std::optional<Expr> others = DivideMonomial(in.context, t.monomial, f.base);
    if (!others) continue;
    const absl::Span<const Expr> x = f.base.operands();
    if (const std::optional<Expr> result = replace(x[0], x[1], *others)) return result;
  }
  return std::nullopt;
}

std::optional<Expr> ExactByNumber(const FactRuleInput& in) {
  const Term t = ToTerm(in.e);
  return ForQuotients(
      in, t, [&](const Expr& x, const Expr& y, const Expr& others) -> std::optional<Expr> {
        const std::optional<int64_t> d = y.AsInt();
        if (!d || *d <= 0 || t.coefficient % *d != 0 || in.k.DivisorOf(x) % *d != 0) {
          return std::nullopt;
        }
        return x * others * (t.coefficient / *d);
      });
}

std::optional<Expr> ExactByFactor(const FactRuleInput& in) {
  const Term t = ToTerm(in.e);
  return ForQuotients(
      in, t, [&](const Expr& x, const Expr& y, const Expr& others) -> std::optional<Expr> {
        const Polynomial divisor = ToPolynomial(y);
        if (divisor.terms.size() != 1 || divisor.constant != 0) return std::nullopt;
        const Term& d = divisor.terms[0];
        if (t.coefficient % d.coefficient != 0) return std::nullopt;
        const std::optional<Expr> rest = DivideMonomial(in.context, others, d.monomial);
        if (!rest || in.k.RangeOf(Mod(x, y)) != Range{0, 0}) return std::nullopt;
        return x * *rest * (t.coefficient / d.coefficient);
      });
}

constexpr FactRule kTermRules[] = {
    {"term.exact_by_number", "c*d*(x//d)*z = c*x*z", "d > 0 constant, d divides x", ExactByNumber},
    {"term.exact_by_factor", "c*y*(x//y)*z = c*x*z", "x % y = 0 known", ExactByFactor},
};

}  // namespace

absl::Span<const FactRule> ValueRules() { return kValueRules; }
absl::Span<const FactRule> TermRules() { return kTermRules; }

}  // namespace lathe::symbolic
