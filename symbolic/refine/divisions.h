#ifndef LATHE_SYMBOLIC_REFINE_DIVISIONS_H_
#define LATHE_SYMBOLIC_REFINE_DIVISIONS_H_

// What the rules of quotients and remainders ask of sums.

#include <cstdint>
#include <optional>

#include "symbolic/knowledge.h"
#include "symbolic/refine/fact_rule.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {

inline Polynomial ConstantPolynomial(int64_t value) {
  Polynomial p;
  p.constant = value;
  return p;
}

// `d` divides the term for all values.
bool IsMultiple(Knowledge& k, const Term& t, int64_t d);

// p = g*high + low where 0 <= low < g for a g that divides d: what is below g does not matter to
// the digits above.
struct Digits {
  Polynomial high, low;
  int64_t g = 1;
};
std::optional<Digits> SplitDigits(Knowledge& k, const Polynomial& p, int64_t d);

// x = y * quotient + rest, term by term. False: `y` divides no term, or is no single product.
struct Division {
  Polynomial quotient, rest;
};
std::optional<Division> DivideTerms(ExprContext* context, const Polynomial& x, const Polynomial& y);

// The quotient where `y`, a sum, divides `x` for all values.
std::optional<Polynomial> DivideBySum(ExprContext* context, const Polynomial& x,
                                      const Polynomial& y);

// 0 <= rest < divisor is known.
bool IsRemainderOf(Knowledge& k, const Polynomial& rest, const Polynomial& divisor);

// The quotient, where that is known to be 0, 1 or -1.
std::optional<int64_t> SmallQuotient(Knowledge& k, const Expr& x, const Expr& y);

// Dividend and divisor without the factors, known not to be 0, that both have.
struct CommonDivision {
  Expr factor, x, y;
};
std::optional<CommonDivision> WithoutCommonFactor(const FactRuleInput& in);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_REFINE_DIVISIONS_H_
