#ifndef LATHE_IR_OPS_VIEW_LOOP_MASKS_H_
#define LATHE_IR_OPS_VIEW_LOOP_MASKS_H_

// Conditions on index expressions inside a loop body, for loads under a mask. A condition that
// holds everywhere is the constant true, which the recorder folds away.

#include "ir/loops/ops_handler.h"
#include "symbolic/expr.h"

namespace lathe {

inline OpsValue TrueMask(OpsHandler& ops) { return ops.Constant(Scalar(true), DType::kBool); }
inline OpsValue IndexValue(OpsHandler& ops, const Expr& e) { return ops.IndexExpr(e, DType::kI64); }
inline OpsValue IsAtLeast(OpsHandler& ops, const Expr& i, const Expr& bound) {
  return ops.Ge(IndexValue(ops, i), IndexValue(ops, bound));
}
inline OpsValue IsBelow(OpsHandler& ops, const Expr& i, const Expr& bound) {
  return ops.Lt(IndexValue(ops, i), IndexValue(ops, bound));
}
inline OpsValue IsEqual(OpsHandler& ops, const Expr& a, const Expr& b) {
  return ops.Eq(IndexValue(ops, a), IndexValue(ops, b));
}
// lower <= i < upper
inline OpsValue IsWithin(OpsHandler& ops, const Expr& i, const Expr& lower, const Expr& upper) {
  return ops.And(IsAtLeast(ops, i, lower), IsBelow(ops, i, upper));
}

}  // namespace lathe

#endif  // LATHE_IR_OPS_VIEW_LOOP_MASKS_H_
