#ifndef LATHE_SCHEDULER_FUSION_DOMAIN_H_
#define LATHE_SCHEDULER_FUSION_DOMAIN_H_

// Iteration domains of fused loops: lists of sizes, compared by the elements they enumerate in
// row-major order.

#include <optional>
#include <vector>

#include "ir/ops/lowering.h"
#include "symbolic/expr.h"

namespace lathe {

// The finest list both enumerate alike, or nullopt: {6, 4} and {2, 3, 4} give {2, 3, 4}; {s0, 8}
// and {s0*8} give {s0, 8}; {6} and {4} give nullopt. Sizes of 1 vanish.
std::optional<std::vector<Expr>> CommonRefinement(const std::vector<Expr>& a,
                                                  const std::vector<Expr>& b);

// The number of leading sizes of `sizes` whose product is `product`, or nullopt.
std::optional<int> PrefixWithProduct(const std::vector<Expr>& sizes, const Expr& product);

// For a domain that refines `coarse`: the coarse index of a refined one, each an affine expression.
std::vector<Expr> CoarseIndex(const std::vector<Expr>& coarse, const std::vector<Expr>& refined,
                              Index refined_index);

// Row-major position of `index` in `sizes`.
Expr LinearIndex(const std::vector<Expr>& sizes, Index index);

}  // namespace lathe

#endif  // LATHE_SCHEDULER_FUSION_DOMAIN_H_
