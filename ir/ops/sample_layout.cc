#include "ir/ops/sample_layout.h"

#include <algorithm>
#include <functional>

#include "symbolic/evaluate.h"

namespace lathe {
namespace {

// A value for a symbol: its hint, or a number that no other symbol is likely to have.
int64_t SampleSymbol(const Expr& symbol, const ShapeEnv& shapes) {
  std::optional<int64_t> hint = shapes.hint(symbol);
  if (hint && *hint > 1) return *hint;
  int64_t sum = 0;
  for (char c : symbol.symbol_name()) sum = sum * 7 + c;
  return 17 + (sum % 64 + 64) % 64;
}

int64_t Sample(const Expr& e, const ShapeEnv& shapes) {
  if (e.is_const()) return *e.AsInt();
  auto lookup = [&](const Expr& symbol) -> std::optional<int64_t> {
    return SampleSymbol(symbol, shapes);
  };
  absl::StatusOr<int64_t> value = symbolic::Evaluate(e, lookup);
  return value.ok() ? *value : 1;
}

// Insertion sort as eager does it, from the reversed order: `compare(a, b)` > 0 swaps, < 0 stops.
std::vector<int> SortDims(int rank, const std::function<int(int, int)>& compare) {
  std::vector<int> order(rank);
  for (int k = 0; k < rank; ++k) order[k] = rank - 1 - k;
  for (int i = 1; i < rank; ++i) {
    int moving = i;
    for (int k = i - 1; k >= 0; --k) {
      int answer = compare(order[k], order[moving]);
      if (answer < 0) break;
      if (answer > 0) {
        std::swap(order[k], order[moving]);
        moving = k;
      }
    }
  }
  return order;
}

// Strides of an operand seen as broadcast: 0 along dimensions that it repeats.
std::vector<int64_t> BroadcastStrides(const SampleLayout& layout,
                                      const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size(), 0);
  size_t skipped = sizes.size() - layout.sizes.size();
  for (size_t d = 0; d < layout.sizes.size(); ++d) {
    bool is_expanded = layout.sizes[d] == 1 && sizes[skipped + d] != 1;
    strides[skipped + d] = is_expanded ? 0 : layout.strides[d];
  }
  return strides;
}

int CompareDims(const std::vector<std::vector<int64_t>>& operand_strides,
                const std::vector<int64_t>& sizes, int a, int b) {
  for (const std::vector<int64_t>& strides : operand_strides) {
    if (strides[a] == 0 || strides[b] == 0) continue;
    if (strides[a] < strides[b]) return -1;
    if (strides[a] > strides[b] || sizes[a] > sizes[b]) return 1;
  }
  return 0;
}

}  // namespace

bool SampleLayout::FollowsOrder(absl::Span<const int> inner_to_outer) const {
  int64_t expected = 1;
  for (int d : inner_to_outer) {
    if (sizes[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

bool SampleLayout::IsContiguous() const {
  std::vector<int> order;
  for (int d = static_cast<int>(sizes.size()) - 1; d >= 0; --d) {
    if (sizes[d] == 0) return true;
    order.push_back(d);
  }
  return FollowsOrder(order);
}

bool SampleLayout::IsChannelsLast() const {
  if (sizes.size() == 4) return FollowsOrder({1, 3, 2, 0});
  return sizes.size() == 5 && FollowsOrder({1, 4, 3, 2, 0});
}

bool SampleLayout::IsDense() const {
  if (IsContiguous()) return true;  // whatever the strides of sizes below 2
  std::vector<int> order(sizes.size());
  for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
  if (sizes.size() == 1) return sizes[0] < 2 || strides[0] == 1;
  // Sizes below 2 come last.
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    if (sizes[a] < 2) return false;
    return sizes[b] < 2 || strides[a] < strides[b];
  });
  int64_t expected = 1;
  for (int d : order) {
    if (sizes[d] < 2) return true;
    if (strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

std::vector<int> SampleLayout::DenseOrder() const {
  return SortDims(static_cast<int>(sizes.size()), [&](int a, int b) {
    if (strides[a] == 0 || strides[b] == 0) return 0;
    if (strides[a] < strides[b]) return -1;
    return strides[a] > strides[b] || sizes[a] > sizes[b] ? 1 : 0;
  });
}

SampleLayout SampleOf(const TensorType& type, const ShapeEnv& shapes) {
  SampleLayout layout;
  for (const Expr& e : type.sizes) layout.sizes.push_back(Sample(e, shapes));
  for (const Expr& e : type.strides) layout.strides.push_back(Sample(e, shapes));
  return layout;
}

std::vector<Expr> ChannelsLastStrides(const std::vector<Expr>& sizes) {
  std::vector<Expr> strides(sizes.size());
  strides[1] = 1;
  Expr next = sizes[1];
  for (size_t d = sizes.size() - 1; d >= 2; --d) {
    strides[d] = next;
    next = next * sizes[d];
  }
  strides[0] = next;
  return strides;
}

std::vector<Expr> IteratorStrides(const std::vector<Expr>& sizes,
                                  absl::Span<const TensorType> inputs, const ShapeEnv& shapes) {
  std::vector<int64_t> sample_sizes;
  for (const Expr& e : sizes) sample_sizes.push_back(Sample(e, shapes));
  std::vector<SampleLayout> layouts;
  bool same_shape = true;
  for (const TensorType& t : inputs) {
    layouts.push_back(SampleOf(t, shapes));
    // A symbol that is broadcast against a constant was taken as equal to it.
    same_shape &= t.rank() == static_cast<int>(sizes.size());
    for (int d = 0; same_shape && d < t.rank(); ++d) {
      same_shape = t.sizes[d] == sizes[d] || t.sizes[d] != Expr(1);
    }
  }
  auto all = [&](auto question) { return std::all_of(layouts.begin(), layouts.end(), question); };
  if (same_shape && !layouts.empty()) {
    if (all([](const SampleLayout& l) { return l.IsContiguous(); })) {
      return ContiguousStrides(sizes);
    }
    if (sizes.size() == 4 && all([](const SampleLayout& l) { return l.IsChannelsLast(); })) {
      return ChannelsLastStrides(sizes);
    }
    if (all([&](const SampleLayout& l) {
          return l.IsDense() && l.strides == layouts[0].strides;
        })) {
      return inputs[0].strides;
    }
  }
  std::vector<std::vector<int64_t>> operand_strides;
  for (const SampleLayout& layout : layouts) {
    operand_strides.push_back(BroadcastStrides(layout, sample_sizes));
  }
  int rank = static_cast<int>(sizes.size());
  std::vector<int> order = SortDims(
      rank, [&](int a, int b) { return CompareDims(operand_strides, sample_sizes, a, b); });
  bool is_reversed = true;
  for (int k = 0; k < rank; ++k) is_reversed &= order[k] == rank - 1 - k;
  if (is_reversed) return ContiguousStrides(sizes);
  std::vector<Expr> strides(rank);
  Expr next = 1;
  for (int d : order) {
    strides[d] = next;
    next = next * sizes[d];
  }
  return strides;
}

}  // namespace lathe
