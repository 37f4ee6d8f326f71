#ifndef LATHE_SYMBOLIC_REPLACE_OPERATION_H_
#define LATHE_SYMBOLIC_REPLACE_OPERATION_H_

#include "symbolic/expr.h"

namespace lathe::symbolic {

// `root` with every occurrence of the operation `from` replaced.
Expr ReplaceOperation(ExprContext* context, const Expr& root, const Expr& from, const Expr& to);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_REPLACE_OPERATION_H_
