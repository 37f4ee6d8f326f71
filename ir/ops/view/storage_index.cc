#include "ir/ops/view/storage_index.h"

#include "dtypes/base/status.h"
#include "ir/ops/view/dense_strides.h"
#include "ir/ops/view/reshape_index.h"

namespace lathe {
namespace {

bool ReachesOutside(const TensorType& type, const std::vector<Expr>& sizes,
                    const std::vector<Expr>& strides, const Expr& first, const ShapeEnv& shapes) {
  Expr last = first;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!shapes.IsKnownTrue(symbolic::Ge(sizes[d], 1))) return false;
    last = last + (sizes[d] - 1) * strides[d];
  }
  return last.IsOverflow() || shapes.IsKnownTrue(symbolic::Lt(first, 0)) ||
         shapes.IsKnownTrue(symbolic::Ge(last, NumElements(type)));
}

}  // namespace

absl::StatusOr<std::function<std::vector<Expr>(absl::Span<const Expr>)>> StorageMap(
    const TensorType& type, const std::vector<Expr>& sizes, const std::vector<Expr>& strides,
    const Expr& offset, const ShapeEnv& shapes) {
  std::optional<std::vector<int>> order = DenseOrder(type, shapes);
  if (!order) {
    return Unimplemented("as_strided of a tensor with gaps in its storage: ", ToString(type));
  }
  std::vector<Expr> ordered;
  for (int d : *order) ordered.push_back(type.sizes[d]);
  const Expr first = offset - type.offset;
  if (ReachesOutside(type, sizes, strides, first, shapes)) {
    return Unimplemented("as_strided outside of the elements that its operand shows: ",
                         ToString(type));
  }
  return [order = *order, ordered, strides, first](absl::Span<const Expr> index) {
    Expr place = first;
    for (size_t d = 0; d < strides.size(); ++d) place = place + index[d] * strides[d];
    std::vector<Expr> parts = UnflattenIndex(place, ordered);
    std::vector<Expr> result(order.size());
    for (size_t k = 0; k < order.size(); ++k) result[order[k]] = parts[k];
    return result;
  };
}

}  // namespace lathe
