#include "ir/ops/convolve/planar_convolution.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/view/compose.h"

namespace lathe {
namespace {

struct Convolution {
  Value *input, *weight;
  std::vector<Expr> stride, padding, dilation;
  Expr groups;
  int spatial;
};

// {dimension of the last padded, ..., its two sides} from sides in order of the dimensions.
std::vector<Expr> PadArgument(const std::vector<Expr>& before, const std::vector<Expr>& after) {
  std::vector<Expr> pads;
  for (size_t d = before.size(); d-- > 0;) {
    pads.push_back(before[d]);
    pads.push_back(after[d]);
  }
  return pads;
}

bool AreAll(const std::vector<Expr>& values, int64_t wanted) {
  return std::all_of(values.begin(), values.end(), [&](const Expr& e) { return e == wanted; });
}

// [in, out / groups, kernel...] to [out, in / groups, kernel...], each dimension of the kernel
// backwards.
Value* FlippedWeight(Builder& b, const Convolution& c) {
  const std::vector<Expr> sizes = TypeOf(c.weight).sizes;
  const std::vector<Expr> kernel(sizes.begin() + 2, sizes.end());
  std::vector<Expr> split = {c.groups, symbolic::FloorDiv(sizes[0], c.groups), sizes[1]};
  split.insert(split.end(), kernel.begin(), kernel.end());
  std::vector<Expr> joined = {c.groups * sizes[1], split[1]};
  joined.insert(joined.end(), kernel.begin(), kernel.end());
  std::vector<Expr> last(c.spatial);
  std::iota(last.begin(), last.end(), int64_t{2});
  Value* by_group = b.Call("aten.transpose.int", {Reshape(b, c.weight, split), 1, 2});
  return b.Call("aten.flip", {Reshape(b, by_group, joined), last});
}

// stride - 1 zeros behind every element.
Value* Spaced(Builder& b, const Convolution& c) {
  if (AreAll(c.stride, 1)) return c.input;
  const std::vector<Expr> sizes = TypeOf(c.input).sizes;
  std::vector<Expr> places = {sizes[0], sizes[1]}, spaced = places;
  std::vector<Expr> before(2 * c.spatial, 0), after;
  for (int d = 0; d < c.spatial; ++d) {
    places.insert(places.end(), {sizes[d + 2], Expr(1)});
    after.insert(after.end(), {Expr(0), c.stride[d] - 1});
    spaced.push_back(sizes[d + 2] * c.stride[d]);
  }
  Value* x = b.Call("aten.constant_pad_nd",
                    {Reshape(b, c.input, places), PadArgument(before, after), Scalar(0)});
  return Reshape(b, x, spaced);
}

// The same result from a convolution that is not transposed.
Convolution WithoutTransposition(Builder& b, const Convolution& c,
                                 const std::vector<Expr>& output_padding) {
  std::vector<Expr> before, after;
  for (int d = 0; d < c.spatial; ++d) {
    const Expr reach = c.dilation[d] * (TypeOf(c.weight).sizes[d + 2] - 1);
    before.push_back(reach - c.padding[d]);
    // What Spaced left behind the last element counts.
    after.push_back(before[d] + output_padding[d] - (c.stride[d] - 1));
  }
  Convolution result = c;
  result.weight = FlippedWeight(b, c);
  result.input = Spaced(b, c);
  if (!b.status().ok()) return result;
  result.stride.assign(c.spatial, 1);
  result.padding.assign(c.spatial, 0);
  if (before == after && std::all_of(before.begin(), before.end(), [&](const Expr& e) {
        return b.shapes().IsKnownTrue(symbolic::Ge(e, 0));
      })) {
    result.padding = before;
  } else {
    result.input =
        b.Call("aten.constant_pad_nd", {result.input, PadArgument(before, after), Scalar(0)});
  }
  return result;
}

Value* Planar(Builder& b, const Convolution& c) {
  const std::vector<Expr> none(2, 0);
  return b.Call("lathe.convolution",
                {c.input, c.weight, c.stride, c.padding, c.dilation, false, none, c.groups});
}

std::vector<Expr> WithoutDepth(const std::vector<Expr>& list) {
  return {list.begin() + 1, list.end()};
}

// [n, c, depth, ...] as [n * places, c * kernel, ...]: what one place of the result sees of the
// depth becomes channels, beside those of its group.
Value* OverDepth(Builder& b, const Convolution& c) {
  Value* x = c.input;
  if (!(c.padding[0] == 0)) {
    x = b.Call("aten.constant_pad_nd",
               {x, std::vector<Expr>{0, 0, 0, 0, c.padding[0], c.padding[0]}, Scalar(0)});
  }
  const TensorType& weight = TypeOf(c.weight);
  const Expr reach = c.dilation[0] * (weight.sizes[2] - 1) + 1;
  Value* seen = b.Call("aten.unfold", {x, 2, reach, c.stride[0]});
  if (!(c.dilation[0] == 1)) {
    seen = b.Call("aten.slice.Tensor", {seen, 5, 0, reach, c.dilation[0]});
  }
  // [n, c, places, h, w, kernel]
  seen = b.Call("aten.permute", {seen, std::vector<Expr>{0, 2, 1, 5, 3, 4}});
  if (!b.status().ok()) return nullptr;
  const std::vector<Expr> sizes = TypeOf(seen).sizes;
  return Reshape(b, seen, {sizes[0] * sizes[1], sizes[2] * sizes[3], sizes[4], sizes[5]});
}

Value* SpatialConvolution(Builder& b, const Convolution& c) {
  Convolution plane = c;
  plane.input = OverDepth(b, c);
  const std::vector<Expr> weight = TypeOf(c.weight).sizes;
  plane.weight = Reshape(b, c.weight, {weight[0], weight[1] * weight[2], weight[3], weight[4]});
  for (auto* list : {&plane.stride, &plane.padding, &plane.dilation}) *list = WithoutDepth(*list);
  if (!b.status().ok()) return nullptr;
  Value* y = Planar(b, plane);
  if (!b.status().ok()) return nullptr;
  const std::vector<Expr> sizes = TypeOf(y).sizes;
  const Expr batch = TypeOf(c.input).sizes[0];
  const Expr in = TypeOf(c.input).sizes[2] + c.padding[0] * 2;
  const Expr reach = c.dilation[0] * (weight[2] - 1) + 1;
  const Expr places = b.shapes().Simplify(symbolic::FloorDiv(in - reach, c.stride[0]) + 1);
  y = Reshape(b, y, {batch, places, sizes[1], sizes[2], sizes[3]});
  return Clone(b, b.Call("aten.transpose.int", {y, 1, 2}), MemoryFormat::kContiguous);
}

}  // namespace

absl::StatusOr<std::vector<Argument>> DecomposeToPlanes(Builder& b, const OpArgs& args) {
  Convolution c{args.Tensor(0), args.Tensor(1), args.Ints(2),           args.Ints(3),
                args.Ints(4),   args.Int(7),    args.Type(0).rank() - 2};
  if (c.spatial > 3) {
    return Unimplemented("convolution: ", c.spatial, " spatial dimensions; eager has one to three");
  }
  if (args.Bool(5)) c = WithoutTransposition(b, c, args.Ints(6));
  LATHE_RETURN_IF_ERROR(b.status());
  return OneArgument(c.spatial == 3 ? SpatialConvolution(b, c) : Planar(b, c));
}

}  // namespace lathe
