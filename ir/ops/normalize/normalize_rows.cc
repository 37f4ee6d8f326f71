#include "ir/ops/normalize/normalize_rows.h"

#include <utility>

#include "ir/ops/families.h"
#include "ir/ops/view/compose.h"

namespace lathe {

Moments MomentsOf(Builder& b, Value* x, const std::vector<Expr>& dims, double eps) {
  Moments m;
  m.mean = b.Call("aten.mean.dim", {x, dims, true});
  m.centered = Sub(b, x, m.mean);
  Value* variance = b.Call("aten.mean.dim", {Mul(b, m.centered, m.centered), dims, true});
  m.rstd = b.Call("aten.rsqrt", {AddScalar(b, variance, Scalar(eps))});
  return m;
}

Value* Dense(Builder& b, Value* x) {
  if (x == nullptr || IsContiguous(TypeOf(x))) return x;
  return Clone(b, x, MemoryFormat::kContiguous);
}

std::vector<OpRow> NormalizeRows() {
  std::vector<OpRow> rows;
  for (auto group : {SoftmaxRows, LayerNormRows, BatchNormRows, WeightNormRows}) {
    for (OpRow& row : group()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lathe
