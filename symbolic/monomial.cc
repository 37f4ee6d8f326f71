#include "symbolic/monomial.h"

#include <algorithm>

#include "symbolic/simplify/checked.h"

namespace lathe::symbolic {
namespace {

Power ToPower(const Expr& e) {
  if (e.kind() == ExprKind::kPow && e.operands()[1].is_const()) {
    return {e.operands()[0], *e.operands()[1].AsInt()};
  }
  return {e, 1};
}

Expr ProductOf(ExprContext* context, const std::vector<Power>& powers) {
  std::vector<Expr> factors;
  for (const Power& p : powers) {
    if (p.exponent > 0) factors.push_back(Pow(p.base, p.exponent));
  }
  if (factors.empty()) return 1;
  return factors.size() == 1 ? factors[0] : context->Make(ExprKind::kMul, factors);
}

}  // namespace

std::vector<Power> FactorsOf(const Expr& monomial) {
  std::vector<Power> powers;
  if (monomial.is_const()) return powers;
  if (monomial.kind() != ExprKind::kMul) return {ToPower(monomial)};
  for (const Expr& f : monomial.operands()) {
    if (!f.is_const()) powers.push_back(ToPower(f));
  }
  return powers;
}

std::optional<Expr> DivideMonomial(ExprContext* context, const Expr& a, const Expr& b) {
  if (a == b) return 1;
  std::vector<Power> powers = FactorsOf(a);
  for (const Power& d : FactorsOf(b)) {
    const auto it = std::find_if(powers.begin(), powers.end(),
                                 [&](const Power& p) { return p.base == d.base; });
    if (it == powers.end() || it->exponent < d.exponent) return std::nullopt;
    it->exponent -= d.exponent;
  }
  return ProductOf(context, powers);
}

Polynomial MultiplyByTerm(ExprContext* context, const Polynomial& p, const Term& t) {
  const std::optional<int64_t> constant = CheckedMul(p.constant, t.coefficient);
  Polynomial r;
  r.overflow = p.overflow || !constant;
  if (r.overflow) return r;
  if (t.monomial.is_const()) {
    r.constant = *constant;
  } else if (*constant != 0) {
    r.terms.push_back({t.monomial, *constant});
  }
  for (const Term& x : p.terms) {
    const std::optional<int64_t> c = CheckedMul(x.coefficient, t.coefficient);
    if (!c) {
      r.overflow = true;
      return r;
    }
    const Expr factors[] = {x.monomial, t.monomial};
    r = AddScaled(r, ToPolynomial(context->Make(ExprKind::kMul, factors)), *c);
  }
  return r;
}

std::optional<Polynomial> DivideExactly(ExprContext* context, Polynomial a, const Polynomial& b) {
  if (b.overflow || a.overflow || b.terms.empty()) return std::nullopt;
  const Term& lead = b.terms[0];
  Polynomial quotient;
  for (int i = 0; i < 16; ++i) {
    if (a.overflow) return std::nullopt;
    if (a.terms.empty()) {
      if (a.constant != 0) return std::nullopt;
      return quotient;
    }
    const Term top = a.terms[0];
    if (top.coefficient % lead.coefficient != 0) return std::nullopt;
    if (top.coefficient == INT64_MIN && lead.coefficient == -1) return std::nullopt;
    const std::optional<Expr> m = DivideMonomial(context, top.monomial, lead.monomial);
    if (!m) return std::nullopt;
    const Term t = {*m, top.coefficient / lead.coefficient};
    a = AddScaled(a, MultiplyByTerm(context, b, t), -1);
    Polynomial one;
    if (t.monomial.is_const()) {
      one.constant = t.coefficient;
    } else {
      one.terms.push_back(t);
    }
    quotient = AddScaled(quotient, one, 1);
    if (!a.overflow && !a.terms.empty() && a.terms[0].monomial == top.monomial) return std::nullopt;
  }
  return std::nullopt;
}

Expr CommonMonomial(ExprContext* context, const Polynomial& p) {
  if (p.constant != 0 || p.terms.empty()) return 1;
  std::vector<Power> common = FactorsOf(p.terms[0].monomial);
  for (const Term& t : p.terms) {
    const std::vector<Power> own = FactorsOf(t.monomial);
    for (Power& c : common) {
      const auto it =
          std::find_if(own.begin(), own.end(), [&](const Power& x) { return x.base == c.base; });
      c.exponent = it == own.end() ? 0 : std::min(c.exponent, it->exponent);
    }
  }
  return ProductOf(context, common);
}

}  // namespace lathe::symbolic
