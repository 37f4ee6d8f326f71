#ifndef LATHE_SYMBOLIC_RESIDUES_H_
#define LATHE_SYMBOLIC_RESIDUES_H_

// Equations that have no solution modulo some number: "x*x == 12*y + 7", as squares leave 0 or 1
// modulo 4.

#include "symbolic/knowledge.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {

// p is not 0 for any remainders that its symbols may leave by one of a few numbers.
bool IsNeverZeroByResidues(const Knowledge& k, const Polynomial& p);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_RESIDUES_H_
