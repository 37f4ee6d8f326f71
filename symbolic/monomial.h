#ifndef LATHE_SYMBOLIC_MONOMIAL_H_
#define LATHE_SYMBOLIC_MONOMIAL_H_

// Products of factors, taken apart and divided.

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

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_MONOMIAL_H_
