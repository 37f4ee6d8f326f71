#ifndef LATHE_SYMBOLIC_MONOMIAL_H_
#define LATHE_SYMBOLIC_MONOMIAL_H_

// Products of factors, taken apart and divided; and sums that are a product of two others.

#include <optional>
#include <vector>

#include "symbolic/expr.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {

struct Power {
  Expr base;
  int64_t exponent;
};
// The factors of a product without coefficient, in Compare order of their bases.
std::vector<Power> FactorsOf(const Expr& monomial);
// a / b if b divides a for all values (where b is not 0).
std::optional<Expr> DivideMonomial(ExprContext* context, const Expr& a, const Expr& b);
// a = b * quotient for some polynomial quotient.
std::optional<Polynomial> DivideExactly(ExprContext* context, Polynomial a, const Polynomial& b);
Polynomial MultiplyByTerm(ExprContext* context, const Polynomial& p, const Term& t);
// What divides every term; nothing if the constant is not 0.
std::vector<Power> PowersCommonToTerms(const Polynomial& p);
std::vector<Power> CommonPowers(const std::vector<Power>& a, const std::vector<Power>& b);
Expr ProductOf(ExprContext* context, const std::vector<Power>& powers);

// ---- factoring.cc

// p times some positive number = first * second.
struct TwoFactors {
  Polynomial first, second;
};
// Of a polynomial of the second degree in one of its unknowns, or (x + c)*(y + d).
std::optional<TwoFactors> FactorsOfQuadratic(ExprContext* context, const Polynomial& p);

// `comparison` of integers, in terms of two factors of the difference; nothing where there are
// none. What it gives is true for the same values.
std::optional<Expr> ComparisonOfFactors(ExprContext* context, const Expr& comparison);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_MONOMIAL_H_
