#ifndef LATHE_SYMBOLIC_SIMPLIFY_POLYNOMIAL_H_
#define LATHE_SYMBOLIC_SIMPLIFY_POLYNOMIAL_H_

// A sum taken apart: monomials with integer coefficients, sorted, and a constant. The working
// form of every integer rule; turning it back makes one node.

#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr.h"
#include "symbolic/range.h"

namespace lathe::symbolic {

// Sums of more terms are not searched for c*d*(x//d) + c*(x % d): the search is quadratic.
inline constexpr size_t kMostTermsToJoin = 64;

struct Term {
  Expr monomial;  // without a coefficient; never a constant
  int64_t coefficient;
  friend bool operator==(const Term&, const Term&) = default;
};

struct Polynomial {
  absl::InlinedVector<Term, 6> terms;  // in Compare order, no coefficient is 0
  int64_t constant = 0;
  bool overflow = false;

  bool is_constant() const { return terms.empty() && !overflow; }
  friend bool operator==(const Polynomial&, const Polynomial&) = default;
};

// `e` is an integer expression without infinities.
Polynomial ToPolynomial(const Expr& e);
Term ToTerm(const Expr& e);                           // of anything but a sum or a constant
Polynomial Difference(const Expr& a, const Expr& b);  // a - b
// How many operands both begin with.
size_t CommonPrefix(absl::Span<const Expr> x, absl::Span<const Expr> y);
// a + scale * b
Polynomial AddScaled(const Polynomial& a, const Polynomial& b, int64_t scale);
Polynomial Scaled(const Polynomial& a, int64_t scale);
Expr FromPolynomial(ExprContext* context, const Polynomial& p);
// The gcd of the coefficients of the terms, the constant left out; 0 without terms.
int64_t CoefficientGcd(const Polynomial& p);
// From the ranges of the monomials.
Range IntrinsicRange(const Polynomial& p);
Expr TimesConstant(ExprContext* context, const Expr& monomial, int64_t coefficient);
// b - a if that is the same for all values.
std::optional<int64_t> ConstantDifference(const Expr& a, const Expr& b);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_SIMPLIFY_POLYNOMIAL_H_
