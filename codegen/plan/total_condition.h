#ifndef LATHE_CODEGEN_PLAN_TOTAL_CONDITION_H_
#define LATHE_CODEGEN_PLAN_TOTAL_CONDITION_H_

// Conditions that divide by sizes, for those who compute all of an expression at once: a condition
// that decides without a division must not fail because the divisor is zero.
//
//   TotalCondition("s0 == s1 or s0 % s1 == 0")   // at s1 = 0: s0 == 0, and no division by zero

#include "symbolic/expr.h"

namespace lathe {

// True exactly where `condition` holds, false where it does not or where it hangs on a division by
// zero. The condition itself when it divides by nothing that can be zero.
symbolic::Expr TotalCondition(const symbolic::Expr& condition, symbolic::ExprContext& context);

}  // namespace lathe

#endif  // LATHE_CODEGEN_PLAN_TOTAL_CONDITION_H_
