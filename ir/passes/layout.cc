#include "ir/passes/layout.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace lathe {
namespace {

bool SameStrides(const TensorType& a, const TensorType& b, const ShapeEnv& shapes) {
  for (int d = 0; d < a.rank(); ++d) {
    if (a.sizes[d] == Expr(1) || a.strides[d] == b.strides[d]) continue;
    if (!shapes.IsKnownEqual(a.strides[d], b.strides[d])) return false;
  }
  return true;
}

// The dimensions from outer to inner, such that `type` is contiguous in that order; nullopt when
// there is no such order.
std::optional<std::vector<int>> DenseOrder(const TensorType& type) {
  std::vector<int> inner_first;
  std::vector<bool> taken(type.rank(), false);
  for (int d = type.rank() - 1; d >= 0; --d) {
    if (type.sizes[d] == Expr(1)) inner_first.push_back(d), taken[d] = true;
  }
  Expr expected = 1;
  while (static_cast<int>(inner_first.size()) < type.rank()) {
    int found = -1;
    for (int d = type.rank() - 1; d >= 0 && found < 0; --d) {
      if (!taken[d] && type.strides[d] == expected) found = d;
    }
    if (found < 0) return std::nullopt;
    taken[found] = true;
    inner_first.push_back(found);
    expected = expected * type.sizes[found];
  }
  std::reverse(inner_first.begin(), inner_first.end());
  return inner_first;
}

Value* Permuted(Builder& builder, Value* value, const std::vector<int>& dims) {
  std::vector<Expr> order(dims.begin(), dims.end());
  return builder.Call("aten.permute", {value, order});
}

}  // namespace

Value* WithLayout(Builder& builder, Value* value, const TensorType& wanted) {
  if (value == nullptr) return nullptr;
  const TensorType& type = value->type.tensor();
  if (type.rank() != wanted.rank() || SameStrides(type, wanted, builder.shapes())) return value;
  const CallArgument contiguous = Argument::Of(MemoryFormat::kContiguous);
  if (IsContiguous(wanted)) {
    return builder.Call("aten.clone", {value}, {{"memory_format", contiguous}});
  }
  const std::optional<std::vector<int>> order = DenseOrder(wanted);
  if (!order.has_value()) return value;
  std::vector<int> inverse(order->size());
  for (size_t i = 0; i < order->size(); ++i) inverse[(*order)[i]] = static_cast<int>(i);
  Value* outer_first = Permuted(builder, value, *order);
  Value* dense = builder.Call("aten.clone", {outer_first}, {{"memory_format", contiguous}});
  return Permuted(builder, dense, inverse);
}

}  // namespace lathe
