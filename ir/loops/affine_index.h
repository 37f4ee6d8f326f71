#ifndef LATHE_IR_LOOPS_AFFINE_INDEX_H_
#define LATHE_IR_LOOPS_AFFINE_INDEX_H_

// How an index steps along an axis.

#include <optional>

#include "symbolic/expr.h"

namespace lathe {

bool UsesSymbol(const symbolic::Expr& e, const symbolic::Expr& symbol);

// The coefficient of `symbol` in `e` when `e` is coefficient * symbol + rest and neither holds the
// symbol, else nullopt. 0 when `e` does not use it.
std::optional<symbolic::Expr> AffineCoefficient(const symbolic::Expr& e,
                                                const symbolic::Expr& symbol,
                                                symbolic::ExprContext& context);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_AFFINE_INDEX_H_
