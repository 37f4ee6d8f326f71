#include "symbolic/monomial.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/checked.h"

namespace lathe::symbolic {
namespace {

Power ToPower(const Expr& e) {
  if (e.kind() == ExprKind::kPow && e.operands()[1].is_const()) {
    return {e.operands()[0], *e.operands()[1].AsInt()};
  }
  return {e, 1};
}

}  // namespace

std::vector<Power> FactorsOf(const Expr& monomial) {
  std::vector<Power> powers;
  powers.reserve(monomial.operands().size());
  if (monomial.is_const()) return powers;
  if (monomial.kind() != ExprKind::kMul) return {ToPower(monomial)};
  for (const Expr& f : monomial.operands()) {
    if (!f.is_const()) powers.push_back(ToPower(f));
  }
  return powers;
}

// Of a product of symbols, by one of them or by a product with which it begins. The outer nullopt:
// not that case.
static std::optional<std::optional<Expr>> DividePlain(const Expr& a, const Expr& b) {
  if (a.kind() != ExprKind::kMul || !a.node()->plain || b.is_const()) return std::nullopt;
  const absl::Span<const Expr> x = a.operands();
  if (b.is_symbol()) {
    const auto at = std::lower_bound(x.begin(), x.end(), b, [](const Expr& e, const Expr& s) {
      return e != s && Compare(e, s) < 0;
    });
    if (at == x.end() || *at != b) return std::optional<Expr>();
    if (x.size() == 2) return x[at == x.begin() ? 1 : 0];
    return ContextAccess::InternWithout(a.node(), static_cast<size_t>(at - x.begin()));
  }
  if (b.kind() != ExprKind::kMul || !ContextAccess::BeginsWith(a.node(), b)) return std::nullopt;
  const size_t left = x.size() - b.operands().size();
  if (left == 1) return x.back();
  return ContextAccess::InternRest(a.node(), b);
}

// Both lists are in Compare order: one pass.
std::optional<Expr> DivideMonomial(ExprContext* context, const Expr& a, const Expr& b) {
  if (a == b) return 1;
  if (const auto plain = DividePlain(a, b)) return *plain;
  std::vector<Power> powers = FactorsOf(a);
  size_t at = 0;
  for (const Power& d : FactorsOf(b)) {
    while (at < powers.size() && powers[at].base != d.base) ++at;
    if (at == powers.size() || powers[at].exponent < d.exponent) return std::nullopt;
    powers[at++].exponent -= d.exponent;
  }
  powers.erase(
      std::remove_if(powers.begin(), powers.end(), [](const Power& p) { return p.exponent == 0; }),
      powers.end());
  return ProductOf(context, powers);
}

Expr ProductOf(ExprContext* context, const std::vector<Power>& powers) {
  if (powers.empty()) return 1;
  absl::InlinedVector<Expr, 16> factors;
  factors.reserve(powers.size());
  bool plain = true;
  for (const Power& p : powers) {
    factors.push_back(p.exponent == 1 ? p.base : Pow(p.base, p.exponent));
    plain = plain && p.base.is_symbol();
  }
  if (factors.size() == 1) return factors[0];
  // Powers of symbols, in order and each base once, are in normal form.
  return plain ? ContextAccess::Intern(context, ExprKind::kMul, factors)
               : context->Make(ExprKind::kMul, factors);
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

std::vector<Power> CommonPowers(const std::vector<Power>& a, const std::vector<Power>& b) {
  std::vector<Power> common;
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const int order = a[i].base == b[j].base ? 0 : Compare(a[i].base, b[j].base);
    if (order == 0) common.push_back({a[i].base, std::min(a[i].exponent, b[j].exponent)});
    i += order <= 0;
    j += order >= 0;
  }
  return common;
}

std::vector<Power> PowersCommonToTerms(const Polynomial& p) {
  if (p.constant != 0 || p.terms.empty()) return {};
  std::vector<Power> common = FactorsOf(p.terms[0].monomial);
  for (size_t i = 1; i < p.terms.size() && !common.empty(); ++i) {
    common = CommonPowers(common, FactorsOf(p.terms[i].monomial));
  }
  return common;
}

}  // namespace lathe::symbolic
