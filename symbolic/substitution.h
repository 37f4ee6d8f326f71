#ifndef LATHE_SYMBOLIC_SUBSTITUTION_H_
#define LATHE_SYMBOLIC_SUBSTITUTION_H_

// Proofs that put bounds in place of unknowns: a*b*c - (i*b + j)*c - k - 1 >= 0 where i < a, j < b
// and k < c, because a >= i + 1 leaves b*c - j*c - k - 1, b >= j + 1 leaves c - k - 1, and that is
// known. Each step is a fact times what its unknown is multiplied with, taken from what is left.

#include "symbolic/knowledge.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {

bool IsNonNegativeBySubstitution(Knowledge& k, const Polynomial& p);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_SUBSTITUTION_H_
