// Several tensors in one: cat, stack, block_diag.

#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "dtypes/promotion.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/dense_strides.h"
#include "ir/ops/view/loop_masks.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;

absl::StatusOr<DType> PromotedDType(const std::vector<Value*>& tensors) {
  std::vector<PromotionOperand> operands;
  for (Value* t : tensors) {
    operands.push_back({TypeOf(t).dtype, TypeOf(t).rank() == 0
                                             ? PromotionOperand::Rank::kZeroDim
                                             : PromotionOperand::Rank::kDimensioned});
  }
  return ResultType(operands);
}

absl::StatusOr<std::vector<Value*>> TensorsOf(const OpArgs& args) {
  std::vector<Value*> tensors = args.Tensors(0);
  if (tensors.empty()) {
    return InvalidArgument(args.schema().name, ": expected a non-empty list of Tensors");
  }
  for (Value* t : tensors) {
    if (t == nullptr) return InvalidArgument(args.schema().name, ": a tensor of the list is none");
  }
  return tensors;
}

// ---- cat ----

// Eager has always let vectors of no elements stand among tensors of any rank.
bool IsSkipped(const TensorType& type) { return type.rank() == 1 && type.sizes[0] == 0; }

struct Concatenation {
  int dim = 0;
  std::vector<Value*> tensors;  // the skipped ones left out
};

absl::StatusOr<Concatenation> ConcatenationOf(const OpArgs& args) {
  Concatenation cat;
  LATHE_ASSIGN_OR_RETURN(std::vector<Value*> tensors, TensorsOf(args));
  for (Value* t : tensors) {
    if (TypeOf(t).rank() == 0) {
      return InvalidArgument("zero-dimensional tensor cannot be concatenated");
    }
    if (!IsSkipped(TypeOf(t))) cat.tensors.push_back(t);
  }
  if (cat.tensors.empty()) cat.tensors.push_back(tensors[0]);
  LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(cat.dim, WrapDim(dim, TypeOf(cat.tensors[0]).rank()));
  return cat;
}

Types InferCat(const InferContext& c) {
  LATHE_ASSIGN_OR_RETURN(Concatenation cat, ConcatenationOf(c.args));
  TensorType result = TypeOf(cat.tensors[0]);
  bool channels_last = true;
  Expr length = 0;
  for (Value* t : cat.tensors) {
    const TensorType& type = TypeOf(t);
    channels_last &= IsChannelsLast(type, c.shapes);
    if (type.rank() != result.rank()) {
      return InvalidArgument("Tensors must have same number of dimensions: got ", result.rank(),
                             " and ", type.rank());
    }
    for (int d = 0; d < type.rank(); ++d) {
      if (d == cat.dim) continue;
      if (!symbolic::IsAccepted(c.shapes, symbolic::Eq(type.sizes[d], result.sizes[d]), c.asker)) {
        return InvalidArgument("Sizes of tensors must match except in dimension ", cat.dim,
                               ". Expected size ", symbolic::ToString(result.sizes[d]),
                               " but got size ", symbolic::ToString(type.sizes[d]),
                               " for a tensor of the list");
      }
      if (type.sizes[d].is_const()) result.sizes[d] = type.sizes[d];
    }
    length = length + type.sizes[cat.dim];
  }
  result.sizes[cat.dim] = c.shapes.Simplify(length);
  LATHE_ASSIGN_OR_RETURN(result.dtype, PromotedDType(c.args.Tensors(0)));
  result.strides =
      channels_last ? StridesOfChannelsLast(result.sizes) : ContiguousStrides(result.sizes);
  result.offset = 0;
  return One(std::move(result));
}

// Each tensor is read where its stretch of the dimension is, and the stretches are chosen among.
absl::StatusOr<std::vector<Lowered>> LowerCat(const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(Concatenation cat, ConcatenationOf(c.args));
  const DType dtype = LoadedDType(c.result().dtype);
  return std::vector<Lowered>{
      PointwiseLoops{[cat, dtype](OpsHandler& ops, TensorReader& in, Index index) {
        OpsValue result;
        Expr start = 0;
        const size_t count = cat.tensors.size();
        for (size_t k = 0; k < count; ++k) {
          const Expr end = start + TypeOf(cat.tensors[k]).sizes[cat.dim];
          OpsValue inside = count == 1       ? TrueMask(ops)
                            : k == 0         ? IsBelow(ops, index[cat.dim], end)
                            : k + 1 == count ? IsAtLeast(ops, index[cat.dim], start)
                                             : IsWithin(ops, index[cat.dim], start, end);
          std::vector<Expr> place(index.begin(), index.end());
          place[cat.dim] = place[cat.dim] - start;
          if (count > 1) ops.PushMask(inside);
          OpsValue v = ops.Cast(in.Load(ops, cat.tensors[k], place), dtype);
          if (count > 1) ops.PopMask();
          result = result.is_valid() ? ops.Where(inside, v, result) : v;
          start = end;
        }
        return result;
      }}};
}

Results EvaluateCat(const EvaluateContext& c) {
  Tensor out = c.Allocate();
  int64_t start = 0;
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(1), out.rank()));
  for (const Tensor& t : c.args.Tensors(0)) {
    if (t.rank() == 1 && t.sizes()[0] == 0) continue;
    Tensor part =
        out.AsStrided(t.sizes(), out.strides(), out.offset() + start * out.strides()[dim]);
    part.CopyFrom(t.dtype() == out.dtype() ? t : t.To(out.dtype()));
    start += t.sizes()[dim];
  }
  return OneResult(out);
}

// ---- stack ----

Types InferStack(const InferContext& c) {
  LATHE_ASSIGN_OR_RETURN(std::vector<Value*> tensors, TensorsOf(c.args));
  TensorType result = TypeOf(tensors[0]);
  for (Value* t : tensors) {
    bool same = TypeOf(t).rank() == result.rank();
    for (int d = 0; same && d < result.rank(); ++d) {
      same = symbolic::IsAccepted(c.shapes, symbolic::Eq(TypeOf(t).sizes[d], result.sizes[d]),
                                  c.asker);
    }
    if (!same) {
      return InvalidArgument("stack expects each tensor to be equal size, but got ",
                             ToString(result.sizes), " at entry 0 and ", ToString(TypeOf(t).sizes),
                             " at another entry");
    }
  }
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, result.rank() + 1));
  LATHE_ASSIGN_OR_RETURN(DType dtype, PromotedDType(tensors));
  std::vector<Expr> sizes = result.sizes;
  sizes.insert(sizes.begin() + dim, static_cast<int64_t>(tensors.size()));
  return One(ContiguousType(dtype, std::move(sizes), result.device));
}

absl::StatusOr<std::vector<Lowered>> LowerStack(const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(std::vector<Value*> tensors, TensorsOf(c.args));
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, c.result().rank()));
  const DType dtype = LoadedDType(c.result().dtype);
  return std::vector<Lowered>{PointwiseLoops{[=](OpsHandler& ops, TensorReader& in, Index index) {
    std::vector<Expr> place(index.begin(), index.end());
    place.erase(place.begin() + dim);
    OpsValue result;
    for (size_t k = 0; k < tensors.size(); ++k) {
      const bool one = tensors.size() == 1;
      OpsValue here = one ? TrueMask(ops) : IsEqual(ops, index[dim], static_cast<int64_t>(k));
      if (!one) ops.PushMask(here);
      OpsValue v = ops.Cast(in.Load(ops, tensors[k], place), dtype);
      if (!one) ops.PopMask();
      result = result.is_valid() ? ops.Where(here, v, result) : v;
    }
    return result;
  }}};
}

Results EvaluateStack(const EvaluateContext& c) {
  Tensor out = c.Allocate();
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(1), out.rank()));
  std::vector<int64_t> strides = out.strides().ToVector();
  const int64_t step = strides[dim];
  strides.erase(strides.begin() + dim);
  int64_t k = 0;
  for (const Tensor& t : c.args.Tensors(0)) {
    Tensor part = out.AsStrided(t.sizes(), strides, out.offset() + k++ * step);
    part.CopyFrom(t.dtype() == out.dtype() ? t : t.To(out.dtype()));
  }
  return OneResult(out);
}

// ---- block_diag: rows padded with zeros to the common width, one below the other ----

absl::StatusOr<Arguments> DecomposeBlockDiag(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(std::vector<Value*> tensors, TensorsOf(args));
  LATHE_ASSIGN_OR_RETURN(DType dtype, PromotedDType(tensors));
  Expr width = 0;
  for (Value*& t : tensors) {
    const int rank = TypeOf(t).rank();
    if (rank > 2) {
      return InvalidArgument(
          "torch.block_diag: Input tensors must have 2 or fewer dimensions, got ",
          ToString(TypeOf(t)));
    }
    t = CastTo(b, t, dtype);
    if (rank == 0) t = Reshape(b, t, {1, 1});
    if (rank == 1) t = b.Call("aten.unsqueeze", {t, 0});
    LATHE_RETURN_IF_ERROR(b.status());
    width = width + TypeOf(t).sizes[1];
  }
  Expr left = 0;
  std::vector<Value*> rows;
  for (Value* t : tensors) {
    const Expr own = TypeOf(t).sizes[1];
    std::vector<Expr> pad = {left, width - left - own};
    rows.push_back(b.Call("aten.constant_pad_nd", {t, pad, Scalar(0)}));
    left = left + own;
  }
  return OneArgument(b.Call("aten.cat", {CallArgument(rows), 0}));
}

// ---- hstack, vstack, dstack, column_stack: cat after dimensions of 1 were added ----

// At least `rank` dimensions, as numpy adds them: the second last is the vector's own for dstack.
Value* AtLeast(Builder& b, Value* t, int rank) {
  if (t == nullptr || TypeOf(t).rank() >= rank) return t;
  std::vector<Expr> sizes = TypeOf(t).sizes;
  if (sizes.empty()) sizes.push_back(1);
  if (rank >= 2 && sizes.size() == 1) sizes.insert(sizes.begin(), 1);
  if (rank >= 3 && sizes.size() == 2) sizes.push_back(1);
  return Reshape(b, t, sizes);
}

DecomposeFunction DecomposeCatOf(int rank, int dim) {
  return [rank, dim](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
    LATHE_ASSIGN_OR_RETURN(std::vector<Value*> tensors, TensorsOf(args));
    // hstack joins vectors end to end.
    const int along = rank == 1 && TypeOf(tensors[0]).rank() <= 1 ? 0 : dim;
    for (Value*& t : tensors) t = AtLeast(b, t, rank);
    LATHE_RETURN_IF_ERROR(b.status());
    return OneArgument(b.Call("aten.cat", {CallArgument(tensors), along}));
  };
}

absl::StatusOr<Arguments> DecomposeColumnStack(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(std::vector<Value*> tensors, TensorsOf(args));
  for (Value*& t : tensors) {
    if (TypeOf(t).rank() <= 1) t = Reshape(b, t, {-1, 1});
  }
  LATHE_RETURN_IF_ERROR(b.status());
  return OneArgument(b.Call("aten.cat", {CallArgument(tensors), 1}));
}

OpRow StackRow(const std::string& name, std::string doc, DecomposeFunction decompose) {
  OpRow row;
  row.schema = absl::StrCat("aten::", name, "(Tensor[] tensors) -> Tensor");
  row.doc = std::move(doc);
  row.composite = true;
  row.decompose = std::move(decompose);
  row.samples = {absl::StrCat("aten.", name, "([f32[2, 3], f32[2, 3]])")};
  return row;
}

}  // namespace

std::vector<OpRow> JoinRows() {
  std::vector<OpRow> rows(3);
  rows[0].schema = "aten::cat(Tensor[] tensors, int dim=0) -> Tensor";
  rows[0].doc = "Tensors one after the other along a dimension.";
  rows[0].infer = InferCat;
  rows[0].lower = LowerCat;
  rows[0].evaluate = EvaluateCat;
  rows[0].samples = {"aten.cat([f32[2, 3], f32[4, 3]])", "aten.cat([f32[2, s0], i64[2, 5]], -1)"};
  rows[1].schema = "aten::stack(Tensor[] tensors, int dim=0) -> Tensor";
  rows[1].doc = "Tensors one after the other along a new dimension.";
  rows[1].infer = InferStack;
  rows[1].lower = LowerStack;
  rows[1].evaluate = EvaluateStack;
  rows[1].samples = {"aten.stack([f32[2, 3], f32[2, 3]], -1)"};
  rows[2].schema = "aten::block_diag(Tensor[] tensors) -> Tensor";
  rows[2].doc = "Matrices along the diagonal of a matrix of zeros.";
  rows[2].decompose = DecomposeBlockDiag;
  rows[2].samples = {"aten.block_diag([f32[2, 3], f32[1, 2]])"};
  for (const char* name : {"concat", "concatenate"}) {
    OpRow row;
    row.schema = absl::StrCat("aten::", name, "(Tensor[] tensors, int dim=0) -> Tensor");
    row.doc = "cat under another name.";
    row.composite = true;
    row.decompose = [](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
      return OneArgument(b.Call("aten.cat", {args[0], args[1]}));
    };
    rows.push_back(std::move(row));
  }
  rows.push_back(StackRow("hstack", "Tensors side by side.", DecomposeCatOf(1, 1)));
  rows.push_back(StackRow("vstack", "Rows one below the other.", DecomposeCatOf(2, 0)));
  rows.push_back(StackRow("row_stack", "Rows one below the other.", DecomposeCatOf(2, 0)));
  rows.push_back(
      StackRow("dstack", "Tensors joined in the third dimension.", DecomposeCatOf(3, 2)));
  rows.push_back(
      StackRow("column_stack", "Vectors as columns, side by side.", DecomposeColumnStack));
  return rows;
}

}  // namespace lathe
