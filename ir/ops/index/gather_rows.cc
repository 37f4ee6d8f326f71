// Reads by an index tensor: index_select, gather, take, embedding.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/index/place_from_zero.h"
#include "ir/ops/result_rules.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/reshape_index.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;

absl::StatusOr<int> DimOf(const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(1));
  return WrapDim(dim, args.Type(0).rank());
}

absl::Status CheckIndex(const OpArgs& args, int i) {
  const DType dtype = args.Type(i).dtype;
  if (NumElements(args.Type(i)) == 0) return absl::OkStatus();
  if (dtype == DType::kI64 || dtype == DType::kI32) return absl::OkStatus();
  return InvalidArgument(args.schema().name, ": expected dtype int32/int64 for index, got ",
                         ToString(args.Type(i)));
}

absl::Status OutOfBounds(int64_t i, int64_t size) {
  return OutOfRange("index ", i, " is out of bounds for dimension with size ", size);
}

// ---- index_select(self, dim, index) ----

Types InferIndexSelect(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckIndex(c.args, 2));
  LATHE_ASSIGN_OR_RETURN(int dim, DimOf(c.args));
  const TensorType &self = c.args.Type(0), &index = c.args.Type(2);
  if (index.rank() > 1) {
    return InvalidArgument("index_select(): Index is supposed to be a vector, got ",
                           ToString(index));
  }
  std::vector<Expr> sizes = self.sizes;
  if (self.rank() > 0) sizes[dim] = index.rank() == 0 ? Expr(1) : index.sizes[0];
  return One(ContiguousType(self.dtype, std::move(sizes), self.device));
}

absl::StatusOr<std::vector<Lowered>> LowerIndexSelect(const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(int dim, DimOf(c.args));
  Value *self = c.args.Tensor(0), *index = c.args.Tensor(2);
  return std::vector<Lowered>{PointwiseLoops{[=](OpsHandler& ops, TensorReader& in, Index result) {
    std::vector<Expr> place(result.begin(), result.end());
    if (place.empty()) return in.Load(ops, self, place);
    std::vector<Expr> at;
    if (TypeOf(index).rank() == 1) at.push_back(result[dim]);
    place[dim] = PlaceFromZero(ops, in.Load(ops, index, at), TypeOf(self).sizes[dim]);
    return in.Load(ops, self, place);
  }}};
}

Results EvaluateIndexSelect(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(1), self.rank()));
  const std::vector<int64_t> index = ToVector<int64_t>(c.args.Tensor(2));
  const int64_t size = self.rank() == 0 ? 1 : self.sizes()[dim];
  for (int64_t i : index) {
    if (i < 0 || i >= size) return OutOfBounds(i, size);
  }
  Tensor out = c.Allocate();
  std::vector<int64_t> places;
  ForEachIndex(out.sizes(), [&](const Position& p) {
    Position at = p;
    if (!at.empty()) at[dim] = index[p[dim]];
    places.push_back(Linear(at, self.sizes()));
  });
  CopyElements(self, places, out);
  return OneResult(out);
}

// ---- gather(self, dim, index) ----

Types InferGather(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckIndex(c.args, 2));
  LATHE_ASSIGN_OR_RETURN(int dim, DimOf(c.args));
  const TensorType &self = c.args.Type(0), &index = c.args.Type(2);
  const bool has_no_elements = NumElements(index) == 0;
  if (!has_no_elements && std::max(self.rank(), 1) != std::max(index.rank(), 1)) {
    return InvalidArgument(
        "Index tensor must have the same number of dimensions as input tensor, "
        "got ",
        ToString(index), " for ", ToString(self));
  }
  for (int d = 0; !has_no_elements && d < std::min(index.rank(), self.rank()); ++d) {
    if (d == dim ||
        !symbolic::IsRefused(c.shapes, symbolic::And(symbolic::Gt(index.sizes[d], self.sizes[d]),
                                                     symbolic::Ne(NumElements(index), 0)))) {
      continue;
    }
    return InvalidArgument("Size does not match at dimension ", d, " expected index ",
                           ToString(index.sizes), " to be no larger than self ",
                           ToString(self.sizes), " apart from dimension ", dim);
  }
  return One(ContiguousType(self.dtype, index.sizes, self.device));
}

absl::StatusOr<std::vector<Lowered>> LowerGather(const LowerContext& c) {
  LATHE_ASSIGN_OR_RETURN(int dim, DimOf(c.args));
  Value *self = c.args.Tensor(0), *index = c.args.Tensor(2);
  return std::vector<Lowered>{PointwiseLoops{[=](OpsHandler& ops, TensorReader& in, Index result) {
    std::vector<Expr> place(result.begin(), result.end());
    const TensorType& type = TypeOf(self);
    place.resize(type.rank(), 0);
    if (type.rank() > 0) {
      place[dim] = PlaceFromZero(ops, in.Load(ops, index, result), type.sizes[dim]);
    }
    return in.Load(ops, self, place);
  }}};
}

Results EvaluateGather(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(1), self.rank()));
  Tensor out = c.Allocate();
  const std::vector<int64_t> index = ToVector<int64_t>(c.args.Tensor(2));
  const int64_t size = self.rank() == 0 ? 1 : self.sizes()[dim];
  for (int64_t i : index) {
    if (i < 0 || i >= size) return OutOfBounds(i, size);
  }
  std::vector<int64_t> places;
  ForEachIndex(out.sizes(), [&](const Position& p) {
    Position at = p;
    at.resize(self.rank(), 0);
    if (self.rank() > 0) at[dim] = index[places.size()];
    places.push_back(Linear(at, self.sizes()));
  });
  CopyElements(self, places, out);
  return OneResult(out);
}

// ---- take(self, index): self as a vector ----

Types InferTake(const InferContext& c) {
  const TensorType &self = c.args.Type(0), &index = c.args.Type(1);
  if (index.dtype != DType::kI64) {
    return InvalidArgument("take(): Expected a long tensor for index, but got ", ToString(index));
  }
  return One(ContiguousType(self.dtype, index.sizes, self.device));
}

absl::StatusOr<std::vector<Lowered>> LowerTake(const LowerContext& c) {
  Value *self = c.args.Tensor(0), *index = c.args.Tensor(1);
  return std::vector<Lowered>{PointwiseLoops{[=](OpsHandler& ops, TensorReader& in, Index result) {
    const TensorType& type = TypeOf(self);
    Expr flat = ops.Indirect(in.Load(ops, index, result), NumElements(type));
    return in.Load(ops, self, UnflattenIndex(flat, type.sizes));
  }}};
}

Results EvaluateTake(const EvaluateContext& c) {
  const Tensor& self = c.args.Tensor(0);
  std::vector<int64_t> places = ToVector<int64_t>(c.args.Tensor(1));
  const int64_t count = self.numel();
  for (int64_t& i : places) {
    if (i < -count || i >= count) return OutOfBounds(i, count);
    if (i < 0) i += count;
  }
  Tensor out = c.Allocate();
  CopyElements(self, places, out);
  return OneResult(out);
}

absl::StatusOr<Arguments> DecomposeTakeAlongDim(Builder& b, const OpArgs& args) {
  Value *self = args.Tensor(0), *indices = args.Tensor(1);
  if (args.IsNone(2)) {
    Value* flat = Reshape(b, self, {-1});
    return OneArgument(b.Call("aten.gather", {flat, 0, Reshape(b, indices, {-1})}));
  }
  LATHE_ASSIGN_OR_RETURN(int64_t wanted, args.ConstantInt(2));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(wanted, TypeOf(self).rank()));
  if (TypeOf(self).rank() != TypeOf(indices).rank()) {
    return InvalidArgument(
        "torch.take_along_dim(): input and indices should have the same number "
        "of dimensions, got ",
        ToString(TypeOf(self)), " and ", ToString(TypeOf(indices)));
  }
  // All dimensions but `dim` broadcast.
  std::vector<Expr> self_sizes = TypeOf(self).sizes, index_sizes = TypeOf(indices).sizes;
  for (int d = 0; d < TypeOf(self).rank(); ++d) {
    if (d == dim) continue;
    if (self_sizes[d] == 1) self_sizes[d] = index_sizes[d];
    if (index_sizes[d] == 1) index_sizes[d] = self_sizes[d];
  }
  self = b.Call("aten.expand", {self, self_sizes});
  indices = b.Call("aten.expand", {indices, index_sizes});
  return OneArgument(b.Call("aten.gather", {self, dim, indices}));
}

// ---- embedding(weight, indices) ----

Types InferEmbedding(const InferContext& c) {
  LATHE_RETURN_IF_ERROR(CheckIndex(c.args, 1));
  const TensorType &weight = c.args.Type(0), &indices = c.args.Type(1);
  if (weight.rank() != 2) {
    return InvalidArgument("'weight' must be 2-D, got ", ToString(weight));
  }
  std::vector<Expr> sizes = indices.sizes;
  sizes.push_back(weight.sizes[1]);
  return One(ContiguousType(weight.dtype, std::move(sizes), weight.device));
}

absl::StatusOr<std::vector<Lowered>> LowerEmbedding(const LowerContext& c) {
  Value *weight = c.args.Tensor(0), *indices = c.args.Tensor(1);
  return std::vector<Lowered>{PointwiseLoops{[=](OpsHandler& ops, TensorReader& in, Index result) {
    OpsValue word = in.Load(ops, indices, result.subspan(0, result.size() - 1));
    Expr row = PlaceFromZero(ops, word, TypeOf(weight).sizes[0]);
    return in.Load(ops, weight, std::vector<Expr>{row, result.back()});
  }}};
}

Results EvaluateEmbedding(const EvaluateContext& c) {
  const Tensor& weight = c.args.Tensor(0);
  const int64_t rows = weight.sizes()[0], width = weight.sizes()[1];
  Tensor out = c.Allocate();
  std::vector<int64_t> places;
  for (int64_t i : ToVector<int64_t>(c.args.Tensor(1))) {
    if (i < 0 || i >= rows) return OutOfBounds(i, rows);
    for (int64_t k = 0; k < width; ++k) places.push_back(i * width + k);
  }
  CopyElements(weight, places, out);
  return OneResult(out);
}

OpRow Row(std::string schema, std::string doc, InferFunction infer, LowerFunction lower,
          EvaluateFunction evaluate) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = std::move(infer);
  row.lower = std::move(lower);
  row.evaluate = std::move(evaluate);
  return row;
}

}  // namespace

std::vector<OpRow> GatherRows() {
  std::vector<OpRow> rows;
  rows.push_back(Row("aten::index_select(Tensor self, int dim, Tensor index) -> Tensor",
                     "The places of a dimension that a vector names.", InferIndexSelect,
                     LowerIndexSelect, EvaluateIndexSelect));
  rows.push_back(
      Row("aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
          "Each element from the place along `dim` that its index names.", InferGather, LowerGather,
          EvaluateGather));
  rows.push_back(Row("aten::take(Tensor self, Tensor index) -> Tensor",
                     "Elements of self, seen as a vector; negative indices count from the end.",
                     InferTake, LowerTake, EvaluateTake));
  rows.push_back(
      Row("aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool "
          "scale_grad_by_freq=False, bool sparse=False) -> Tensor",
          "The rows of a table that the indices name.", InferEmbedding, LowerEmbedding,
          EvaluateEmbedding));
  OpRow along;
  along.schema = "aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor";
  along.doc = "gather with broadcasting; of all elements when dim is absent.";
  along.decompose = DecomposeTakeAlongDim;
  along.composite = true;
  rows.push_back(std::move(along));
  return rows;
}

}  // namespace lathe
