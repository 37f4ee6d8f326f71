// Padding: constants, reflections, repeated edges.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
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

// pad[2 * k] and pad[2 * k + 1] are before and after dimension rank - 1 - k.
absl::StatusOr<std::vector<Expr>> PaddedSizes(const OpArgs& args, const ShapeEnv& shapes) {
  const TensorType& self = args.Type(0);
  const std::vector<Expr> pad = args.Ints(1);
  if (pad.size() % 2 != 0 || static_cast<int>(pad.size()) > 2 * self.rank()) {
    return InvalidArgument(args.schema().name,
                           ": length of pad must be even and no more than twice "
                           "the number of dimensions of the input, got ",
                           pad.size(), " for ", ToString(self));
  }
  std::vector<Expr> sizes = self.sizes;
  for (size_t k = 0; k < pad.size() / 2; ++k) {
    Expr& size = sizes[sizes.size() - 1 - k];
    size = shapes.Simplify(size + pad[2 * k] + pad[2 * k + 1]);
    if (symbolic::IsRefused(shapes, symbolic::Lt(size, 0))) {
      return InvalidArgument("The input size ", ToString(self.sizes), ", plus negative padding ",
                             ToString(pad), ", resulted in a negative output size");
    }
  }
  return sizes;
}

Types InferPadded(const InferContext& c) {
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes, PaddedSizes(c.args, c.shapes));
  const TensorType& self = c.args.Type(0);
  TensorType type = ContiguousType(self.dtype, std::move(sizes), self.device);
  if (IsChannelsLast(self, c.shapes)) type.strides = StridesOfChannelsLast(type.sizes);
  return One(std::move(type));
}

// With nothing to pad it is a clone of a part.
Types InferConstantPad(const InferContext& c) {
  LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types, InferPadded(c));
  const std::vector<Expr> pad = c.args.Ints(1);
  const bool only_cuts = std::all_of(pad.begin(), pad.end(), [](const Expr& e) {
    return e.AsInt().has_value() && *e.AsInt() <= 0;
  });
  if (!only_cuts) return types;
  TensorType type = types[0].tensor();
  type.strides = c.args.Type(0).strides;
  type.strides = PreservedStrides(type, c.shapes);
  return One(std::move(type));
}

absl::StatusOr<ElementMap> ConstantPadMap(const MapContext& c) {
  const std::vector<Expr> pad = c.args.Ints(1), sizes = c.args.Type(0).sizes;
  return ElementMap([=](Index index) {
    MappedElement element;
    element.place.assign(index.begin(), index.end());
    for (size_t k = 0; k < pad.size() / 2; ++k) {
      const size_t d = index.size() - 1 - k;
      Expr& i = element.place[d];
      i = i - pad[2 * k];
      const std::optional<int64_t> before = pad[2 * k].AsInt(), after = pad[2 * k + 1].AsInt();
      if (!before || *before > 0) element.conditions.push_back(symbolic::Le(0, i));
      if (!after || *after > 0) element.conditions.push_back(symbolic::Lt(i, sizes[d]));
    }
    return element;
  });
}

// How a place outside comes back inside.
using Fold = Expr (*)(const Expr& i, const Expr& size);
Expr Reflect(const Expr& i, const Expr& size) {
  return size - 1 - symbolic::Abs(size - 1 - symbolic::Abs(i));
}
Expr Replicate(const Expr& i, const Expr& size) {
  return symbolic::Min(symbolic::Max(i, 0), size - 1);
}

OpRow FoldedPad(const std::string& name, int spatial, Fold fold, bool reflects) {
  return MappedRow({
      .schema = absl::StrCat("aten::", name, spatial, "d(Tensor self, SymInt[", 2 * spatial,
                             "] padding) -> Tensor"),
      .doc = reflects ? "Padding by what lies inside, mirrored at the edge."
                      : "Padding by the edge itself.",
      .infer = [spatial, reflects](const InferContext& c) -> Types {
        const TensorType& self = c.args.Type(0);
        const std::vector<Expr> pad = c.args.Ints(1);
        if (self.rank() != spatial + 1 && self.rank() != spatial + 2) {
          return InvalidArgument(c.args.schema().name, ": expected ", spatial + 1, "D or ",
                                 spatial + 2, "D input, got ", ToString(self));
        }
        for (size_t k = 0; reflects && k < pad.size(); ++k) {
          const Expr& size = self.sizes[self.rank() - 1 - k / 2];
          if (!symbolic::IsRefused(c.shapes, symbolic::Ge(pad[k], size))) continue;
          return InvalidArgument(
              "Padding size should be less than the corresponding input "
              "dimension, but got: padding ",
              ToString(pad), " for input of size ", ToString(self.sizes));
        }
        return InferPadded(c);
      },
      .map = [fold](const MapContext& c) -> absl::StatusOr<ElementMap> {
        const std::vector<Expr> pad = c.args.Ints(1), sizes = c.args.Type(0).sizes;
        return ElementMap([=](Index index) {
          MappedElement element;
          element.place.assign(index.begin(), index.end());
          for (size_t k = 0; k < pad.size() / 2; ++k) {
            const size_t d = index.size() - 1 - k;
            element.place[d] = fold(element.place[d] - pad[2 * k], sizes[d]);
          }
          return element;
        });
      },
      .samples = {absl::StrCat("aten.", name, spatial, "d(f32[2",
                               spatial == 1   ? ", 5], [2, 1])"
                               : spatial == 2 ? ", 3, 5, 4], [2, 1, 1, 2])"
                                              : ", 3, 4, 5, 4], [2, 1, 1, 2, 1, 0])")},
  });
}

// Each dimension, after what negative numbers cut off, once more before and after itself.
absl::StatusOr<Arguments> PadCircular(Builder& b, Value* self, const std::vector<Expr>& pad) {
  const int padded = static_cast<int>(pad.size() / 2);
  if (pad.size() % 2 != 0 || padded > TypeOf(self).rank()) {
    return InvalidArgument("pad: ", pad.size(), " numbers do not pad ", ToString(TypeOf(self)));
  }
  for (int k = 0; k < padded; ++k) {
    const int64_t dim = TypeOf(self).rank() - 1 - k;
    const std::optional<int64_t> left = pad[2 * k].AsInt(), right = pad[2 * k + 1].AsInt();
    if (!left || !right) return Unimplemented("circular padding by a symbolic number");
    const Expr whole = TypeOf(self).sizes[dim];
    if (b.shapes().IsKnownTrue(symbolic::Lt(whole, std::max(*left, *right)))) {
      return InvalidArgument("Padding value causes wrapping around more than once.");
    }
    Value* middle = b.Call("aten.slice.Tensor", {self, dim, std::max<int64_t>(-*left, 0),
                                                 whole - std::max<int64_t>(-*right, 0)});
    LATHE_RETURN_IF_ERROR(b.status());
    const Expr size = TypeOf(middle).sizes[dim];
    // Unlike a slice, narrow refuses to reach further than there is, also where sizes are symbols.
    std::vector<Value*> parts;
    if (*left > 0) {
      parts.push_back(b.Call("aten.narrow", {middle, dim, size - *left, *left}));
    }
    parts.push_back(middle);
    if (*right > 0) parts.push_back(b.Call("aten.narrow", {middle, dim, 0, *right}));
    self = b.Call("aten.cat", {CallArgument(parts), dim});
  }
  return OneArgument(self);
}

absl::StatusOr<Arguments> PadBy(Builder& b, const OpArgs& args, const std::string& mode) {
  const std::vector<Expr> pad = args.Ints(1);
  if (mode == "constant") {
    return OneArgument(b.Call("aten.constant_pad_nd",
                              {args.Tensor(0), pad, Scalar(args.OptionalFloat(3).value_or(0))}));
  }
  const char* op = mode == "reflect" ? "aten.reflection_pad" : "aten.replication_pad";
  if (mode == "circular") return PadCircular(b, args.Tensor(0), pad);
  if (mode != "reflect" && mode != "replicate") {
    return InvalidArgument("Unrecognised padding mode ", mode);
  }
  if (pad.size() != 2 && pad.size() != 4 && pad.size() != 6) {
    return Unimplemented("pad with mode='", mode, "' of ", pad.size() / 2, " dimensions");
  }
  return OneArgument(b.Call(absl::StrCat(op, pad.size() / 2, "d"), {args.Tensor(0), pad}));
}

// pad(self, pad, mode, value)
absl::StatusOr<Arguments> DecomposePad(Builder& b, const OpArgs& args) {
  return PadBy(b, args, args.String(2));
}

// The mode by its number.
absl::StatusOr<Arguments> DecomposePadEnum(Builder& b, const OpArgs& args) {
  static constexpr const char* kModes[] = {"reflect", "replicate", "circular", "constant"};
  LATHE_ASSIGN_OR_RETURN(int64_t mode, args.ConstantInt(2));
  if (mode < 0 || mode > 3) return InvalidArgument("_pad_enum: there is no mode ", mode);
  return PadBy(b, args, kModes[mode]);
}

OpRow PadRow(std::string schema, std::string doc, DecomposeFunction decompose) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.decompose = std::move(decompose);
  row.composite = true;
  return row;
}

}  // namespace

std::vector<OpRow> PaddingRows() {
  std::vector<OpRow> rows;
  rows.push_back(MappedRow({
      .schema = "aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
      .doc = "Places before and after the last dimensions, of one value; negative numbers cut.",
      .infer = InferConstantPad,
      .map = ConstantPadMap,
      .fill_argument = 2,
      .samples = {"aten.constant_pad_nd(f32[2, 3], [1, 2], 0.5)",
                  "aten.constant_pad_nd(f32[s0, 3], [-1, 2, 0, 1])"},
  }));
  for (int n : {1, 2, 3}) {
    rows.push_back(FoldedPad("reflection_pad", n, Reflect, true));
    rows.push_back(FoldedPad("replication_pad", n, Replicate, false));
  }
  rows.push_back(PadRow(
      "aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor",
      "Padding of the last dimensions by a constant, a reflection, the edge or the other end.",
      DecomposePad));
  rows.push_back(
      PadRow("aten::_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor",
             "pad, its mode a number.", DecomposePadEnum));
  rows.push_back(PadRow(
      "aten::_pad_circular(Tensor self, SymInt[] pad) -> Tensor",
      "Padding of the last dimensions by their other end.",
      [](Builder& b, const OpArgs& args) { return PadCircular(b, args.Tensor(0), args.Ints(1)); }));
  return rows;
}

}  // namespace lathe
