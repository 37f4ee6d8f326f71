#ifndef LATHE_SYMBOLIC_DOMINATION_H_
#define LATHE_SYMBOLIC_DOMINATION_H_

// Proofs that pair terms: b*d - a*c >= 0 because a <= b and c <= d, x20 - x0 >= 20 along a chain of
// facts, however long. Linear in the facts it looks at, where elimination (linear_system.h) would
// meet its limits.

#include <optional>

#include "symbolic/expr.h"
#include "symbolic/knowledge.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {

// A number that y - x is known to be at least, from the ranges of both and from facts that compare
// two monomials, one after another.
std::optional<int64_t> LeastDifference(Knowledge& k, const Expr& x, const Expr& y);

// p >= 0, each of its negative terms paid for by a positive one, by its bound or by the constant.
bool IsNonNegativeByTerms(Knowledge& k, const Polynomial& p);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_DOMINATION_H_
