#include "ir/ops/matmul/batch_product.h"

#include <algorithm>

#include "ir/ops/view/compose.h"

namespace lathe {
namespace {

// x with its batch dimensions broadcast to `batch`.
Value* WithBatch(Builder& b, Value* x, std::vector<Expr> batch) {
  if (x == nullptr) return nullptr;
  const TensorType& type = TypeOf(x);
  for (int k : {2, 1}) batch.push_back(type.sizes[type.rank() - k]);
  return batch == type.sizes ? x : b.Call("aten.expand", {x, batch});
}

// All batch dimensions as one; a copy where strides do not allow it.
Value* WithFlatBatch(Builder& b, Value* x, const std::vector<Expr>& batch) {
  if (x == nullptr) return nullptr;
  const TensorType& type = TypeOf(x);
  return Reshape(b, x, {symbolic::Product(batch), type.sizes[type.rank() - 2], type.sizes.back()});
}

}  // namespace

Value* BatchProduct(Builder& b, Value* x, Value* y, const std::vector<Expr>& batch, DType out,
                    const std::vector<Expr>& order) {
  x = WithBatch(b, x, batch);
  y = WithBatch(b, y, batch);
  const bool flat = batch.empty() || batch.size() > kMaxBatchRank;
  if (flat) {
    x = WithFlatBatch(b, x, batch);
    y = WithFlatBatch(b, y, batch);
  }
  Argument memory_order;
  if (!flat && !order.empty()) memory_order = Argument::Ints(order);
  Value* product = b.Call("lathe.bmm", {x, y}, {{"out_dtype", out}, {"order", memory_order}});
  if (product == nullptr || !flat) return product;
  std::vector<Expr> sizes = batch;
  const TensorType& type = TypeOf(product);
  sizes.insert(sizes.end(), type.sizes.end() - 2, type.sizes.end());
  return b.Call("aten.view", {product, sizes});
}

}  // namespace lathe
