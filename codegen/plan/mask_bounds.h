#ifndef LATHE_CODEGEN_PLAN_MASK_BOUNDS_H_
#define LATHE_CODEGEN_PLAN_MASK_BOUNDS_H_

// What the mask of a load says of its index: padding and concatenation touch a buffer only where
// comparisons of positions hold.
//
//   load b0[i0*s1 + i1 - 1] mask (1 <= i1 and i1 <= s1)   // i1 is in 1..s1 there

#include <functional>
#include <vector>

#include "codegen/plan/index_bounds.h"
#include "ir/loops/loop_body.h"

namespace lathe {

struct MaskedIndex {
  Expr index;  // may use a variable that stands for a compared sum (2*i1 + i3 - 1)
  std::vector<IndexVariable> variables;  // narrowed
  std::vector<Expr> empty;               // where one of them holds, the mask never does
  bool is_understood = true;             // false: the mask says more than this
};

// `in_program` writes an expression of the body over the program's symbols.
MaskedIndex ApplyMask(const LoopBody& body, int32_t mask, Expr index,
                      std::vector<IndexVariable> variables, const ShapeEnv& shapes,
                      const std::function<Expr(const Expr&)>& in_program);

}  // namespace lathe

#endif  // LATHE_CODEGEN_PLAN_MASK_BOUNDS_H_
