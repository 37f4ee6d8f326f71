#include "ir/ops/view/reshape_index.h"

namespace lathe {
namespace {

// One side's dimensions of a group: [begin, end).
struct Group {
  size_t from_begin, from_end, to_begin, to_end;
};

// Grows the side with the smaller product until both are known equal. When that cannot be known
// the group takes all that is left.
Group NextGroup(absl::Span<const Expr> from, absl::Span<const Expr> to, size_t f, size_t t,
                const ShapeEnv& shapes) {
  Group g{f, f, t, t};
  if (f == from.size() || t == to.size()) return {f, from.size(), t, to.size()};
  Expr left = from[g.from_end++], right = to[g.to_end++];
  for (;;) {
    if (left == right || shapes.IsKnownEqual(left, right)) return g;
    const bool more_left = g.from_end < from.size(), more_right = g.to_end < to.size();
    if (!more_left && !more_right) return g;
    // With unknown order both orders of growth are right, as long as a match is found; dividing
    // tells which side lacks a factor.
    bool grow_left = more_left;
    if (more_left && more_right) {
      const bool left_divides = shapes.IsKnownEqual(symbolic::Mod(right, left), 0);
      const bool right_divides = shapes.IsKnownEqual(symbolic::Mod(left, right), 0);
      grow_left =
          left_divides && !right_divides
              ? true
              : (right_divides && !left_divides ? false
                                                : shapes.IsKnownTrue(symbolic::Le(left, right)));
    }
    if (grow_left) {
      left = left * from[g.from_end++];
    } else {
      right = right * to[g.to_end++];
    }
  }
}

}  // namespace

Expr FlattenIndex(absl::Span<const Expr> index, absl::Span<const Expr> sizes) {
  Expr flat = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    flat = sizes[d] == 1 ? flat : flat * sizes[d] + index[d];
  }
  return flat;
}

std::vector<Expr> UnflattenIndex(const Expr& flat, absl::Span<const Expr> sizes) {
  std::vector<Expr> index(sizes.size(), 0);
  Expr stride = 1;
  size_t outermost = 0;  // the first dimension that is not 1: its index needs no modulus
  while (outermost < sizes.size() && sizes[outermost] == 1) ++outermost;
  for (size_t d = sizes.size(); d-- > outermost;) {
    if (sizes[d] == 1) continue;
    Expr quotient = stride == 1 ? flat : symbolic::FloorDiv(flat, stride);
    index[d] = d == outermost ? quotient : symbolic::Mod(quotient, sizes[d]);
    stride = stride * sizes[d];
  }
  return index;
}

std::vector<Expr> ReshapeIndex(absl::Span<const Expr> index, absl::Span<const Expr> to,
                               absl::Span<const Expr> from, const ShapeEnv& shapes) {
  for (const Expr& size : from) {
    if (size == 0) return std::vector<Expr>(from.size(), 0);  // there is no element
  }
  // Sizes of 1 hold nothing: they are skipped on both sides.
  std::vector<Expr> to_sizes, to_index, from_sizes;
  std::vector<size_t> from_dims;
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] == 1) continue;
    to_sizes.push_back(to[d]);
    to_index.push_back(index[d]);
  }
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] == 1) continue;
    from_sizes.push_back(from[d]);
    from_dims.push_back(d);
  }
  std::vector<Expr> result(from.size(), 0);
  size_t f = 0, t = 0;
  while (f < from_sizes.size() || t < to_sizes.size()) {
    Group g = NextGroup(from_sizes, to_sizes, f, t, shapes);
    auto to_part = absl::MakeConstSpan(to_sizes).subspan(g.to_begin, g.to_end - g.to_begin);
    auto index_part = absl::MakeConstSpan(to_index).subspan(g.to_begin, g.to_end - g.to_begin);
    auto from_part =
        absl::MakeConstSpan(from_sizes).subspan(g.from_begin, g.from_end - g.from_begin);
    std::vector<Expr> part = UnflattenIndex(FlattenIndex(index_part, to_part), from_part);
    for (size_t d = 0; d < part.size(); ++d) result[from_dims[g.from_begin + d]] = part[d];
    f = g.from_end;
    t = g.to_end;
  }
  return result;
}

}  // namespace lathe
