#ifndef LATHE_CODEGEN_PLAN_INDEX_BOUNDS_H_
#define LATHE_CODEGEN_PLAN_INDEX_BOUNDS_H_

// The least and the greatest value of an index expression over a box of variables, as expressions
// over sizes.
//
//   i0*s1 + i1 % s1  over  0 <= i0 <= s0 - 1, 0 <= i1 <= s2 - 1
//     ->  0  to  (s0 - 1)*s1 + min(s1 - 1, s2 - 1)
//
// Never too narrow; exact where every variable occurs once, or linearly. Divisions are by sizes; a
// size of 0 counts as 1 there, for a loop that divides by it never runs.

#include <optional>
#include <vector>

#include "symbolic/shape_env.h"

namespace lathe {

struct IndexVariable {
  Expr symbol;
  Expr least, greatest;
};

struct IndexInterval {
  Expr least, greatest;
};

// nullopt for an expression that none of the rules knows.
std::optional<IndexInterval> IntervalOf(const Expr& index,
                                        const std::vector<IndexVariable>& variables,
                                        const ShapeEnv& shapes);

}  // namespace lathe

#endif  // LATHE_CODEGEN_PLAN_INDEX_BOUNDS_H_
