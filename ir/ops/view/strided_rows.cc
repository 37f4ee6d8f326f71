// Views by strides: as_strided, diagonal, unfold; and views that change nothing.

#include <optional>
#include <utility>

#include "dtypes/base/status.h"
#include "dtypes/dtype.h"
#include "ir/ops/builder.h"
#include "ir/ops/view/dense_strides.h"
#include "ir/ops/view/reshape_index.h"
#include "ir/ops/view/size_math.h"
#include "ir/ops/view/storage_index.h"
#include "ir/ops/view/view_rows.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Map = std::function<std::vector<Expr>(Index)>;

// The value whose storage `value` shows.
const Value& StorageOf(const Value& value) {
  const Value* root = &value;
  while (root->definition != nullptr && root->definition->row != nullptr &&
         root->definition->row->is_view() && root->definition->arguments[0].is_value()) {
    root = root->definition->arguments[0].value();
  }
  return *root;
}

// The number of places up to the last element; nullopt when it is not a number.
std::optional<int64_t> PlacesOf(const TensorType& type) {
  Expr last = type.offset;
  for (int d = 0; d < type.rank(); ++d) {
    if (type.sizes[d] == Expr(0)) return 0;
    last = last + (type.sizes[d] - 1) * type.strides[d];
  }
  return (last + 1).AsInt();
}

// What a storage holds between the elements and, of packed ones, in its last byte is unknown.
absl::Status CheckStorageReach(const TensorType& shown, const Value& root, ShapeEnv& shapes) {
  const TensorType& whole = root.type.tensor();
  if (root.definition != nullptr && !DenseOrder(whole, shapes)) {
    return Unimplemented("as_strided of a result with gaps in its storage: ", ToString(whole));
  }
  const std::optional<int64_t> places = PlacesOf(shown), held = PlacesOf(whole);
  if (!IsSubByte(whole.dtype) || !places || !held || *places <= *held) return absl::OkStatus();
  const std::optional<int64_t> bytes = ByteSize(whole.dtype, *held);
  if (bytes && *places <= *bytes * 8 / BitWidth(whole.dtype)) {
    return InvalidArgument("as_strided: ", ToString(shown), " reaches outside its storage: it is ",
                           "packed, its last byte holds no element past number ", *held - 1);
  }
  return absl::OkStatus();
}

Types InferAsStrided(const InferContext& c) {
  TensorType type = c.args.Type(0);
  type.sizes = c.args.Ints(1);
  type.strides = c.args.Ints(2);
  type.offset = c.args.OptionalInt(3).value_or(type.offset);
  if (type.sizes.size() != type.strides.size()) {
    return InvalidArgument("as_strided: mismatch in length of strides (", type.strides.size(),
                           ") and shape (", type.sizes.size(), ")");
  }
  for (const Expr& stride : type.strides) {
    if (symbolic::IsRefused(c.shapes, symbolic::Lt(stride, 0))) {
      return InvalidArgument("as_strided: negative strides are not supported");
    }
  }
  if (symbolic::IsRefused(c.shapes, symbolic::Lt(type.offset, 0))) {
    return InvalidArgument("as_strided: the storage offset is negative");
  }
  LATHE_RETURN_IF_ERROR(CheckStorageReach(type, StorageOf(*c.args.Tensor(0)), c.shapes));
  return One(std::move(type));
}

// ---- diagonal ----

struct Diagonal {
  int dim1 = 0, dim2 = 1;
  int64_t offset = 0;
};

absl::StatusOr<Diagonal> DiagonalOf(const OpArgs& args) {
  const int rank = args.Type(0).rank();
  if (rank < 2) {
    return InvalidArgument(args.schema().name,
                           ": expects at least 2 dimensions, got a tensor of rank ", rank);
  }
  Diagonal diagonal;
  LATHE_ASSIGN_OR_RETURN(diagonal.offset, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int64_t dim1, args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int64_t dim2, args.ConstantInt(3));
  LATHE_ASSIGN_OR_RETURN(diagonal.dim1, WrapDim(dim1, rank));
  LATHE_ASSIGN_OR_RETURN(diagonal.dim2, WrapDim(dim2, rank));
  if (diagonal.dim1 == diagonal.dim2) {
    return InvalidArgument("diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  }
  return diagonal;
}

Types InferDiagonal(const InferContext& c) {
  LATHE_ASSIGN_OR_RETURN(Diagonal d, DiagonalOf(c.args));
  TensorType type = c.args.Type(0);
  Expr size1 = type.sizes[d.dim1], size2 = type.sizes[d.dim2];
  Expr stride1 = type.strides[d.dim1], stride2 = type.strides[d.dim2];
  Expr length = d.offset >= 0 ? symbolic::Min(size1, size2 - d.offset)
                              : symbolic::Min(size1 + d.offset, size2);
  length = c.shapes.Simplify(symbolic::Max(length, 0));
  if (!(length == 0)) {
    type.offset = type.offset + (d.offset >= 0 ? stride2 * d.offset : stride1 * -d.offset);
  }
  type.sizes.erase(type.sizes.begin() + std::max(d.dim1, d.dim2));
  type.sizes.erase(type.sizes.begin() + std::min(d.dim1, d.dim2));
  type.strides.erase(type.strides.begin() + std::max(d.dim1, d.dim2));
  type.strides.erase(type.strides.begin() + std::min(d.dim1, d.dim2));
  type.sizes.push_back(length);
  type.strides.push_back(stride1 + stride2);
  return One(std::move(type));
}

absl::StatusOr<Map> DiagonalMap(const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(Diagonal d, DiagonalOf(c.args));
  return Map([d](Index index) {
    std::vector<Expr> base(index.begin(), index.end() - 1);
    Expr k = index.back();
    Expr first = d.offset < 0 ? k - d.offset : k, second = d.offset > 0 ? k + d.offset : k;
    if (d.dim1 < d.dim2) {
      base.insert(base.begin() + d.dim1, first);
      base.insert(base.begin() + d.dim2, second);
    } else {
      base.insert(base.begin() + d.dim2, second);
      base.insert(base.begin() + d.dim1, first);
    }
    return base;
  });
}

// ---- unfold ----

Types InferUnfold(const InferContext& c) {
  TensorType type = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, type.rank()));
  Expr size = c.args.Int(2), step = c.args.Int(3);
  Expr most = type.rank() == 0 ? Expr(1) : type.sizes[dim];
  if (symbolic::IsRefused(c.shapes, symbolic::Gt(size, most))) {
    return InvalidArgument("maximum size for tensor at dimension ", dim, " is ",
                           symbolic::ToString(most), " but size is ", symbolic::ToString(size));
  }
  if (symbolic::IsRefused(c.shapes, symbolic::Lt(size, 0))) {
    return InvalidArgument("size is ", symbolic::ToString(size), " but must be >= 0");
  }
  if (symbolic::IsRefused(c.shapes, symbolic::Le(step, 0))) {
    return InvalidArgument("step is ", symbolic::ToString(step), " but must be > 0");
  }
  Expr stride = type.rank() == 0 ? Expr(1) : type.strides[dim];
  if (type.rank() > 0) {
    type.sizes[dim] = c.shapes.Simplify(symbolic::FloorDiv(most - size, step) + 1);
    type.strides[dim] = stride * step;
  }
  type.sizes.push_back(size);
  type.strides.push_back(stride);
  return One(std::move(type));
}

absl::StatusOr<Map> UnfoldMap(const LowerContext& c) {
  const int rank = c.args.Type(0).rank();
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, rank));
  Expr step = c.args.Int(3);
  return Map([rank, dim, step](Index index) {
    std::vector<Expr> base(index.begin(), index.end() - 1);
    if (rank > 0) base[dim] = base[dim] * step + index.back();
    return base;
  });
}

// ---- views that change nothing ----

Types InferSame(const InferContext& c) { return One(c.args.Type(0)); }

absl::StatusOr<Map> SameMap(const LowerContext&) {
  return Map([](Index index) { return std::vector<Expr>(index.begin(), index.end()); });
}

OpRow SameRow(std::string name, std::string doc) {
  return ViewRow(
      {.schema = "aten::" + name + "(Tensor(a) self) -> Tensor(a)",
       .doc = std::move(doc),
       .infer = InferSame,
       .map = SameMap,
       .inverse = [](Builder&, const OpArgs&, Value*, Value* updated) -> absl::StatusOr<Argument> {
         return Argument::Of(updated);
       },
       .samples = {"aten." + name + "(f32[3, 2])"}});
}

// The call's own first argument is the result.
OpRow IdentityRow(std::string schema, std::string doc) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = InferSame;
  row.composite = true;
  row.decompose = [](Builder&, const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    return std::vector<Argument>{Argument::Of(args.Tensor(0))};
  };
  return row;
}

}  // namespace

std::vector<OpRow> StridedRows() {
  std::vector<OpRow> rows;
  rows.push_back(ViewRow({
      .schema = "aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? "
                "storage_offset=None) -> Tensor(a)",
      .doc = "self's storage seen with other sizes, strides and offset.",
      .infer = InferAsStrided,
      .map = [](const LowerContext& c) -> absl::StatusOr<Map> {
        return StorageMap(c.args.Type(0), c.result().sizes, c.result().strides, c.result().offset,
                          c.shapes);
      },
      .inverse = [](Builder& b, const OpArgs& args, Value* base,
                    Value* updated) -> absl::StatusOr<Argument> {
        return Argument::Of(
            b.Call("aten.as_strided_scatter", {base, updated, args[1], args[2], args[3]}));
      },
      .samples = {"aten.as_strided(f32[3, 4], [2, 2], [1, 4], 1)"},
  }));
  rows.push_back(ViewRow({
      .schema = "aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> "
                "Tensor(a)",
      .doc = "The diagonal of two dimensions as the last one.",
      .infer = InferDiagonal,
      .map = DiagonalMap,
      .inverse = [](Builder& b, const OpArgs& args, Value* base,
                    Value* updated) -> absl::StatusOr<Argument> {
        return Argument::Of(
            b.Call("aten.diagonal_scatter", {base, updated, args[1], args[2], args[3]}));
      },
      .samples = {"aten.diagonal(f32[3, 4], 1)", "aten.diagonal(f32[2, 3, 4], -1, 0, -1)"},
  }));
  rows.push_back(ViewRow({
      .schema = "aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
      .doc = "All windows of `size` places of a dimension, `step` apart, as a last dimension.",
      .infer = InferUnfold,
      .map = UnfoldMap,
      .inverse = [](Builder&, const OpArgs&, Value*, Value*) -> absl::StatusOr<Argument> {
        return Unimplemented("a write through aten.unfold");
      },
      .samples = {"aten.unfold(f32[8, 2], 0, 3, 2)"},
  }));
  rows.push_back(SameRow("alias", "Another name for the same tensor."));
  OpRow positive = SameRow("positive", "The tensor itself, of numbers.");
  positive.infer = [](const InferContext& c) -> Types {
    if (IsBool(c.args.Type(0).dtype)) {
      return InvalidArgument("The `+` operator, on a bool tensor is not supported.");
    }
    return InferSame(c);
  };
  rows.push_back(std::move(positive));
  rows.push_back(SameRow("detach", "The same tensor, cut off from differentiation."));
  rows.push_back(SameRow("lift_fresh", "A constant entering the program."));
  OpRow lift = IdentityRow("aten::lift(Tensor self) -> Tensor", "A constant entering the program.");
  rows.push_back(std::move(lift));
  rows.push_back(IdentityRow("aten::detach_(Tensor(a!) self) -> Tensor(a!)",
                             "Cuts the tensor off from differentiation; changes no value."));
  rows.push_back(IdentityRow("aten::resolve_conj(Tensor(a) self) -> Tensor(a)",
                             "The tensor itself: conjugate views do not exist here."));
  rows.push_back(IdentityRow("aten::resolve_neg(Tensor(a) self) -> Tensor(a)",
                             "The tensor itself: negative views do not exist here."));
  return rows;
}

}  // namespace lathe
