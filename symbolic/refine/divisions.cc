#include "symbolic/refine/divisions.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "symbolic/monomial.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/divide_common.h"

namespace lathe::symbolic {
namespace {

bool IsOneTerm(const Polynomial& p) { return p.terms.size() == 1 && p.constant == 0; }

// Terms that g divides go to `high`, divided, the others to `low`.
Digits Split(const Polynomial& p, int64_t g) {
  Digits s;
  s.g = g;
  for (const Term& t : p.terms) {
    if (t.coefficient % g == 0) {
      s.high.terms.push_back({t.monomial, t.coefficient / g});
    } else {
      s.low.terms.push_back(t);
    }
  }
  s.low.constant = p.constant;
  return s;
}

}  // namespace

bool IsMultiple(Knowledge& k, const Term& t, int64_t d) {
  if (t.coefficient % d == 0) return true;
  return static_cast<__int128>(t.coefficient) * k.DivisorOf(t.monomial) % d == 0;
}

std::optional<Digits> SplitDigits(Knowledge& k, const Polynomial& p, int64_t d) {
  absl::InlinedVector<int64_t, 4> tried;
  for (const Term& t : p.terms) {
    const int64_t g = Gcd(t.coefficient, d);
    if (g == 1 || g == d || std::find(tried.begin(), tried.end(), g) != tried.end()) continue;
    tried.push_back(g);
    Digits s = Split(p, g);
    if (s.low.terms.empty()) continue;  // the simplifier has done that
    const std::optional<int64_t> shift = ConstantQuotient(k.RangeOf(s.low), g);
    if (!shift) continue;
    s.high.constant = *shift;
    s.low = AddScaled(s.low, ConstantPolynomial(*shift), -g);
    if (!s.low.overflow) return s;
  }
  return std::nullopt;
}

std::optional<Division> DivideTerms(ExprContext* context, const Polynomial& x,
                                    const Polynomial& divisor) {
  if (!IsOneTerm(divisor)) return std::nullopt;
  const Term& y = divisor.terms[0];
  Division d;
  d.rest.constant = x.constant;
  for (const Term& t : x.terms) {
    const bool whole = t.coefficient % y.coefficient == 0 && y.coefficient != -1;
    const std::optional<Expr> m =
        whole ? DivideMonomial(context, t.monomial, y.monomial) : std::nullopt;
    if (!m) {
      d.rest.terms.push_back(t);
      continue;
    }
    const int64_t c = t.coefficient / y.coefficient;
    Polynomial one;
    if (m->is_const()) {
      one.constant = c;
    } else {
      one.terms.push_back({*m, c});
    }
    d.quotient = AddScaled(d.quotient, one, 1);
  }
  if (d.quotient.is_constant() && d.quotient.constant == 0) return std::nullopt;
  return d;
}

// The factors common to both that are known not to be 0.
static Expr CommonFactor(const FactRuleInput& in, const Polynomial& x, const Polynomial& y) {
  std::vector<Power> common = CommonPowers(PowersCommonToTerms(x), PowersCommonToTerms(y));
  common.erase(std::remove_if(common.begin(), common.end(),
                              [&](const Power& p) { return !in.k.IsNonZero(p.base); }),
               common.end());
  return ProductOf(in.context, common);
}

static Expr Over(ExprContext* context, const Polynomial& x, const Expr& monomial) {
  if (x.terms.size() == 1 && x.constant == 0) {
    const std::optional<Expr> q = DivideMonomial(context, x.terms[0].monomial, monomial);
    return q ? *q * x.terms[0].coefficient : Expr::Overflow();
  }
  Polynomial divisor;
  divisor.terms.push_back({monomial, 1});
  const std::optional<Polynomial> q = DivideExactly(context, x, divisor);
  return q ? FromPolynomial(context, *q) : Expr::Overflow();
}

std::optional<CommonDivision> WithoutCommonFactor(const FactRuleInput& in) {
  const Polynomial x = ToPolynomial(in.x[0]), y = ToPolynomial(in.x[1]);
  const Expr common = CommonFactor(in, x, y);
  if (common.is_const()) return std::nullopt;
  const CommonDivision d = {common, Over(in.context, x, common), Over(in.context, y, common)};
  if (d.x.IsOverflow() || d.y.IsOverflow()) return std::nullopt;
  return d;
}

std::optional<Polynomial> DivideBySum(ExprContext* context, const Polynomial& x,
                                      const Polynomial& y) {
  return IsOneTerm(y) ? std::nullopt : DivideExactly(context, x, y);
}

bool IsRemainderOf(Knowledge& k, const Polynomial& rest, const Polynomial& divisor) {
  const Polynomial largest = AddScaled(divisor, ConstantPolynomial(1), -1);
  return k.IsNonNegative(rest) && k.IsNonNegative(AddScaled(largest, rest, -1));
}

std::optional<int64_t> SmallQuotient(Knowledge& k, const Expr& x, const Expr& y) {
  if (k.RangeOf(y).lower < 1) return std::nullopt;
  const Polynomial dividend = ToPolynomial(x), divisor = ToPolynomial(y);
  if (IsRemainderOf(k, dividend, divisor)) return 0;
  // Of others only where the bounds of x - q*y say the first half: a proof is dear.
  for (const int64_t q : {1, -1}) {
    const Polynomial rest = AddScaled(dividend, divisor, -q);
    if (rest.overflow || k.RangeOf(rest).lower < 0) continue;
    if (IsRemainderOf(k, rest, divisor)) return q;
  }
  return std::nullopt;
}

}  // namespace lathe::symbolic
