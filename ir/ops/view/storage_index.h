#ifndef LATHE_IR_OPS_VIEW_STORAGE_INDEX_H_
#define LATHE_IR_OPS_VIEW_STORAGE_INDEX_H_

// From a place in a tensor's storage back to the tensor's own index.

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/graph/type.h"
#include "symbolic/shape_env.h"

namespace lathe {

// Maps an index over (sizes, strides, offset) of the storage of `type` to the index over `type` of
// the same element. Unimplemented when `type` does not cover its storage densely, or when the
// sizes are known to reach beyond its elements.
absl::StatusOr<std::function<std::vector<Expr>(absl::Span<const Expr>)>> StorageMap(
    const TensorType& type, const std::vector<Expr>& sizes, const std::vector<Expr>& strides,
    const Expr& offset, const ShapeEnv& shapes);

}  // namespace lathe

#endif  // LATHE_IR_OPS_VIEW_STORAGE_INDEX_H_
