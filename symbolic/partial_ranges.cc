#include "symbolic/partial_ranges.h"

#include <algorithm>

namespace lathe::symbolic {
namespace {

Range Directly(const Expr& e, const PartialRanges::BoundOf& bound_of) {
  if (e.kind() == ExprKind::kMul) {
    Range r = {1, 1};
    for (const Expr& s : e.operands()) r = r * bound_of(s);
    return r;
  }
  SumOfRanges sum;
  for (const Expr& s : e.operands()) {
    sum.Add(bound_of(s));
    if (sum.IsUnbounded()) break;
  }
  return sum.Get();
}

}  // namespace

Range SumOfRanges::Since(const SumOfRanges& before) const {
  const __int128 least = Range::kMin, most = Range::kMax;
  Range r;
  if (endless_below_ == before.endless_below_) {
    r.lower = static_cast<int64_t>(std::clamp(lower_ - before.lower_, least, most));
  }
  if (endless_above_ == before.endless_above_) {
    r.upper = static_cast<int64_t>(std::clamp(upper_ - before.upper_, least, most));
  }
  return r;
}

Range PartialRanges::Of(const Expr& e, int64_t version, const BoundOf& bound_of) {
  const size_t first = e.node()->array_offset, count = e.operands().size(), end = first + count;
  if (!IsFor(e)) return Directly(e, bound_of);
  const Expr* const begin = e.operands().data() - first;
  Array& array = arrays_[begin];
  if (array.version != version) {
    if (count * 2 < end) return Directly(e, bound_of);
    array = {version, {{}}, {{1, 1}}};
  }
  if (e.kind() == ExprKind::kMul) {
    for (size_t i = array.products.size() - 1; i < end; ++i) {
      array.products.push_back(array.products.back() * bound_of(begin[i]));
    }
    return array.products[end];
  }
  for (size_t i = array.sums.size() - 1; i < end; ++i) {
    SumOfRanges next = array.sums.back();
    next.Add(bound_of(begin[i]));
    array.sums.push_back(next);
  }
  return array.sums[end].Since(array.sums[first]);
}

}  // namespace lathe::symbolic
