// Views with the same elements in the same order: view, reshape, flatten, unflatten.

#include <numeric>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/view/reshape_index.h"
#include "ir/ops/view/size_math.h"
#include "ir/ops/view/view_rows.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Map = std::function<std::vector<Expr>(Index)>;

Types InferView(const InferContext& c) {
  const TensorType& self = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes, CompleteSizes(self.sizes, c.args.Ints(1), c));
  std::optional<std::vector<Expr>> strides = ViewStrides(self, sizes, c.shapes);
  if (!strides) {
    return InvalidArgument(c.args.schema().name, ": view size ", ToString(sizes),
                           " is not compatible with input tensor's size and stride (",
                           ToString(self),
                           "): at least one dimension spans across two contiguous subspaces");
  }
  return One(WithSizes(self, std::move(sizes), *std::move(strides)));
}

// A reshape of `self` to `sizes`: a view when strides allow, else a contiguous copy.
Types InferReshapeTo(const InferContext& c, std::vector<Expr> wanted) {
  const TensorType& self = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(std::vector<Expr> sizes, CompleteSizes(self.sizes, std::move(wanted), c));
  std::optional<std::vector<Expr>> strides = ViewStrides(self, sizes, c.shapes);
  if (!strides) return One(ContiguousType(self.dtype, std::move(sizes), self.device));
  return One(WithSizes(self, std::move(sizes), *std::move(strides)));
}

Types InferReshape(const InferContext& c) { return InferReshapeTo(c, c.args.Ints(1)); }

absl::StatusOr<Map> ReshapeMap(const LowerContext& c) {
  return Map([to = c.result().sizes, from = c.args.Type(0).sizes, &shapes = c.shapes](Index index) {
    return ReshapeIndex(index, to, from, shapes);
  });
}

absl::StatusOr<Argument> InverseView(Builder& b, const OpArgs&, Value* base, Value* updated) {
  return Argument::Of(b.Call("aten.view_copy", {updated, base->type.tensor().sizes}));
}

// Reshape as its parts: view, or clone and _unsafe_view.
absl::StatusOr<std::vector<Argument>> ReshapeParts(Builder& b, Value* self,
                                                   std::vector<Expr> sizes) {
  const TensorType& type = self->type.tensor();
  if (ViewStrides(type, sizes, b.shapes())) {
    return std::vector<Argument>{Argument::Of(b.Call("aten.view", {self, sizes}))};
  }
  Value* dense =
      b.Call("aten.clone", {self}, {{"memory_format", Argument::Of(MemoryFormat::kContiguous)}});
  return std::vector<Argument>{Argument::Of(b.Call("aten._unsafe_view", {dense, sizes}))};
}

// Decomposes to a reshape with the sizes that `infer` gives.
DecomposeFunction ReshapeAs(InferFunction infer) {
  return [infer](Builder& b, const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types, infer(InferContext{args, b.shapes(), {}}));
    return ReshapeParts(b, args.Tensor(0), types[0].tensor().sizes);
  };
}

OpRow ReshapeComposite(std::string schema, std::string doc, InferFunction infer,
                       std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = infer;
  row.decompose = ReshapeAs(infer);
  row.composite = true;
  row.samples = std::move(samples);
  return row;
}

Types InferFlatten(const InferContext& c) {
  const TensorType& self = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(int64_t start_dim, c.args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int64_t end_dim, c.args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int start, WrapDim(start_dim, self.rank()));
  LATHE_ASSIGN_OR_RETURN(int end, WrapDim(end_dim, self.rank()));
  if (start > end) {
    return InvalidArgument("flatten() has invalid args: start_dim cannot come after end_dim");
  }
  if (self.rank() == 0) return InferReshapeTo(c, {1});
  if (start == end) return One(self);
  std::vector<Expr> sizes(self.sizes.begin(), self.sizes.begin() + start);
  sizes.push_back(
      symbolic::Product(absl::MakeConstSpan(self.sizes).subspan(start, end - start + 1)));
  sizes.insert(sizes.end(), self.sizes.begin() + end + 1, self.sizes.end());
  return InferReshapeTo(c, std::move(sizes));
}

Types InferUnflatten(const InferContext& c) {
  const TensorType& self = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, self.rank()));
  std::vector<Expr> parts = c.args.Ints(2);
  if (parts.empty()) return InvalidArgument("unflatten: sizes must be non-empty");
  std::vector<Expr> sizes(self.sizes.begin(), self.sizes.begin() + dim);
  LATHE_ASSIGN_OR_RETURN(parts,
                         CompleteSizes(absl::MakeConstSpan(self.sizes).subspan(dim, 1), parts, c));
  sizes.insert(sizes.end(), parts.begin(), parts.end());
  sizes.insert(sizes.end(), self.sizes.begin() + dim + 1, self.sizes.end());
  return InferReshapeTo(c, std::move(sizes));
}

Types InferSizesOf(const InferContext& c) { return InferReshapeTo(c, c.args.Type(1).sizes); }

// ---- view.dtype: the same bytes as another element type ----

Types InferViewDType(const InferContext& c) {
  TensorType type = c.args.Type(0);
  const DType wanted = *c.args.OptionalDType(1);
  const int from = BitWidth(type.dtype), to = BitWidth(wanted);
  type.dtype = wanted;
  if (from == to) return One(type);
  if (type.rank() == 0) {
    return InvalidArgument("view.dtype: self.dim() cannot be 0 to view ",
                           Name(c.args.Type(0).dtype), " as ", Name(wanted),
                           " (different element sizes)");
  }
  if (!c.shapes.IsKnownEqual(type.strides.back(), 1)) {
    return InvalidArgument("view.dtype: self.stride(-1) must be 1 to view ",
                           Name(c.args.Type(0).dtype), " as ", Name(wanted),
                           " (different element sizes)");
  }
  // Bits; the program is at fault where they do not make whole elements.
  const auto divides = [&](const Expr& e) { return c.shapes.IsKnownEqual(e * from % to, 0); };
  bool fits = divides(type.sizes.back()) && divides(type.offset);
  for (int d = 0; d + 1 < type.rank(); ++d) fits = fits && divides(type.strides[d]);
  if (from % to != 0 && !fits) {
    return InvalidArgument("view.dtype: self.size(-1), the offset and the other strides must be ",
                           "divisible by ", to / std::gcd(from, to), " to view ",
                           Name(c.args.Type(0).dtype), " as ", Name(wanted));
  }
  const auto scale = [&](const Expr& e) { return e * from / to; };
  for (int d = 0; d + 1 < type.rank(); ++d) type.strides[d] = scale(type.strides[d]);
  type.sizes.back() = scale(type.sizes.back());
  type.offset = scale(type.offset);
  return One(type);
}

// Elements whose bits loops can read and write. Small floats are loaded as f32, which does not keep
// the payload of every NaN, and a bool has one bit of its byte.
bool HasPlainBits(DType dtype) {
  return IsInteger(dtype) || dtype == DType::kF32 || dtype == DType::kF64;
}
DType UnsignedOf(DType dtype) { return BitWidth(dtype) == 32 ? DType::kU32 : DType::kU64; }

// The element's bits as u64, zeros above.
OpsValue LoadAsBits(OpsHandler& ops, TensorReader& in, Value* tensor, Index index) {
  const DType dtype = tensor->type.tensor().dtype;
  OpsValue value = in.Load(ops, tensor, index);
  if (IsFloat(dtype)) value = ops.BitCast(value, UnsignedOf(dtype));
  value = ops.Cast(value, DType::kU64);
  const int width = BitWidth(dtype);
  if (width == 64 || !IsSigned(dtype)) return value;
  return ops.And(value, ops.Constant(Scalar((uint64_t{1} << width) - 1), DType::kU64));
}

// An element of another width: of the bits of its row, those from k * to on.
OpsValue LoadAcross(OpsHandler& ops, TensorReader& in, Value* self, DType wanted, Index index) {
  const TensorType& type = self->type.tensor();
  const int from = BitWidth(type.dtype), to = BitWidth(wanted), step = std::gcd(from, to);
  const Expr bit = index.back() * to;
  const Expr first = FloorDiv(bit, from);
  const OpsValue shift = ops.IndexExpr(Mod(bit, from), DType::kU64);
  std::vector<Expr> place(index.begin(), index.end());
  OpsValue bits;
  for (int j = 0; j * from < from - step + to; ++j) {
    // Past the row's end lie only bits that are cut off below.
    place.back() = to % from == 0 || j == 0 ? first + j : Min(first + j, type.sizes.back() - 1);
    OpsValue piece = LoadAsBits(ops, in, self, place);
    if (j == 0) {
      bits = from == step ? piece : ops.ShiftRight(piece, shift);
      continue;
    }
    const OpsValue whole = ops.Constant(Scalar(j * from), DType::kU64);
    bits = ops.Or(bits, ops.ShiftLeft(piece, ops.Sub(whole, shift)));
  }
  return bits;
}

// Its bits read anew. Elements that loops do not hold as they are stored: copied as they are.
absl::StatusOr<std::vector<Lowered>> LowerViewDType(const LowerContext& c) {
  Value* self = c.args.Tensor(0);
  const DType from = self->type.tensor().dtype, to = c.result().dtype;
  if (from == to) {
    return std::vector<Lowered>{
        ViewLoops{self, [](Index index) { return std::vector<Expr>(index.begin(), index.end()); }}};
  }
  if (!HasPlainBits(from) || !HasPlainBits(to)) {
    ExternLoops copy;
    copy.id = "copy";
    copy.attributes = "bits=1";
    copy.inputs = {self};
    copy.contiguous_inputs = {true};
    return std::vector<Lowered>{std::move(copy)};
  }
  return std::vector<Lowered>{
      PointwiseLoops{[self, from, to](OpsHandler& ops, TensorReader& in, Index index) {
        if (BitWidth(from) == BitWidth(to)) {
          const OpsValue value = in.Load(ops, self, index);
          return IsSubByte(to) ? value : ops.BitCast(value, to);  // a store keeps the low bits
        }
        const OpsValue bits = LoadAcross(ops, in, self, to, index);
        return IsFloat(to) ? ops.BitCast(ops.Cast(bits, UnsignedOf(to)), to) : bits;
      }}};
}

}  // namespace

std::vector<OpRow> ReshapeRows() {
  std::vector<OpRow> rows;
  rows.push_back(ViewRow({
      .schema = "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
      .doc = "The same elements in row-major order under other sizes; one size may be -1.",
      .infer = InferView,
      .map = ReshapeMap,
      .inverse = InverseView,
      .samples = {"aten.view(f32[4, 6], [2, -1])", "aten.view(f32[s0, 4, 8], [-1, 8])",
                  "aten.view(f32[6]{2}, [2, 3])"},
  }));
  rows.push_back(ViewRow({
      .schema = "aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
      .doc = "view, for a tensor that nothing else refers to.",
      .infer = InferView,
      .map = ReshapeMap,
      .samples = {"aten._unsafe_view(f32[4, 6], [24])"},
  }));
  rows.push_back(ViewRow({
      .schema = "aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> "
                "Tensor(a)",
      .doc = "view with the strides that it is known to have.",
      .infer = [](const InferContext& c) -> Types {
        return One(WithSizes(c.args.Type(0), c.args.Ints(1), c.args.Ints(2)));
      },
      .map = ReshapeMap,
      .inverse = InverseView,
      .samples = {"aten._reshape_alias(f32[4, 6], [24], [1])"},
  }));
  rows.push_back(ReshapeComposite(
      "aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
      "view where strides allow it, a contiguous copy otherwise.", InferReshape,
      {"aten.reshape(f32[4, 6], [2, -1])", "aten.reshape(f32[4, 6]{1, 4}, [24])"}));
  rows.push_back(ReshapeComposite(
      "aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
      "Joins the dimensions from start_dim to end_dim into one.", InferFlatten,
      {"aten.flatten.using_ints(f32[s0, 4, 8], 1)", "aten.flatten.using_ints(f32[])"}));
  rows.push_back(
      ReshapeComposite("aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
                       "Splits a dimension into several; one size may be -1.", InferUnflatten,
                       {"aten.unflatten.int(f32[s0, 12], -1, [3, -1])"}));
  rows.push_back(ReshapeComposite("aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)",
                                  "view with the sizes of another tensor.", InferSizesOf,
                                  {"aten.view_as(f32[4, 6], f32[24])"}));
  rows.push_back(ReshapeComposite("aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)",
                                  "reshape with the sizes of another tensor.", InferSizesOf,
                                  {"aten.reshape_as(f32[4, 6], f32[24])"}));
  rows.push_back(ReshapeComposite(
      "aten::ravel(Tensor(a) self) -> Tensor(a)", "reshape to one dimension.",
      [](const InferContext& c) { return InferReshapeTo(c, {-1}); }, {"aten.ravel(f32[4, 6])"}));
  OpRow view_dtype = ViewRow({
      .schema = "aten::view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
      .doc = "The same bytes as elements of another dtype; the last dimension scales when the "
             "widths differ.",
      .infer = InferViewDType,
      .map = {},
      .inverse = [](Builder& b, const OpArgs&, Value* base,
                    Value* updated) -> absl::StatusOr<Argument> {
        return Argument::Of(b.Call("aten.view.dtype", {updated, base->type.tensor().dtype}));
      },
      .samples = {"aten.view.dtype(f32[4], i32)", "aten.view.dtype(u8[2, 8], f64)",
                  "aten.view.dtype(u8[2, 6], i3)", "aten.view.dtype(u4[3, 8], i16)",
                  "aten.view.dtype(bf16[2, 3], i16)", "aten.view.dtype(i16[s0, 4], f16)",
                  "aten.view.dtype(f8e4m3fn[2, 4], f32)", "aten.view.dtype(f16[3]{2}, bf16)",
                  "aten.view.dtype(bool[4], u8)"},
  });
  view_dtype.lower = LowerViewDType;
  rows.push_back(std::move(view_dtype));
  return rows;
}

}  // namespace lathe
