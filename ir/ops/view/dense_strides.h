#ifndef LATHE_IR_OPS_VIEW_DENSE_STRIDES_H_
#define LATHE_IR_OPS_VIEW_DENSE_STRIDES_H_

// Strides of new tensors that follow those of an argument.

#include <optional>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/graph/type.h"
#include "symbolic/shape_env.h"

namespace lathe {

// Dimensions from the outermost (largest stride) to the innermost when the tensor covers its
// storage without gaps or overlaps, in some order of dimensions; nullopt otherwise, or when it
// cannot be known.
std::optional<std::vector<int>> DenseOrder(const TensorType& type, const ShapeEnv& shapes);

// Dense strides with dimensions in this order, outermost first.
std::vector<Expr> StridesInOrder(const std::vector<Expr>& sizes, const std::vector<int>& order);

// True for a rank-4 (rank-5) tensor laid out as channels last, as eager's suggest_memory_format
// sees it.
bool IsChannelsLast(const TensorType& type, const ShapeEnv& shapes);
std::vector<Expr> StridesOfChannelsLast(const std::vector<Expr>& sizes);

// Strides of a new tensor of `sizes` for an explicit memory format; `like` for kPreserve.
std::vector<Expr> StridesFor(MemoryFormat format, const std::vector<Expr>& sizes,
                             const TensorType* like, const ShapeEnv& shapes);

}  // namespace lathe

#endif  // LATHE_IR_OPS_VIEW_DENSE_STRIDES_H_
