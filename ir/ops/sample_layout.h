#ifndef LATHE_IR_OPS_SAMPLE_LAYOUT_H_
#define LATHE_IR_OPS_SAMPLE_LAYOUT_H_

// Layout questions on numbers: symbolic sizes and strides are replaced by sample values above 1, so
// that strides have an order.

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "ir/graph/type.h"
#include "symbolic/shape_env.h"

namespace lathe {

struct SampleLayout {
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;

  bool IsContiguous() const;
  bool IsChannelsLast() const;  // rank 4 and 5
  bool IsDense() const;         // non-overlapping and dense
  // Dimensions from the innermost out, as infer_dense_strides orders them.
  std::vector<int> DenseOrder() const;

 private:
  bool FollowsOrder(absl::Span<const int> inner_to_outer) const;
};

SampleLayout SampleOf(const TensorType& type, const ShapeEnv& shapes);
std::vector<Expr> ChannelsLastStrides(const std::vector<Expr>& sizes);

// The strides that TensorIterator gives an output of these (broadcast) sizes.
std::vector<Expr> IteratorStrides(const std::vector<Expr>& sizes,
                                  absl::Span<const TensorType> inputs, const ShapeEnv& shapes);

}  // namespace lathe

#endif  // LATHE_IR_OPS_SAMPLE_LAYOUT_H_
