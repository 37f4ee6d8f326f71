// Ops that give several views: each becomes as many slices or selects.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/view/size_math.h"
#include "ir/ops/view/view_rows.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

// Where a dimension is cut: parts [start, start + length).
struct Part {
  Expr start, length;
};
struct Cut {
  int dim = 0;
  std::vector<Part> parts;
};
using CutRule = std::function<absl::StatusOr<Cut>(const OpArgs&, ShapeEnv&)>;

absl::StatusOr<int> DimOf(const OpArgs& args, int argument) {
  const int rank = args.Type(0).rank();
  if (rank == 0) return InvalidArgument(args.schema().name, ": expects at least a 1-dim tensor");
  LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(argument));
  return WrapDim(dim, rank);
}

// a // b when a precondition says what it is: exporters round up by (size + step - 1) // step.
std::optional<int64_t> KnownQuotient(const Expr& a, const Expr& b, ShapeEnv& shapes) {
  constexpr int64_t kMost = 64;
  const Expr quotient = symbolic::FloorDiv(a, b);
  const symbolic::Range range = shapes.RangeOf(quotient);
  const int64_t first = std::max<int64_t>(range.lower, 0);
  for (int64_t k = first; k <= std::min(range.upper, first + kMost); ++k) {
    if (shapes.IsKnownEqual(quotient, k)) return k;
  }
  return std::nullopt;
}

// Parts of `step`, the last one with what is left. The number of parts must be known.
absl::StatusOr<std::vector<Part>> EqualParts(absl::string_view op, const Expr& size,
                                             const Expr& step, ShapeEnv& shapes) {
  Expr count = shapes.Simplify(symbolic::CeilDiv(size, step));
  if (!count.AsInt() && shapes.RangeOf(count).lower == shapes.RangeOf(count).upper) {
    count = shapes.RangeOf(count).lower;
  }
  if (!count.AsInt()) {
    if (const std::optional<int64_t> known = KnownQuotient(size + step - 1, step, shapes)) {
      count = *known;
    }
  }
  if (!count.AsInt()) {
    return Unimplemented(op, ": the number of parts, ", symbolic::ToString(count),
                         ", depends on a symbolic size");
  }
  std::vector<Part> parts;
  for (int64_t k = 0; k < *count.AsInt(); ++k) {
    Expr start = step * k;
    const bool last = k + 1 == *count.AsInt();
    parts.push_back({start, last ? shapes.Simplify(size - start) : step});
  }
  return parts;
}

absl::StatusOr<Cut> CutOfSplit(const OpArgs& args, ShapeEnv& shapes) {
  Cut cut;
  LATHE_ASSIGN_OR_RETURN(cut.dim, DimOf(args, 2));
  const Expr& size = args.Type(0).sizes[cut.dim];
  Expr step = args.Int(1);
  if (step.AsInt() && *step.AsInt() < 0) {
    return InvalidArgument("split expects split_size be non-negative, but got split_size=",
                           *step.AsInt());
  }
  if (step == 0 || size == 0) {
    if (step == 0 && !(size == 0)) {
      return InvalidArgument(
          "split_size can only be 0 if dimension size is 0, but got dimension "
          "size of ",
          symbolic::ToString(size));
    }
    cut.parts.push_back({0, size});
    return cut;
  }
  if (step == size) {
    cut.parts.push_back({0, size});
    return cut;
  }
  LATHE_ASSIGN_OR_RETURN(cut.parts, EqualParts("split", size, step, shapes));
  return cut;
}

absl::StatusOr<Cut> CutOfSplitSizes(const OpArgs& args, ShapeEnv& shapes) {
  Cut cut;
  LATHE_ASSIGN_OR_RETURN(cut.dim, DimOf(args, 2));
  Expr start = 0;
  for (const Expr& length : args.Ints(1)) {
    cut.parts.push_back({start, length});
    start = start + length;
  }
  const Expr& size = args.Type(0).sizes[cut.dim];
  if (!symbolic::IsAccepted(shapes, symbolic::Eq(start, size), {})) {
    return InvalidArgument("split_with_sizes expects split_sizes to sum exactly to ",
                           symbolic::ToString(size), " (input tensor's size at dimension ", cut.dim,
                           "), but got split_sizes=", ToString(args.Ints(1)));
  }
  return cut;
}

absl::StatusOr<Cut> CutOfChunk(const OpArgs& args, ShapeEnv& shapes) {
  Cut cut;
  LATHE_ASSIGN_OR_RETURN(cut.dim, DimOf(args, 2));
  LATHE_ASSIGN_OR_RETURN(int64_t chunks, args.ConstantInt(1));
  if (chunks <= 0) {
    return InvalidArgument("chunk expects `chunks` to be greater than 0, got: ", chunks);
  }
  const Expr& size = args.Type(0).sizes[cut.dim];
  if (size == 0) {
    cut.parts.assign(chunks, {0, 0});
    return cut;
  }
  Expr step = shapes.Simplify(symbolic::CeilDiv(size, chunks));
  if (chunks == 1) {
    cut.parts.push_back({0, size});
    return cut;
  }
  LATHE_ASSIGN_OR_RETURN(cut.parts, EqualParts("chunk", size, step, shapes));
  return cut;
}

absl::StatusOr<Cut> CutOfTensorSplit(const OpArgs& args, ShapeEnv& shapes) {
  Cut cut;
  LATHE_ASSIGN_OR_RETURN(cut.dim, DimOf(args, 2));
  LATHE_ASSIGN_OR_RETURN(int64_t sections, args.ConstantInt(1));
  if (sections <= 0) {
    return InvalidArgument("number of sections must be larger than 0, got ", sections);
  }
  const Expr& size = args.Type(0).sizes[cut.dim];
  Expr start = 0, small = symbolic::FloorDiv(size, sections), large = symbolic::Mod(size, sections);
  for (int64_t k = 0; k < sections; ++k) {
    // The first size % sections parts have one place more.
    Expr length = small + symbolic::Where(symbolic::Lt(k, large), 1, 0);
    cut.parts.push_back({shapes.Simplify(start), shapes.Simplify(length)});
    start = start + length;
  }
  return cut;
}

absl::StatusOr<Cut> CutOfTensorSplitIndices(const OpArgs& args, ShapeEnv& shapes) {
  Cut cut;
  LATHE_ASSIGN_OR_RETURN(cut.dim, DimOf(args, 2));
  const Expr& size = args.Type(0).sizes[cut.dim];
  std::vector<Expr> ends = args.Ints(1);
  ends.push_back(size);
  Expr start = 0;
  for (const Expr& end : ends) {
    SliceBounds bounds = BoundsOfSlice(size, start, end, 1, shapes);
    cut.parts.push_back({bounds.start, bounds.length});
    start = end;
  }
  return cut;
}

OpRow CutRow(std::string schema, std::string doc, CutRule rule, bool copies,
             std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = [rule, copies](const InferContext& c) -> Types {
    LATHE_ASSIGN_OR_RETURN(Cut cut, rule(c.args, c.shapes));
    std::vector<ValueType> types;
    for (const Part& part : cut.parts) {
      TensorType type = c.args.Type(0);
      type.offset = type.offset + part.start * type.strides[cut.dim];
      type.sizes[cut.dim] = part.length;
      if (copies) type = ContiguousType(type.dtype, type.sizes, type.device);
      types.emplace_back(std::move(type));
    }
    return types;
  };
  row.decompose = [rule, copies](Builder& b,
                                 const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    LATHE_ASSIGN_OR_RETURN(Cut cut, rule(args, b.shapes()));
    std::vector<Argument> items;
    for (const Part& part : cut.parts) {
      Value* slice = b.Call("aten.slice.Tensor",
                            {args.Tensor(0), cut.dim, part.start, part.start + part.length});
      if (copies) {
        slice = b.Call("aten.clone", {slice},
                       {{"memory_format", Argument::Of(MemoryFormat::kContiguous)}});
      }
      items.push_back(Argument::Of(slice));
    }
    return items;
  };
  row.composite = !copies;
  if (!copies) row.evaluate = EvaluateView;
  row.samples = std::move(samples);
  return row;
}

// ---- unbind ----

Types InferUnbind(const InferContext& c, bool copies) {
  LATHE_ASSIGN_OR_RETURN(int dim, DimOf(c.args, 1));
  TensorType type = c.args.Type(0);
  std::optional<int64_t> count = c.shapes.Simplify(type.sizes[dim]).AsInt();
  if (!count) {
    return Unimplemented("unbind: the number of parts, ", symbolic::ToString(type.sizes[dim]),
                         ", depends on a symbolic size");
  }
  const Expr stride = type.strides[dim], offset = type.offset;
  type.sizes.erase(type.sizes.begin() + dim);
  type.strides.erase(type.strides.begin() + dim);
  std::vector<ValueType> types;
  for (int64_t k = 0; k < *count; ++k) {
    type.offset = offset + stride * k;
    types.emplace_back(copies ? ContiguousType(type.dtype, type.sizes, type.device) : type);
  }
  return types;
}

OpRow UnbindRow(std::string schema, std::string doc, bool copies,
                std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = [copies](const InferContext& c) { return InferUnbind(c, copies); };
  row.decompose = [copies](Builder& b,
                           const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types,
                           InferUnbind(InferContext{args, b.shapes(), {}}, copies));
    std::vector<Argument> items;
    for (size_t k = 0; k < types.size(); ++k) {
      Value* part = b.Call("aten.select.int", {args.Tensor(0), args[1], static_cast<int64_t>(k)});
      if (copies) {
        part = b.Call("aten.clone", {part},
                      {{"memory_format", Argument::Of(MemoryFormat::kContiguous)}});
      }
      items.push_back(Argument::Of(part));
    }
    return items;
  };
  row.composite = !copies;
  if (!copies) row.evaluate = EvaluateView;
  row.samples = std::move(samples);
  return row;
}

}  // namespace

std::vector<OpRow> SplitRows() {
  std::vector<OpRow> rows;
  rows.push_back(
      CutRow("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
             "Slices of split_size places; the last one has what is left.", CutOfSplit, false,
             {"aten.split.Tensor(f32[7, 2], 3)", "aten.split.Tensor(f32[2, 8], 4, -1)"}));
  rows.push_back(
      CutRow("aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
             "split into tensors of their own.", CutOfSplit, false,
             {"aten.unsafe_split.Tensor(f32[7, 2], 3)"}));
  rows.push_back(
      CutRow("aten::split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
             "split with copies.", CutOfSplit, true, {"aten.split_copy.Tensor(f32[7, 2], 3)"}));
  rows.push_back(
      CutRow("aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int "
             "dim=0) -> Tensor(a)[]",
             "Slices of the sizes given.", CutOfSplitSizes, false,
             {"aten.split_with_sizes(f32[7, 2], [3, 4])"}));
  rows.push_back(CutRow(
      "aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]",
      "split_with_sizes under another name.", CutOfSplitSizes, false,
      {"aten.split.sizes(f32[7, 2], [3, 4])"}));
  rows.push_back(
      CutRow("aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int "
             "dim=0) -> Tensor[]",
             "split_with_sizes into tensors of their own.", CutOfSplitSizes, false,
             {"aten.unsafe_split_with_sizes(f32[7, 2], [3, 4])"}));
  rows.push_back(CutRow(
      "aten::split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
      "split_with_sizes with copies.", CutOfSplitSizes, true,
      {"aten.split_with_sizes_copy(f32[7, 2], [3, 4])"}));
  rows.push_back(CutRow("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
                        "At most `chunks` slices of equal size; the last one has what is left.",
                        CutOfChunk, false,
                        {"aten.chunk(f32[7, 2], 3)", "aten.chunk(f32[s0, 6], 2, 1)"}));
  rows.push_back(CutRow("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
                        "chunk into tensors of their own.", CutOfChunk, false,
                        {"aten.unsafe_chunk(f32[7, 2], 3)"}));
  rows.push_back(
      CutRow("aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int "
             "dim=0) -> Tensor(a)[]",
             "Exactly `sections` slices, the first ones larger by one.", CutOfTensorSplit, false,
             {"aten.tensor_split.sections(f32[7], 3)"}));
  rows.push_back(
      CutRow("aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int "
             "dim=0) -> Tensor(a)[]",
             "Slices between the places given.", CutOfTensorSplitIndices, false,
             {"aten.tensor_split.indices(f32[7], [2, 5])"}));
  rows.push_back(UnbindRow("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
                           "Every place of a dimension by itself.", false,
                           {"aten.unbind.int(f32[3, 2])", "aten.unbind.int(f32[3, s0], 0)"}));
  rows.push_back(UnbindRow("aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]",
                           "unbind with copies.", true, {"aten.unbind_copy.int(f32[3, 2])"}));
  return rows;
}

}  // namespace lathe
