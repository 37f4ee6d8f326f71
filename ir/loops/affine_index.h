#ifndef LATHE_IR_LOOPS_AFFINE_INDEX_H_
#define LATHE_IR_LOOPS_AFFINE_INDEX_H_

// How an index steps along an axis.

#include <optional>

#include "symbolic/expr.h"

namespace lathe {

bool UsesSymbol(const symbolic::Expr& e, const symbolic::Expr& symbol);

// The coefficient of `symbol` in `e` when `e` is coefficient * symbol + rest and neither holds the
// symbol, else nullopt. 0 when `e` does not use it.
//
//   AffineCoefficient(s0*i0 + i1, i0) == s0;  AffineCoefficient(i0 // 4, i0) == nullopt
std::optional<symbolic::Expr> AffineCoefficient(const symbolic::Expr& e,
                                                const symbolic::Expr& symbol);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_AFFINE_INDEX_H_
