#ifndef LATHE_SYMBOLIC_CONDITION_BOUNDS_H_
#define LATHE_SYMBOLIC_CONDITION_BOUNDS_H_

#include <vector>

#include "symbolic/expr.h"
#include "symbolic/knowledge.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {

// Sets of polynomials, in one of which all are >= 0 when `condition` holds.
std::vector<std::vector<Polynomial>> AlternativeBounds(Knowledge& k, const Expr& condition);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_CONDITION_BOUNDS_H_
