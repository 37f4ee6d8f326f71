#include "ir/ops/index/advanced_index.h"

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/result_rules.h"

namespace lathe {
namespace {

// Eager puts the index dimensions first unless the indices are next to each other.
template <typename IsIndexed>
int PlaceOfIndices(int rank, IsIndexed is_indexed) {
  int first = -1, last = -1, count = 0;
  for (int d = 0; d < rank; ++d) {
    if (!is_indexed(d)) continue;
    if (first < 0) first = d;
    last = d;
    ++count;
  }
  return count > 0 && last - first + 1 == count ? first : 0;
}

}  // namespace

std::vector<Expr> AdvancedIndex::IndexPart(Index result) const {
  return {result.begin() + first, result.begin() + first + index_sizes.size()};
}

std::vector<Expr> AdvancedIndex::Place(OpsHandler& ops, TensorReader& in,
                                       const std::vector<Expr>& self_sizes, Index result) const {
  const std::vector<Expr> part = IndexPart(result);
  std::vector<Expr> others(result.begin(), result.begin() + first);
  others.insert(others.end(), result.begin() + first + index_sizes.size(), result.end());
  std::vector<Expr> place(self_sizes.size());
  for (size_t k = 0; k < rest.size(); ++k) place[rest[k]] = others[k];
  for (size_t d = 0; d < indices.size(); ++d) {
    if (indices[d] == nullptr) continue;
    const TensorType& type = indices[d]->type.tensor();
    OpsValue value = in.Load(ops, indices[d], BroadcastIndex(type, index_sizes, part));
    place[d] = ops.Indirect(value, self_sizes[d]);
  }
  return place;
}

absl::StatusOr<AdvancedIndex> AdvancedIndexOf(const std::string& op, const TensorType& self,
                                              const std::vector<Value*>& indices,
                                              const ShapeEnv& shapes) {
  if (static_cast<int>(indices.size()) > self.rank()) {
    return InvalidArgument("too many indices for tensor of dimension ", self.rank(), " (got ",
                           indices.size(), ")");
  }
  AdvancedIndex result;
  result.indices = indices;
  result.indices.resize(self.rank(), nullptr);
  std::vector<TensorType> types;
  for (Value* index : indices) {
    if (index == nullptr) continue;
    const TensorType& type = index->type.tensor();
    if (!IsInteger(type.dtype)) {
      return InvalidArgument(op, ": tensors used as indices must be integer tensors here, got ",
                             ToString(type));
    }
    types.push_back(type);
  }
  if (types.empty()) return InvalidArgument(op, ": at least one index must be provided");
  absl::StatusOr<std::vector<Expr>> broadcast = BroadcastSizes(types, shapes);
  if (!broadcast.ok()) {
    return InvalidArgument("shape mismatch: indexing tensors could not be broadcast together: ",
                           broadcast.status().message());
  }
  result.index_sizes = *std::move(broadcast);
  result.first = PlaceOfIndices(self.rank(), [&](int d) { return result.indices[d] != nullptr; });
  for (int d = 0; d < self.rank(); ++d) {
    if (result.indices[d] == nullptr) result.rest.push_back(d);
  }
  for (int d : result.rest) result.sizes.push_back(self.sizes[d]);
  result.sizes.insert(result.sizes.begin() + result.first, result.index_sizes.begin(),
                      result.index_sizes.end());
  return result;
}

absl::StatusOr<std::vector<int64_t>> HostPlaces(const Tensor& self,
                                                const std::vector<Tensor>& indices, Dims& sizes) {
  const int rank = self.rank();
  std::vector<Dims> index_sizes;
  for (const Tensor& t : indices) {
    if (t.is_defined()) index_sizes.push_back(t.sizes());
  }
  LATHE_ASSIGN_OR_RETURN(Dims broadcast, BroadcastSizes(index_sizes));
  std::vector<std::vector<int64_t>> values(rank);
  std::vector<int> rest;
  auto is_indexed = [&](int d) {
    return d < static_cast<int>(indices.size()) && indices[d].is_defined();
  };
  for (int d = 0; d < rank; ++d) {
    if (!is_indexed(d)) {
      rest.push_back(d);
      continue;
    }
    values[d] = ToVector<int64_t>(BroadcastTo(indices[d], broadcast));
    for (int64_t& i : values[d]) {
      if (i < -self.sizes()[d] || i >= self.sizes()[d]) {
        return OutOfRange("index ", i, " is out of bounds for dimension ", d, " with size ",
                          self.sizes()[d]);
      }
      if (i < 0) i += self.sizes()[d];
    }
  }
  const int first = PlaceOfIndices(rank, is_indexed);
  std::vector<int64_t> all;
  for (int d : rest) all.push_back(self.sizes()[d]);
  all.insert(all.begin() + first, broadcast.begin(), broadcast.end());
  sizes = Dims(all);
  const int count = static_cast<int>(broadcast.size());
  std::vector<int64_t> places;
  Position at(rank, 0);
  ForEachIndex(sizes, [&](const Position& p) {
    int64_t number = 0;
    for (int d = 0; d < count; ++d) number = number * broadcast[d] + p[first + d];
    size_t other = 0;
    for (int d : rest) {
      const size_t k = other < static_cast<size_t>(first) ? other : other + count;
      at[d] = p[k];
      ++other;
    }
    for (int d = 0; d < rank; ++d) {
      if (!values[d].empty() && is_indexed(d)) at[d] = values[d][number];
    }
    places.push_back(Linear(at, self.sizes()));
  });
  return places;
}

}  // namespace lathe
