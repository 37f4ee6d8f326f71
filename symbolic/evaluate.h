#ifndef LATHE_SYMBOLIC_EVALUATE_H_
#define LATHE_SYMBOLIC_EVALUATE_H_

// Walks over expressions: evaluation, substitution, the symbols inside. None recurses on depth.

#include <functional>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "symbolic/expr.h"

namespace lathe::symbolic {

// The value of an integer or boolean (0 or 1) expression, symbols by `lookup` (nullopt: unknown).
// FailedPrecondition for an unknown symbol, OutOfRange for overflow or a division by zero.
absl::StatusOr<int64_t> Evaluate(
    const Expr& e, const std::function<std::optional<int64_t>(const Expr& symbol)>& lookup);

// Float expressions too.
absl::StatusOr<double> EvaluateFloat(
    const Expr& e, const std::function<std::optional<int64_t>(const Expr& symbol)>& lookup);

// Replaces symbols at once (not repeatedly), re-simplifying. Symbols not in the map stay.
// The replacements may live in another context than `e`; the result is in `context`.
Expr Substitute(const Expr& e, const absl::flat_hash_map<Expr, Expr>& replacements,
                ExprContext& context);

// The distinct symbols of `e` in order of first appearance (operands left to right).
std::vector<Expr> FreeSymbols(const Expr& e);
void CollectFreeSymbols(const Expr& e, std::vector<Expr>& symbols);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_EVALUATE_H_
