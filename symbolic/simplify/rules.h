#ifndef LATHE_SYMBOLIC_SIMPLIFY_RULES_H_
#define LATHE_SYMBOLIC_SIMPLIFY_RULES_H_

// One function per root operation: its operands are in normal form, so is its result. Every rule
// holds for all integers, negative ones and zero included; an expression that is undefined for
// some values may become one that is defined there, never the other way. `context` is nullptr
// when all operands are constants.

#include <optional>

#include "absl/types/span.h"
#include "symbolic/expr.h"

namespace lathe::symbolic {

// Operations of the memo table; the others are their ExprKind.
inline constexpr uint8_t kDifferenceMemo = 255;

Expr Simplified(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands);

Expr SimplifySum(ExprContext* context, absl::Span<const Expr> terms);
// Without looking anything up: a + b for two different products, c * x for a symbol and the like.
std::optional<Expr> SumOfPlainTerms(const Expr& a, const Expr& b);
std::optional<Expr> ScaledPlainTerm(const Expr& a, const Expr& b);
Expr SimplifyDifference(ExprContext* context, const Expr& a, const Expr& b);
Expr SimplifyProduct(ExprContext* context, absl::Span<const Expr> factors);
Expr SimplifyPow(ExprContext* context, const Expr& base, const Expr& exponent);
Expr SimplifyFloorDiv(ExprContext* context, const Expr& a, const Expr& b);
Expr SimplifyMod(ExprContext* context, const Expr& a, const Expr& b);
Expr SimplifyTruncDiv(ExprContext* context, const Expr& a, const Expr& b);
Expr SimplifyTruncMod(ExprContext* context, const Expr& a, const Expr& b);
Expr SimplifyBits(ExprContext* context, ExprKind kind, const Expr& a, const Expr& b);
Expr SimplifyMinMax(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands);
Expr SimplifyAbs(ExprContext* context, const Expr& a);
Expr SimplifyWhere(ExprContext* context, const Expr& condition, const Expr& a, const Expr& b);
Expr SimplifyComparison(ExprContext* context, ExprKind kind, const Expr& a, const Expr& b);
Expr SimplifyAndOr(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands);
Expr SimplifyNot(ExprContext* context, const Expr& a);
Expr SimplifyFloat(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands);

// Booleans as 0 and 1, integers and floats as they are.
Expr AsNumber(ExprContext* context, const Expr& e);
Expr AsFloatExpr(ExprContext* context, const Expr& e);
Expr AsBoolean(ExprContext* context, const Expr& e);
bool IsInfinite(const Expr& e);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_SIMPLIFY_RULES_H_
