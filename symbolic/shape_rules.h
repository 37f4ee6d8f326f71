#ifndef LATHE_SYMBOLIC_SHAPE_RULES_H_
#define LATHE_SYMBOLIC_SHAPE_RULES_H_

// What operations do to sizes, on sizes of which little may be known. Where an answer depends on
// an unbacked size the general path is taken, and what it needs is Checked: it becomes an
// assertion of the program. Backed sizes are decided by their hints and leave guards.

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "symbolic/expr.h"
#include "symbolic/shape_env.h"

namespace lathe::symbolic {

// The size of two sizes that meet: equal, or one of them 1. Of unbacked ones that are not known
// to be 1, neither is: they are checked to be equal.
absl::StatusOr<Expr> BroadcastSize(ShapeEnv& env, const Expr& a, const Expr& b, const Asker& asker);
// Right-aligned. InvalidArgument names the dimension where they do not meet.
absl::StatusOr<std::vector<Expr>> BroadcastSizes(ShapeEnv& env, absl::Span<const Expr> a,
                                                 absl::Span<const Expr> b, const Asker& asker);

// The product of the sizes.
Expr Numel(absl::Span<const Expr> sizes);

// `wanted` with at most one -1 replaced; checked to have as many elements as `sizes`.
absl::StatusOr<std::vector<Expr>> ReshapeSizes(ShapeEnv& env, absl::Span<const Expr> sizes,
                                               std::vector<Expr> wanted, const Asker& asker);

// Row-major strides. A size that may be 0 counts as 1, as eager has it: "max(u0, 1)".
std::vector<Expr> ContiguousStrides(const ShapeEnv& env, absl::Span<const Expr> sizes);

// Known to lie row-major, dimensions of size 1 not counted. Guards on backed sizes; on unbacked
// ones "no" unless it is known.
bool IsContiguous(ShapeEnv& env, absl::Span<const Expr> sizes, absl::Span<const Expr> strides,
                  const Asker& asker);

// No two elements at one place, no gap. Never guards.
bool IsKnownDense(const ShapeEnv& env, absl::Span<const Expr> sizes,
                  absl::Span<const Expr> strides);

// The strides that show the same storage as `wanted`, which ReshapeSizes gave; nullopt when a
// copy is needed or nothing better is known.
std::optional<std::vector<Expr>> ViewStrides(ShapeEnv& env, absl::Span<const Expr> sizes,
                                             absl::Span<const Expr> strides,
                                             absl::Span<const Expr> wanted, const Asker& asker);

// The length of start:stop:step (step >= 1) of a size, negative bounds counted from its end and
// both clamped, as Python has it. `start` and `stop` may be any expressions.
Expr SliceLength(const ShapeEnv& env, const Expr& size, const Expr& start, const Expr& stop,
                 int64_t step);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_SHAPE_RULES_H_
