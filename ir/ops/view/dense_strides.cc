#include "ir/ops/view/dense_strides.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ir/ops/result_rules.h"

namespace lathe {
std::vector<Expr> StridesInOrder(const std::vector<Expr>& sizes, const std::vector<int>& order) {
  std::vector<Expr> strides(sizes.size());
  Expr stride = 1;
  for (size_t k = order.size(); k-- > 0;) {
    strides[order[k]] = stride;
    if (!(sizes[order[k]] == 0)) stride = stride * sizes[order[k]];
  }
  return strides;
}

std::optional<std::vector<int>> DenseOrder(const TensorType& type, const ShapeEnv& shapes) {
  const int rank = type.rank();
  std::vector<int> order;
  std::vector<bool> taken(rank, false);
  if (IsContiguous(type)) {
    order.resize(rank);
    std::iota(order.begin(), order.end(), 0);
    return order;
  }
  // Dimensions of size 1 can stand anywhere: outermost.
  std::vector<int> ones;
  for (int d = 0; d < rank; ++d) {
    if (type.sizes[d] == 1) {
      taken[d] = true;
      ones.push_back(d);
    }
  }
  Expr stride = 1;
  for (int left = rank - static_cast<int>(ones.size()); left > 0; --left) {
    int found = -1;
    for (int d = rank - 1; d >= 0 && found < 0; --d) {
      if (!taken[d] && shapes.IsKnownEqual(type.strides[d], stride)) found = d;
    }
    if (found < 0) return std::nullopt;
    taken[found] = true;
    order.push_back(found);
    stride = stride * type.sizes[found];
  }
  order.insert(order.end(), ones.rbegin(), ones.rend());
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<Expr> StridesOfChannelsLast(const std::vector<Expr>& sizes) {
  std::vector<int> order = {0};
  for (size_t d = 2; d < sizes.size(); ++d) order.push_back(static_cast<int>(d));
  order.push_back(1);
  return StridesInOrder(sizes, order);
}

// Eager walks the dimensions channel first and asks that strides grow; a tensor that is contiguous
// too (one channel and the like) does not count.
bool IsChannelsLast(const TensorType& type, const ShapeEnv& shapes) {
  if (type.rank() != 4 && type.rank() != 5) return false;
  if (shapes.IsKnownEqual(type.strides[1], 0) || type.strides[1] == 0) return false;
  std::vector<int> walk = {1};
  for (int d = type.rank() - 1; d >= 2; --d) walk.push_back(d);
  walk.push_back(0);
  Expr least = 0;
  for (int d : walk) {
    if (type.sizes[d] == 0) return false;
    if (!shapes.IsKnownTrue(symbolic::Ge(type.strides[d], least))) return false;
    // N111 and its kin are ambiguous and taken as contiguous.
    if (d == 0 && least == type.strides[1]) return false;
    least = type.strides[d];
    if (!(type.sizes[d] == 1)) least = least * type.sizes[d];
  }
  return true;
}

std::vector<Expr> StridesFor(MemoryFormat format, const std::vector<Expr>& sizes,
                             const TensorType* like, const ShapeEnv& shapes) {
  const bool channels = (format == MemoryFormat::kChannelsLast && sizes.size() == 4) ||
                        (format == MemoryFormat::kChannelsLast3d && sizes.size() == 5);
  if (channels) return StridesOfChannelsLast(sizes);
  if (format == MemoryFormat::kPreserve && like != nullptr) return PreservedStrides(*like, shapes);
  return ContiguousStrides(sizes);
}

}  // namespace lathe
