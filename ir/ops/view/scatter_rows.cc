// The inverses of views: a tensor with the part that a view shows replaced.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/result_rules.h"
#include "ir/ops/view/dense_strides.h"
#include "ir/ops/view/loop_masks.h"
#include "ir/ops/view/size_math.h"
#include "ir/ops/view/storage_index.h"
#include "ir/ops/view/view_rows.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;

// A new tensor that sees its storage as self does; src is converted, as copying into the
// part would.
Types InferLikeSelf(const InferContext& c) {
  return One(WithStorageKept(c.args.Type(0), c.shapes));
}

// Where a result element comes from: `is_source` tells, `source` is its index in src then.
struct Origins {
  std::function<OpsValue(OpsHandler& ops, Index index)> is_source;
  std::function<std::vector<Expr>(Index index)> source;
};

std::vector<Lowered> ReplaceWhere(const LowerContext& c, Origins origins) {
  Value* self = c.args.Tensor(0);
  Value* src = c.args.Tensor(1);
  const DType dtype = LoadedDType(c.result().dtype);
  return {
      PointwiseLoops{[self, src, dtype, origins](OpsHandler& ops, TensorReader& in, Index index) {
        OpsValue inside = origins.is_source(ops, index);
        ops.PushMask(inside);
        OpsValue replaced = ops.Cast(in.Load(ops, src, origins.source(index)), dtype);
        ops.PopMask();
        return ops.Where(inside, replaced, in.Load(ops, self, index));
      }}};
}

Tensor CopyOfSelf(const EvaluateContext& c) {
  Tensor out = c.Allocate();
  out.CopyFrom(c.args.Tensor(0));
  return out;
}

absl::StatusOr<Tensor> Written(const EvaluateContext& c, const Tensor& out, const Tensor& part) {
  const Tensor& src = c.args.Tensor(1);
  if (!(src.sizes() == part.sizes())) {
    return InvalidArgument(c.args.schema().name, ": expected src to have a size equal to the ",
                           "replaced part's, got ", TypeString(src), " for ", TypeString(part));
  }
  part.CopyFrom(src.dtype() == part.dtype() ? src : src.To(part.dtype()));
  return out;
}

// ---- slice_scatter ----

absl::StatusOr<std::vector<Lowered>> LowerSliceScatter(const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, c.result().rank()));
  const Expr size = c.result().sizes[dim], step = c.args.Int(5);
  SliceBounds bounds =
      BoundsOfSlice(size, c.args.OptionalInt(3), c.args.OptionalInt(4), step, c.shapes);
  const Expr start = bounds.start, end = bounds.start + bounds.length * step;
  Origins origins;
  origins.is_source = [=](OpsHandler& ops, Index index) {
    const Expr& i = index[dim];
    OpsValue inside = TrueMask(ops);
    if (!(start == 0)) inside = ops.And(inside, IsAtLeast(ops, i, start));
    if (!(end == size)) inside = ops.And(inside, IsBelow(ops, i, end));
    if (!(step == 1)) {
      inside = ops.And(inside, IsEqual(ops, symbolic::Mod(i - start, step), 0));
    }
    return inside;
  };
  origins.source = [=](Index index) {
    std::vector<Expr> place(index.begin(), index.end());
    place[dim] = step == 1 ? place[dim] - start : symbolic::FloorDiv(place[dim] - start, step);
    return place;
  };
  return ReplaceWhere(c, std::move(origins));
}

Results EvaluateSliceScatter(const EvaluateContext& c) {
  Tensor out = CopyOfSelf(c);
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(2), out.rank()));
  const int64_t size = out.sizes()[dim], step = c.args.Int(5);
  if (step <= 0) return InvalidArgument("slice step must be positive");
  auto clamp = [&](int64_t bound) {
    if (bound < 0) bound += size;
    return std::min(std::max<int64_t>(bound, 0), size);
  };
  const int64_t start = clamp(c.args.OptionalInt(3).value_or(0));
  const int64_t end = std::max(start, clamp(c.args.OptionalInt(4).value_or(size)));
  Dims sizes = out.sizes(), strides = out.strides();
  sizes[dim] = (end - start + step - 1) / step;
  strides[dim] *= step;
  Tensor part = out.AsStrided(sizes, strides, out.offset() + start * out.strides()[dim]);
  LATHE_ASSIGN_OR_RETURN(out, Written(c, out, part));
  return OneResult(out);
}

// ---- select_scatter ----

absl::StatusOr<std::vector<Lowered>> LowerSelectScatter(const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, c.args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, c.result().rank()));
  const Expr place = WrapIndex(c.args.Int(3), c.result().sizes[dim], c.shapes);
  Origins origins;
  origins.is_source = [=](OpsHandler& ops, Index index) { return IsEqual(ops, index[dim], place); };
  origins.source = [=](Index index) {
    std::vector<Expr> source(index.begin(), index.end());
    source.erase(source.begin() + dim);
    return source;
  };
  return ReplaceWhere(c, std::move(origins));
}

Results EvaluateSelectScatter(const EvaluateContext& c) {
  Tensor out = CopyOfSelf(c);
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(2), out.rank()));
  const int64_t size = out.sizes()[dim];
  int64_t place = c.args.Int(3);
  if (place < -size || place >= size) {
    return OutOfRange("select_scatter: index ", place, " out of range for size ", size);
  }
  if (place < 0) place += size;
  std::vector<int64_t> sizes = out.sizes().ToVector(), strides = out.strides().ToVector();
  sizes.erase(sizes.begin() + dim);
  strides.erase(strides.begin() + dim);
  Tensor part = out.AsStrided(sizes, strides, out.offset() + place * out.strides()[dim]);
  LATHE_ASSIGN_OR_RETURN(out, Written(c, out, part));
  return OneResult(out);
}

// ---- diagonal_scatter ----

absl::StatusOr<std::vector<Lowered>> LowerDiagonalScatter(const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(int64_t offset, c.args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int64_t wanted1, c.args.ConstantInt(3));
  LATHE_ASSIGN_OR_RETURN(int64_t wanted2, c.args.ConstantInt(4));
  LATHE_ASSIGN_OR_RETURN(int dim1, WrapDim(wanted1, c.result().rank()));
  LATHE_ASSIGN_OR_RETURN(int dim2, WrapDim(wanted2, c.result().rank()));
  Origins origins;
  origins.is_source = [=](OpsHandler& ops, Index index) {
    return IsEqual(ops, index[dim2], index[dim1] + offset);
  };
  origins.source = [=](Index index) {
    std::vector<Expr> source;
    for (size_t d = 0; d < index.size(); ++d) {
      if (static_cast<int>(d) != dim1 && static_cast<int>(d) != dim2) source.push_back(index[d]);
    }
    source.push_back(offset >= 0 ? index[dim1] : index[dim2]);
    return source;
  };
  return ReplaceWhere(c, std::move(origins));
}

Results EvaluateDiagonalScatter(const EvaluateContext& c) {
  Tensor out = CopyOfSelf(c);
  const int64_t offset = c.args.Int(2);
  LATHE_ASSIGN_OR_RETURN(int dim1, WrapDim(c.args.Int(3), out.rank()));
  LATHE_ASSIGN_OR_RETURN(int dim2, WrapDim(c.args.Int(4), out.rank()));
  if (dim1 == dim2) return InvalidArgument("diagonal dimensions cannot be identical");
  std::vector<int64_t> sizes, strides;
  for (int d = 0; d < out.rank(); ++d) {
    if (d == dim1 || d == dim2) continue;
    sizes.push_back(out.sizes()[d]);
    strides.push_back(out.strides()[d]);
  }
  const int64_t rows = out.sizes()[dim1], columns = out.sizes()[dim2];
  const int64_t length = std::max<int64_t>(
      0, offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns));
  int64_t first = out.offset();
  if (length > 0) {
    first += offset >= 0 ? offset * out.strides()[dim2] : -offset * out.strides()[dim1];
  }
  sizes.push_back(length);
  strides.push_back(out.strides()[dim1] + out.strides()[dim2]);
  LATHE_ASSIGN_OR_RETURN(out, Written(c, out, out.AsStrided(sizes, strides, first)));
  return OneResult(out);
}

// ---- as_strided_scatter ----

absl::StatusOr<std::vector<Lowered>> LowerAsStridedScatter(const LowerContext& c) {
  Value* src = c.args.Tensor(1);
  const TensorType& self = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(auto map,
                         StorageMap(self, c.args.Ints(2), c.args.Ints(3),
                                    c.args.OptionalInt(4).value_or(self.offset), c.shapes));
  ScatterLoops scatter;
  scatter.base = c.args.Tensor(0);
  scatter.sizes = c.args.Ints(2);
  scatter.serial = true;  // the strides may meet one place twice
  scatter.where = [map](OpsHandler&, TensorReader&, Index index) { return map(index); };
  scatter.body = [src](OpsHandler& ops, TensorReader& in, Index index) {
    return in.Load(ops, src, index);
  };
  return std::vector<Lowered>{std::move(scatter)};
}

// The result has self's places in storage, without what lies before self's offset.
Results EvaluateAsStridedScatter(const EvaluateContext& c) {
  Tensor out = CopyOfSelf(c);
  const Tensor& self = c.args.Tensor(0);
  const Dims sizes(c.args.Ints(2)), strides(c.args.Ints(3));
  const int64_t offset = c.args.OptionalInt(4).value_or(self.offset()) - self.offset();
  absl::StatusOr<Tensor> part = Tensor::Checked(out.dtype(), sizes, strides, offset, out.storage());
  if (!part.ok() || !(out.strides() == self.strides())) {
    return Unimplemented("as_strided_scatter outside of the elements that self shows");
  }
  LATHE_ASSIGN_OR_RETURN(out, Written(c, out, *part));
  return OneResult(out);
}

}  // namespace

std::vector<OpRow> ViewScatterRows() {
  std::vector<OpRow> rows(4);
  rows[0].schema =
      "aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? "
      "end=None, SymInt step=1) -> Tensor";
  rows[0].doc = "self with a slice replaced by src.";
  rows[0].lower = LowerSliceScatter;
  rows[0].evaluate = EvaluateSliceScatter;
  rows[0].samples = {"aten.slice_scatter(f32[8, 3], f32[3, 3], 0, 1, 7, 2)"};
  rows[1].schema = "aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor";
  rows[1].doc = "self with one place of a dimension replaced by src.";
  rows[1].lower = LowerSelectScatter;
  rows[1].evaluate = EvaluateSelectScatter;
  rows[1].samples = {"aten.select_scatter(f32[4, 3], f32[4], 1, -1)"};
  rows[2].schema =
      "aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> "
      "Tensor";
  rows[2].doc = "self with a diagonal replaced by src.";
  rows[2].lower = LowerDiagonalScatter;
  rows[2].evaluate = EvaluateDiagonalScatter;
  rows[2].samples = {"aten.diagonal_scatter(f32[3, 4], f32[3], 1)"};
  rows[3].schema =
      "aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? "
      "storage_offset=None) -> Tensor";
  rows[3].doc = "self with what as_strided shows of it replaced by src.";
  rows[3].lower = LowerAsStridedScatter;
  rows[3].evaluate = EvaluateAsStridedScatter;
  rows[3].samples = {"aten.as_strided_scatter(f32[3, 4], f32[2, 2], [2, 2], [1, 4], 1)"};
  for (OpRow& row : rows) row.infer = InferLikeSelf;
  return rows;
}

}  // namespace lathe
