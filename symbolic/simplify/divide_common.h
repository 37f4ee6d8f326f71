#ifndef LATHE_SYMBOLIC_SIMPLIFY_DIVIDE_COMMON_H_
#define LATHE_SYMBOLIC_SIMPLIFY_DIVIDE_COMMON_H_

#include <cstdint>
#include <optional>

#include "symbolic/expr.h"
#include "symbolic/range.h"

namespace lathe::symbolic {

// floor(x / d) where it is one number for all x of the range.
std::optional<int64_t> ConstantQuotient(const Range& range, int64_t d);

// a = factor * (.a), b = factor * (.b): the integer common to all coefficients, with the sign that
// makes the leading coefficient of b positive. factor is not 0.
struct CommonParts {
  Expr a, b;
  int64_t factor = 1;
};
CommonParts WithoutCommonFactor(ExprContext* context, const Expr& a, const Expr& b);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_SIMPLIFY_DIVIDE_COMMON_H_
