#include "ir/ops/sort/lines.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace lathe {
namespace {

bool IsNan(const Scalar& s) { return s.is_float() && std::isnan(s.ToDouble()); }

}  // namespace

Lines::Lines(const Tensor& tensor, int dim) : tensor_(tensor) {
  if (tensor.rank() == 0) return;
  length_ = tensor.sizes()[dim];
  for (int d = 0; d < tensor.rank(); ++d) {
    if (d != dim) count_ *= tensor.sizes()[d];
    if (d > dim) inner_ *= tensor.sizes()[d];
  }
  inner_ = std::max<int64_t>(inner_, 1);
}

Scalar Lines::Get(int64_t line, int64_t k) const { return tensor_.AtLinear(Linear(line, k)); }

void Lines::Set(int64_t line, int64_t k, const Scalar& value) const {
  tensor_.SetLinear(Linear(line, k), value);
}

bool ComesBefore(const Scalar& a, const Scalar& b) {
  if (IsNan(a)) return false;
  if (IsNan(b)) return true;
  return a < b;
}

std::vector<int64_t> StableOrder(const Lines& lines, int64_t line, bool descending) {
  std::vector<Scalar> values;
  for (int64_t k = 0; k < lines.length(); ++k) values.push_back(lines.Get(line, k));
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return descending ? ComesBefore(values[b], values[a]) : ComesBefore(values[a], values[b]);
  });
  return order;
}

}  // namespace lathe
