// The same elements elsewhere: flip, roll, repeat, pixel_shuffle and their kin.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/index/mapped_row.h"
#include "ir/ops/result_rules.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/dense_strides.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Decomposed = absl::StatusOr<Arguments>;

absl::StatusOr<std::vector<int>> WrappedDims(const OpArgs& args, int argument) {
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> given, args.ConstantInts(argument));
  std::vector<int> dims;
  for (int64_t d : given) {
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(d, args.Type(0).rank()));
    if (args.Type(0).rank() > 0) dims.push_back(dim);
  }
  return dims;
}

OpRow FlipRow() {
  return MappedRow({
      .schema = "aten::flip(Tensor self, int[] dims) -> Tensor",
      .doc = "Dimensions in reverse.",
      .infer = [](const InferContext& c) -> Types {
        LATHE_ASSIGN_OR_RETURN(std::vector<int> dims, WrappedDims(c.args, 1));
        std::sort(dims.begin(), dims.end());
        if (std::adjacent_find(dims.begin(), dims.end()) != dims.end()) {
          return InvalidArgument("flip: a dim appears multiple times in the list of dims");
        }
        TensorType type = c.args.Type(0);
        type.strides = PreservedStrides(type, c.shapes);
        type.offset = 0;
        return One(std::move(type));
      },
      .map = [](const MapContext& c) -> absl::StatusOr<ElementMap> {
        LATHE_ASSIGN_OR_RETURN(std::vector<int> dims, WrappedDims(c.args, 1));
        return ElementMap([dims, sizes = c.args.Type(0).sizes](Index index) {
          MappedElement element;
          element.place.assign(index.begin(), index.end());
          for (int d : dims) element.place[d] = sizes[d] - 1 - element.place[d];
          return element;
        });
      },
      .samples = {"aten.flip(f32[3, 4], [0, -1])", "aten.flip(f32[s0, 2], [0])"},
  });
}

// Shifts a dimension; without dims the tensor as a vector.
OpRow RollRow() {
  return MappedRow({
      .schema = "aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor",
      .doc = "Dimensions shifted, what leaves at the end coming back at the front.",
      .infer = [](const InferContext& c) -> Types {
        LATHE_ASSIGN_OR_RETURN(std::vector<int> dims, WrappedDims(c.args, 2));
        const size_t shifts = c.args.Ints(1).size();
        if (shifts == 0) return InvalidArgument("`shifts` required");
        if (c.args.Ints(2).size() != shifts && !(c.args.Ints(2).empty() && shifts == 1)) {
          return InvalidArgument("shifts and dimensions must align. shifts: ", shifts,
                                 ", dims: ", c.args.Ints(2).size());
        }
        const TensorType& self = c.args.Type(0);
        return One(ContiguousType(self.dtype, self.sizes, self.device));
      },
      .map = [](const MapContext& c) -> absl::StatusOr<ElementMap> {
        LATHE_ASSIGN_OR_RETURN(std::vector<int> dims, WrappedDims(c.args, 2));
        return ElementMap(
            [dims, shifts = c.args.Ints(1), sizes = c.args.Type(0).sizes](Index index) {
              MappedElement element;
              element.place.assign(index.begin(), index.end());
              for (size_t k = 0; k < dims.size(); ++k) {
                const Expr& size = sizes[dims[k]];
                if (size == 0) continue;
                Expr& i = element.place[dims[k]];
                i = symbolic::Mod(i - shifts[k], size);
              }
              return element;
            });
      },
      .samples = {"aten.roll(f32[3, 4], [1, -2], [0, 1])"},
  });
}

Decomposed DecomposeRollAll(Builder& b, const OpArgs& args) {
  Value* flat = Reshape(b, args.Tensor(0), {-1});
  Value* rolled = b.Call("lathe.roll", {flat, args[1], std::vector<Expr>{0}});
  return OneArgument(Reshape(b, rolled, args.Type(0).sizes));
}

// aten.roll: without dims of the flat tensor.
OpRow AtenRollRow() {
  OpRow row;
  row.schema = "aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor";
  row.doc = "Dimensions (all of them as one when none is named) shifted around.";
  row.decompose = [](Builder& b, const OpArgs& args) -> Decomposed {
    if (args.Ints(2).empty() && args.Ints(1).size() == 1) return DecomposeRollAll(b, args);
    return OneArgument(b.Call("lathe.roll", {args[0], args[1], args[2]}));
  };
  row.samples = {"aten.roll(f32[3, 4], [1, -2], [0, 1])", "aten.roll(f32[3, 4], [5])"};
  return row;
}

OpRow RepeatRow() {
  return MappedRow({
      .schema = "aten::repeat(Tensor self, SymInt[] repeats) -> Tensor",
      .doc = "Copies of the tensor side by side, as many along each dimension as asked for.",
      .infer = [](const InferContext& c) -> Types {
        const TensorType& self = c.args.Type(0);
        std::vector<Expr> sizes = c.args.Ints(1);
        const int extra = static_cast<int>(sizes.size()) - self.rank();
        if (extra < 0) {
          return InvalidArgument(
              "Number of dimensions of repeat dims can not be smaller than "
              "number of dimensions of tensor");
        }
        for (size_t d = 0; d < sizes.size(); ++d) {
          if (symbolic::IsRefused(c.shapes, symbolic::Lt(sizes[d], 0))) {
            return InvalidArgument("repeat: repeats must be non-negative");
          }
          if (static_cast<int>(d) >= extra) sizes[d] = sizes[d] * self.sizes[d - extra];
        }
        return One(ContiguousType(self.dtype, std::move(sizes), self.device));
      },
      .map = [](const MapContext& c) -> absl::StatusOr<ElementMap> {
        const std::vector<Expr> repeats = c.args.Ints(1), sizes = c.args.Type(0).sizes;
        return ElementMap([repeats, sizes](Index index) {
          const size_t extra = repeats.size() - sizes.size();
          MappedElement element;
          for (size_t d = 0; d < sizes.size(); ++d) {
            const Expr& i = index[d + extra];
            const bool wraps = !(repeats[d + extra] == 1) && !(sizes[d] == 0);
            element.place.push_back(wraps ? symbolic::Mod(i, sizes[d]) : i);
          }
          return element;
        });
      },
      .samples = {"aten.repeat(f32[2, 3], [2, 1, 2])", "aten.repeat(f32[s0], [3, 1])"},
  });
}

Decomposed DecomposeTile(Builder& b, const OpArgs& args) {
  std::vector<Expr> repeats = args.Ints(1);
  const int missing = args.Type(0).rank() - static_cast<int>(repeats.size());
  if (missing > 0) repeats.insert(repeats.begin(), missing, 1);
  return OneArgument(b.Call("aten.repeat", {args.Tensor(0), repeats}));
}

// repeat_interleave(self, n, dim): each place n times.
Decomposed DecomposeRepeatInterleave(Builder& b, const OpArgs& args) {
  Value* self = args.Tensor(0);
  if (args.IsNone(2)) self = Reshape(b, self, {-1});
  LATHE_RETURN_IF_ERROR(b.status());
  const TensorType type = TypeOf(self);
  int dim = 0;
  if (!args.IsNone(2)) {
    LATHE_ASSIGN_OR_RETURN(int64_t wanted, args.ConstantInt(2));
    LATHE_ASSIGN_OR_RETURN(dim, WrapDim(wanted, type.rank()));
  }
  if (type.rank() == 0) return InvalidArgument("repeat_interleave of a 0-dim tensor with a dim");
  std::vector<Expr> expanded = type.sizes, sizes = type.sizes;
  expanded.insert(expanded.begin() + dim + 1, args.Int(1));
  sizes[dim] = sizes[dim] * args.Int(1);
  Value* wide = b.Call("aten.expand", {b.Call("aten.unsqueeze", {self, dim + 1}), expanded});
  Value* dense = Clone(b, wide, MemoryFormat::kContiguous);
  return OneArgument(b.Call("aten.view", {dense, sizes}));
}

Decomposed DecomposeRepeatInterleaveTensor(Builder& b, const OpArgs& args) {
  Value *self = args.Tensor(0), *repeats = args.Tensor(1);
  Expr dim = 0;
  if (args.IsNone(2)) {
    self = Reshape(b, self, {-1});
  } else {
    dim = args.Int(2);
  }
  LATHE_RETURN_IF_ERROR(b.status());
  if (TypeOf(repeats).rank() == 0 || TypeOf(repeats).sizes[0] == 1) {
    LATHE_ASSIGN_OR_RETURN(int64_t constant, args.ConstantInt(2));
    LATHE_ASSIGN_OR_RETURN(int wrapped, WrapDim(constant, TypeOf(self).rank()));
    repeats = b.Call("aten.expand",
                     {Reshape(b, repeats, {1}), std::vector<Expr>{TypeOf(self).sizes[wrapped]}});
  }
  Value* places = b.Call("aten.repeat_interleave.Tensor", {repeats}, {{"output_size", args[3]}});
  return OneArgument(b.Call("aten.index_select", {self, dim, places}));
}

// Quarter turns from the first dimension to the second.
Decomposed DecomposeRot90(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(int64_t k, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(std::vector<int> dims, WrappedDims(args, 2));
  if (dims.size() != 2 || dims[0] == dims[1]) {
    return InvalidArgument("rot90: expected two different rotation dims, got ",
                           ToString(args.Ints(2)));
  }
  Value* self = args.Tensor(0);
  const Expr first = dims[0], second = dims[1];
  auto flip = [&](std::vector<Expr> d) { return b.Call("aten.flip", {self, std::move(d)}); };
  switch (((k % 4) + 4) % 4) {
    case 1:
      return OneArgument(b.Call("aten.transpose.int", {flip({second}), first, second}));
    case 2:
      return OneArgument(flip({first, second}));
    case 3:
      return OneArgument(b.Call("aten.transpose.int", {flip({first}), first, second}));
    default:
      return OneArgument(Clone(b, self, MemoryFormat::kContiguous));
  }
}

// [..., c * r * r, h, w] -> [..., c, h * r, w * r], or back.
Decomposed DecomposePixelShuffle(Builder& b, const OpArgs& args, bool back) {
  Value* self = args.Tensor(0);
  const TensorType type = TypeOf(self);
  LATHE_ASSIGN_OR_RETURN(int64_t r, args.ConstantInt(1));
  const int batch = type.rank() - 3;
  if (batch < 0 || r <= 0) {
    return InvalidArgument(args.schema().name,
                           ": expects input of at least 3 dimensions and a "
                           "positive factor, got ",
                           ToString(type), " and ", r);
  }
  const Expr c = type.sizes[batch], h = type.sizes[batch + 1], w = type.sizes[batch + 2];
  const std::vector<Expr> divided = back ? std::vector<Expr>{h, w} : std::vector<Expr>{c};
  for (const Expr& size : divided) {
    if (symbolic::IsRefused(b.shapes(), symbolic::Ne(symbolic::Mod(size, back ? r : r * r), 0))) {
      return InvalidArgument(args.schema().name, ": a size of ", ToString(type),
                             " is not divisible by the factor ", r);
    }
  }
  std::vector<Expr> split(type.sizes.begin(), type.sizes.begin() + batch), joined = split;
  std::vector<Expr> order;
  for (int d = 0; d < batch; ++d) order.push_back(d);
  const std::vector<int> places =
      back ? std::vector<int>{0, 2, 4, 1, 3} : std::vector<int>{0, 3, 1, 4, 2};
  for (int p : places) order.push_back(batch + p);
  if (back) {
    for (const Expr& e :
         {c, symbolic::FloorDiv(h, r), Expr(r), symbolic::FloorDiv(w, r), Expr(r)}) {
      split.push_back(e);
    }
    for (const Expr& e : {c * r * r, symbolic::FloorDiv(h, r), symbolic::FloorDiv(w, r)}) {
      joined.push_back(e);
    }
  } else {
    for (const Expr& e : {symbolic::FloorDiv(c, r * r), Expr(r), Expr(r), h, w}) {
      split.push_back(e);
    }
    for (const Expr& e : {symbolic::FloorDiv(c, r * r), h * r, w * r}) joined.push_back(e);
  }
  Value* parts = b.Call("aten.permute", {Reshape(b, self, split), order});
  Value* dense = Clone(b, parts, MemoryFormat::kContiguous);
  Value* result = b.Call("aten._unsafe_view", {dense, joined});
  if (IsChannelsLast(type, b.shapes())) result = Clone(b, result, MemoryFormat::kChannelsLast);
  return OneArgument(result);
}

// channels of `groups` groups dealt out in turn.
Decomposed DecomposeChannelShuffle(Builder& b, const OpArgs& args) {
  Value* self = args.Tensor(0);
  const TensorType type = TypeOf(self);
  if (type.rank() < 3) return InvalidArgument("channel_shuffle expects input with > 2 dims");
  const Expr groups = args.Int(1);
  std::vector<Expr> split = type.sizes;
  split[1] = symbolic::FloorDiv(type.sizes[1], groups);
  split.insert(split.begin() + 1, groups);
  Value* dealt = b.Call("aten.transpose.int", {Reshape(b, self, split), 1, 2});
  return OneArgument(Reshape(b, Clone(b, dealt, MemoryFormat::kContiguous), type.sizes));
}

Decomposed DecomposeMeshgrid(Builder& b, const OpArgs& args, bool is_xy) {
  std::vector<Value*> tensors = args.Tensors(0);
  const int count = static_cast<int>(tensors.size());
  is_xy = is_xy && count >= 2;
  if (is_xy) std::swap(tensors[0], tensors[1]);
  std::vector<Expr> sizes;
  for (Value* t : tensors) {
    if (TypeOf(t).rank() > 1) {
      return InvalidArgument(
          "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: ",
          ToString(TypeOf(t)));
    }
    sizes.push_back(NumElements(TypeOf(t)));
  }
  std::vector<Value*> grids;
  for (int k = 0; k < count; ++k) {
    std::vector<Expr> along(count, 1);
    along[k] = sizes[k];
    grids.push_back(b.Call("aten.expand", {Reshape(b, tensors[k], along), sizes}));
  }
  if (is_xy) std::swap(grids[0], grids[1]);
  Arguments results;
  for (Value* g : grids) results.push_back(g ? Argument::Of(g) : Argument());
  return results;
}

Decomposed DecomposeOneHot(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(int64_t classes, args.ConstantInt(1));
  if (classes < 0) {
    return Unimplemented("one_hot without num_classes: the number depends on the data");
  }
  Value *self = args.Tensor(0), *numbers = b.Call("aten.arange", {classes});
  // Class values outside 0..classes-1 are refused as indexes are.
  Value* values = b.Call("aten.index_select", {numbers, 0, Reshape(b, self, {-1})});
  values = Reshape(b, values, TypeOf(self).sizes);
  Value* equal = b.Call("aten.eq.Tensor", {b.Call("aten.unsqueeze", {values, -1}), numbers});
  return OneArgument(CastTo(b, equal, DType::kI64));
}

// ---- im2col ----

struct Columns {
  int64_t kernel[2], dilation[2], padding[2], stride[2];
  Expr blocks[2];
};

absl::StatusOr<Columns> ColumnsOf(const OpArgs& args) {
  const TensorType& self = args.Type(0);
  if (self.rank() != 3 && self.rank() != 4) {
    return InvalidArgument("im2col: expected 3D or 4D tensor for input, got ", ToString(self));
  }
  Columns c;
  int64_t* lists[] = {c.kernel, c.dilation, c.padding, c.stride};
  for (int i = 0; i < 4; ++i) {
    LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> values, args.ConstantInts(i + 1));
    if (values.size() != 2) return InvalidArgument("im2col: expected two numbers a list");
    for (int d : {0, 1}) {
      lists[i][d] = values[d];
      if (i != 2 && values[d] <= 0) {
        return InvalidArgument("im2col: kernel size, dilation and stride should be positive");
      }
    }
  }
  for (int d : {0, 1}) {
    const Expr& in = self.sizes[self.rank() - 2 + d];
    c.blocks[d] =
        symbolic::FloorDiv(in + (2 * c.padding[d] - c.dilation[d] * (c.kernel[d] - 1) - 1),
                           c.stride[d]) +
        1;
    if (c.blocks[d].AsInt() && *c.blocks[d].AsInt() < 1) {
      return InvalidArgument("im2col: given input of size ", ToString(self.sizes),
                             ", there is no place for a block");
    }
  }
  return c;
}

OpRow Im2colRow() {
  return MappedRow({
      .schema = "aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, "
                "int[2] stride) -> Tensor",
      .doc = "Every window of an image as a column.",
      .infer = [](const InferContext& c) -> Types {
        LATHE_ASSIGN_OR_RETURN(Columns columns, ColumnsOf(c.args));
        const TensorType& self = c.args.Type(0);
        std::vector<Expr> sizes(self.sizes.begin(), self.sizes.end() - 3);
        sizes.push_back(self.sizes[self.rank() - 3] * columns.kernel[0] * columns.kernel[1]);
        sizes.push_back(c.shapes.Simplify(columns.blocks[0] * columns.blocks[1]));
        return One(ContiguousType(self.dtype, std::move(sizes), self.device));
      },
      .map = [](const MapContext& c) -> absl::StatusOr<ElementMap> {
        LATHE_ASSIGN_OR_RETURN(Columns columns, ColumnsOf(c.args));
        return ElementMap([columns, sizes = c.args.Type(0).sizes](Index index) {
          MappedElement element;
          element.place.assign(index.begin(), index.end() - 2);
          const Expr row = index[index.size() - 2], block = index.back();
          const int64_t area = columns.kernel[0] * columns.kernel[1];
          element.place.push_back(symbolic::FloorDiv(row, area));
          const Expr tap = symbolic::Mod(row, area);
          const Expr taps[] = {symbolic::FloorDiv(tap, columns.kernel[1]),
                               symbolic::Mod(tap, columns.kernel[1])};
          const Expr at[] = {symbolic::FloorDiv(block, columns.blocks[1]),
                             symbolic::Mod(block, columns.blocks[1])};
          for (int d : {0, 1}) {
            Expr i = at[d] * columns.stride[d] + taps[d] * columns.dilation[d] - columns.padding[d];
            if (columns.padding[d] > 0) {
              element.conditions.push_back(symbolic::Le(0, i));
              element.conditions.push_back(symbolic::Lt(i, sizes[sizes.size() - 2 + d]));
            }
            element.place.push_back(i);
          }
          return element;
        });
      },
      .samples = {"aten.im2col(f32[2, 3, 5, 6], [2, 3], [1, 1], [1, 0], [1, 2])"},
  });
}

}  // namespace

std::vector<OpRow> RearrangeRows() {
  std::vector<OpRow> rows;
  rows.push_back(FlipRow());
  OpRow roll = RollRow();
  roll.schema = "lathe::roll(Tensor self, SymInt[] shifts, int[] dims) -> Tensor";
  roll.samples = {};
  rows.push_back(std::move(roll));
  rows.push_back(AtenRollRow());
  rows.push_back(RepeatRow());
  rows.push_back(Im2colRow());
  rows.push_back(CompositeRow("aten::tile(Tensor self, SymInt[] dims) -> Tensor",
                              "repeat with missing leading numbers taken as 1.", DecomposeTile,
                              {"aten.tile(f32[2, 3], [2])"}));
  rows.push_back(CompositeRow(
      "aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? "
      "output_size=None) -> Tensor",
      "Each place of a dimension several times in a row.", DecomposeRepeatInterleave,
      {"aten.repeat_interleave.self_int(f32[2, 3], 2, -1)",
       "aten.repeat_interleave.self_int(f32[2, 3], 2)"}));
  rows.push_back(CompositeRow(
      "aten::repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, SymInt? "
      "output_size=None) -> Tensor",
      "Each place of a dimension as often as a vector says.", DecomposeRepeatInterleaveTensor, {}));
  rows.push_back(DecomposedRow("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor",
                               "Quarter turns in the plane of two dimensions.", DecomposeRot90,
                               {"aten.rot90(f32[2, 3], 1)", "aten.rot90(f32[2, 3], 3)"}));
  rows.push_back(DecomposedRow(
      "aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
      "Channels dealt out over blocks of pixels.",
      [](Builder& b, const OpArgs& args) { return DecomposePixelShuffle(b, args, false); },
      {"aten.pixel_shuffle(f32[2, 8, 3, 4], 2)"}));
  rows.push_back(DecomposedRow(
      "aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
      "Blocks of pixels collected into channels.",
      [](Builder& b, const OpArgs& args) { return DecomposePixelShuffle(b, args, true); },
      {"aten.pixel_unshuffle(f32[2, 2, 6, 4], 2)"}));
  for (const char* name : {"channel_shuffle", "native_channel_shuffle"}) {
    rows.push_back(
        CompositeRow(absl::StrCat("aten::", name, "(Tensor self, SymInt groups) -> Tensor"),
                     "Channels of several groups dealt out in turn.", DecomposeChannelShuffle,
                     {absl::StrCat("aten.", name, "(f32[2, 6, 3, 4], 3)")}));
  }
  rows.push_back(CompositeRow(
      "aten::meshgrid(Tensor[] tensors) -> Tensor[]", "Coordinates of the grid over vectors.",
      [](Builder& b, const OpArgs& args) { return DecomposeMeshgrid(b, args, false); }, {}));
  rows.push_back(
      CompositeRow("aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]",
                   "Coordinates of the grid over vectors; \"xy\" swaps the first two.",
                   [](Builder& b, const OpArgs& args) -> Decomposed {
                     if (args.String(1) != "ij" && args.String(1) != "xy") {
                       return InvalidArgument(
                           "torch.meshgrid: indexing must be one of \"xy\" or \"ij\", but "
                           "received: ",
                           args.String(1));
                     }
                     return DecomposeMeshgrid(b, args, args.String(1) == "xy");
                   },
                   {}));
  rows.push_back(CompositeRow("aten::one_hot(Tensor self, int num_classes=-1) -> Tensor",
                              "A vector of zeros with a one at each number's place.",
                              DecomposeOneHot, {"aten.one_hot(i64[3], 5)"}));
  return rows;
}

}  // namespace lathe
