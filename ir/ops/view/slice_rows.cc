// Views of a part: slice, select, narrow.

#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/view/size_math.h"
#include "ir/ops/view/view_rows.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Map = std::function<std::vector<Expr>(Index)>;

// A slice of one dimension, its numbers resolved.
struct Slice {
  int dim = 0;
  Expr start, length, step = 1;
};
using SliceRule = std::function<absl::StatusOr<Slice>(const OpArgs&, const ShapeEnv&)>;

absl::StatusOr<Slice> SliceOfSlice(const OpArgs& args, const ShapeEnv& shapes) {
  const TensorType& self = args.Type(0);
  if (self.rank() == 0) {
    return InvalidArgument("slice() cannot be applied to a 0-dim tensor.");
  }
  Slice slice;
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(slice.dim, WrapDim(wanted, self.rank()));
  slice.step = args.Int(4);
  if (symbolic::IsRefused(shapes, symbolic::Le(slice.step, 0))) {
    return InvalidArgument("slice step must be positive");
  }
  SliceBounds bounds = BoundsOfSlice(self.sizes[slice.dim], args.OptionalInt(2),
                                     args.OptionalInt(3), slice.step, shapes);
  slice.start = bounds.start;
  slice.length = bounds.length;
  return slice;
}

absl::StatusOr<Slice> SliceOfNarrow(const OpArgs& args, const ShapeEnv& shapes) {
  const TensorType& self = args.Type(0);
  if (self.rank() == 0) return InvalidArgument("narrow() cannot be applied to a 0-dim tensor.");
  Slice slice;
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(slice.dim, WrapDim(wanted, self.rank()));
  const Expr& size = self.sizes[slice.dim];
  slice.length = args.Int(3);
  if (symbolic::IsRefused(shapes, symbolic::Lt(slice.length, 0))) {
    return InvalidArgument("narrow(): length must be non-negative.");
  }
  slice.start = WrapIndex(args.Int(2), size, shapes);
  if (symbolic::IsRefused(shapes, symbolic::Or(symbolic::Lt(slice.start, 0),
                                               symbolic::Gt(slice.start + slice.length, size)))) {
    return InvalidArgument("narrow: start (", symbolic::ToString(args.Int(2)), ") + length (",
                           symbolic::ToString(slice.length), ") exceeds dimension size (",
                           symbolic::ToString(size), ").");
  }
  return slice;
}

Types TypeOfSlice(const TensorType& self, const Slice& slice) {
  TensorType type = self;
  type.offset = type.offset + slice.start * type.strides[slice.dim];
  type.sizes[slice.dim] = slice.length;
  type.strides[slice.dim] = type.strides[slice.dim] * slice.step;
  return One(std::move(type));
}

InferFunction InferOf(SliceRule rule) {
  return [rule](const InferContext& c) -> Types {
    LATHE_ASSIGN_OR_RETURN(Slice slice, rule(c.args, c.shapes));
    return TypeOfSlice(c.args.Type(0), slice);
  };
}

ViewMap MapOf(SliceRule rule) {
  return [rule](const LowerContext& c) -> absl::StatusOr<Map> {
    LATHE_ASSIGN_OR_RETURN(Slice slice, rule(c.args, c.shapes));
    return Map([slice](Index index) {
      std::vector<Expr> base(index.begin(), index.end());
      base[slice.dim] = base[slice.dim] * slice.step + slice.start;
      return base;
    });
  };
}

ViewInverseFunction InverseOf(SliceRule rule) {
  return [rule](Builder& b, const OpArgs& args, Value* base,
                Value* updated) -> absl::StatusOr<Argument> {
    LATHE_ASSIGN_OR_RETURN(Slice slice, rule(args, b.shapes()));
    Expr end = slice.start + slice.length * slice.step;
    return Argument::Of(
        b.Call("aten.slice_scatter", {base, updated, slice.dim, slice.start, end, slice.step}));
  };
}

// ---- select ----

struct Selection {
  int dim = 0;
  Expr place;
};

absl::StatusOr<Selection> SelectionOf(const OpArgs& args, const ShapeEnv& shapes) {
  const TensorType& self = args.Type(0);
  if (self.rank() == 0) {
    return InvalidArgument("select() cannot be applied to a 0-dim tensor.");
  }
  Selection selection;
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(selection.dim, WrapDim(wanted, self.rank()));
  const Expr& size = self.sizes[selection.dim];
  Expr index = args.Int(2);
  if (symbolic::IsRefused(shapes,
                          symbolic::Or(symbolic::Lt(index, -size), symbolic::Ge(index, size)))) {
    return OutOfRange("select(): index ", symbolic::ToString(index),
                      " out of range for tensor of size ", ToString(self.sizes), " at dimension ",
                      selection.dim);
  }
  selection.place = WrapIndex(index, size, shapes);
  return selection;
}

Types InferSelect(const InferContext& c) {
  LATHE_ASSIGN_OR_RETURN(Selection selection, SelectionOf(c.args, c.shapes));
  TensorType type = c.args.Type(0);
  type.offset = type.offset + selection.place * type.strides[selection.dim];
  type.sizes.erase(type.sizes.begin() + selection.dim);
  type.strides.erase(type.strides.begin() + selection.dim);
  return One(std::move(type));
}

absl::StatusOr<Map> SelectMap(const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(Selection selection, SelectionOf(c.args, c.shapes));
  return Map([selection](Index index) {
    std::vector<Expr> base(index.begin(), index.end());
    base.insert(base.begin() + selection.dim, selection.place);
    return base;
  });
}

}  // namespace

std::vector<OpRow> SliceRows() {
  std::vector<OpRow> rows;
  rows.push_back(ViewRow({
      .schema = "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? "
                "end=None, SymInt step=1) -> Tensor(a)",
      .doc = "Every step-th place of a dimension from start to before end, as Python slices.",
      .infer = InferOf(SliceOfSlice),
      .map = MapOf(SliceOfSlice),
      .inverse = InverseOf(SliceOfSlice),
      .samples = {"aten.slice.Tensor(f32[8, 3], 0, 1, 9223372036854775807, 2)",
                  "aten.slice.Tensor(f32[s0, 3], 0, -2)", "aten.slice.Tensor(f32[4], 0, 3, 1)"},
  }));
  rows.push_back(ViewRow({
      .schema = "aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
      .doc = "`length` places of a dimension from `start`.",
      .infer = InferOf(SliceOfNarrow),
      .map = MapOf(SliceOfNarrow),
      .inverse = InverseOf(SliceOfNarrow),
      .samples = {"aten.narrow(f32[8, 3], 0, 1, 4)"},
  }));
  rows.push_back(ViewRow({
      .schema = "aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
      .doc = "One place of a dimension, which disappears; a negative index counts from the end.",
      .infer = InferSelect,
      .map = SelectMap,
      .inverse = [](Builder& b, const OpArgs& args, Value* base,
                    Value* updated) -> absl::StatusOr<Argument> {
        return Argument::Of(b.Call("aten.select_scatter", {base, updated, args[1], args[2]}));
      },
      .samples = {"aten.select.int(f32[4, 3], 1, -1)", "aten.select.int(f32[s0, 3], 0, 0)"},
  }));
  return rows;
}

}  // namespace lathe
