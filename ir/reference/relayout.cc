#include "ir/reference/relayout.h"

#include <algorithm>

namespace lathe {
namespace {

Tensor Transposed(const Tensor& t) {
  Dims reversed(t.sizes());
  std::reverse(reversed.begin(), reversed.end());
  Dims strides = ContiguousStrides(reversed);
  std::reverse(strides.begin(), strides.end());
  return Tensor::EmptyStrided(t.dtype(), t.sizes(), strides);
}

Tensor Sliced(const Tensor& t) {
  const size_t last = t.sizes().size() - 1;
  Dims longer = t.sizes();
  longer[last] = 2 * longer[last] + 1;
  Dims strides = ContiguousStrides(longer);
  strides[last] = 2;
  return Tensor::Zeros(t.dtype(), longer).AsStrided(t.sizes(), strides, 0);
}

Tensor Expanded(const Tensor& t) {
  Dims one = t.sizes();
  one[0] = 1;
  Dims strides = ContiguousStrides(one);
  strides[0] = 0;
  return Tensor::Zeros(t.dtype(), one).AsStrided(t.sizes(), strides, 0);
}

}  // namespace

std::optional<Relayout> ParseRelayout(absl::string_view text) {
  if (text == "transposed") return Relayout::kTransposed;
  if (text == "sliced") return Relayout::kSliced;
  if (text == "expanded") return Relayout::kExpanded;
  return std::nullopt;
}

Tensor InLayout(const Tensor& t, Relayout layout) {
  if (t.rank() == 0 || t.numel() == 0) return t.Clone();
  if (layout != Relayout::kExpanded) {
    Tensor placed = layout == Relayout::kTransposed ? Transposed(t) : Sliced(t);
    placed.CopyFrom(t);
    return placed;
  }
  Tensor placed = Expanded(t);
  Dims one = t.sizes();
  one[0] = 1;
  placed.AsStrided(one, placed.strides(), 0).CopyFrom(t.AsStrided(one, t.strides(), t.offset()));
  return placed;
}

}  // namespace lathe
