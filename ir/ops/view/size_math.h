#ifndef LATHE_IR_OPS_VIEW_SIZE_MATH_H_
#define LATHE_IR_OPS_VIEW_SIZE_MATH_H_

// Arithmetic of views on symbolic sizes: -1 in a shape, the strides of a reshaped view, the bounds
// of a slice.

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/graph/type.h"
#include "ir/ops/op_row.h"
#include "symbolic/shape_env.h"

namespace lathe {

// "[2, s0, 4]"
std::string ToString(absl::Span<const Expr> sizes);

// Replaces one -1 of `wanted` so that the product is that of `sizes`, and checks that it is; where
// that is not known it is assumed (symbolic/assumed.h), as that the others divide what -1 is left.
// InvalidArgument in eager's words: "shape '[3, 2]' is invalid for input of size 7".
absl::StatusOr<std::vector<Expr>> CompleteSizes(absl::Span<const Expr> sizes,
                                                std::vector<Expr> wanted, const InferContext& c);

// The strides with which storage of `type` shows as `sizes`, as eager computes them; nullopt when
// no strides can do it, or when it cannot be known.
std::optional<std::vector<Expr>> ViewStrides(const TensorType& type, absl::Span<const Expr> sizes,
                                             const ShapeEnv& shapes);

// `index` with one wrap of a negative value: constants and known signs give no selection.
Expr WrapIndex(const Expr& index, const Expr& size, const ShapeEnv& shapes);

struct SliceBounds {
  Expr start;
  Expr length;
};
// Python's slice of a dimension: defaults, negative bounds and clamping.
SliceBounds BoundsOfSlice(const Expr& size, const std::optional<Expr>& start,
                          const std::optional<Expr>& end, const Expr& step, const ShapeEnv& shapes);

// True when the size is 1; guards on backed sizes, takes "no" on unbacked ones.
bool IsOne(const Expr& size, const InferContext& c);

// The storage of `type` with other sizes and strides.
TensorType WithSizes(const TensorType& type, std::vector<Expr> sizes, std::vector<Expr> strides);
inline std::vector<ValueType> One(TensorType type) {
  std::vector<ValueType> result;
  result.emplace_back(std::move(type));
  return result;
}

}  // namespace lathe

#endif  // LATHE_IR_OPS_VIEW_SIZE_MATH_H_
