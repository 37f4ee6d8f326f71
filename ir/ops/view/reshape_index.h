#ifndef LATHE_IR_OPS_VIEW_RESHAPE_INDEX_H_
#define LATHE_IR_OPS_VIEW_RESHAPE_INDEX_H_

// Index maps between two shapes of one row-major sequence of elements.
//
// Dimensions are matched in groups of equal product from the left, so that what a reshape leaves
// alone maps identically and only a group uses // and %:
//   [s0, 4, 8] seen as [s0, 32]:  (i, j) -> (i, j // 8, j % 8)

#include <vector>

#include "absl/types/span.h"
#include "symbolic/shape_env.h"

namespace lathe {

// The multi-index over `from` of the element that has `index` over `to`.
std::vector<Expr> ReshapeIndex(absl::Span<const Expr> index, absl::Span<const Expr> to,
                               absl::Span<const Expr> from, const ShapeEnv& shapes);

// The same map split in its two halves, for callers that go through a flat number.
Expr FlattenIndex(absl::Span<const Expr> index, absl::Span<const Expr> sizes);
std::vector<Expr> UnflattenIndex(const Expr& flat, absl::Span<const Expr> sizes);

}  // namespace lathe

#endif  // LATHE_IR_OPS_VIEW_RESHAPE_INDEX_H_
