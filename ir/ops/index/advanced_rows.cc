// index, index_put and what masks make of them. aten.index takes bool masks too; they become
// nonzero's columns, and lathe.index does the rest with integers alone.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/index/advanced_index.h"
#include "ir/ops/index/host_reduce.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/result_rules.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;
using Types = absl::StatusOr<std::vector<ValueType>>;
using Results = absl::StatusOr<std::vector<HostValue>>;

bool IsMask(const Value* v) { return v != nullptr && IsBool(TypeOf(v).dtype); }

// Indices of u8 are masks too, from before there was bool.
std::vector<Value*> IndicesOf(Builder& b, const OpArgs& args) {
  std::vector<Value*> indices = args.Tensors(1);
  for (Value*& index : indices) {
    if (index == nullptr || TypeOf(index).dtype != DType::kU8) continue;
    index = b.Call("aten.ne.Scalar", {index, Scalar(0)});
  }
  return indices;
}

// ---- lathe.index ----

// TensorIterator runs over self with strides 0 along the indices, and over the indices: its
// permutation is the result's.
Types InferIndex(const InferContext& c) {
  const TensorType& self = c.args.Type(0);
  LATHE_ASSIGN_OR_RETURN(AdvancedIndex index,
                         AdvancedIndexOf("index", self, c.args.Tensors(1), c.shapes));
  const int count = static_cast<int>(index.index_sizes.size());
  TensorType source = ContiguousType(self.dtype, index.sizes, self.device);
  size_t other = 0;
  for (size_t k = 0; k < index.sizes.size(); ++k) {
    const bool is_index =
        static_cast<int>(k) >= index.first && static_cast<int>(k) < index.first + count;
    source.strides[k] = is_index ? Expr(0) : self.strides[index.rest[other++]];
  }
  std::vector<TensorType> operands = {source};
  for (Value* v : index.indices) {
    if (v == nullptr) continue;
    const TensorType& type = TypeOf(v);
    TensorType placed = ContiguousType(type.dtype, std::vector<Expr>(index.sizes.size(), 1));
    placed.device = type.device;
    std::fill(placed.strides.begin(), placed.strides.end(), Expr(0));
    const int shift = index.first + count - type.rank();
    for (int d = 0; d < type.rank(); ++d) {
      placed.sizes[shift + d] = type.sizes[d];
      placed.strides[shift + d] = type.sizes[d] == 1 ? Expr(0) : type.strides[d];
    }
    operands.push_back(std::move(placed));
  }
  TensorType result = ElementwiseType(self.dtype, index.sizes, operands, c.shapes);
  result.device = self.device;
  return One(std::move(result));
}

absl::StatusOr<std::vector<Lowered>> LowerIndex(const LowerContext& c) {
  Value* self = c.args.Tensor(0);
  LATHE_ASSIGN_OR_RETURN(AdvancedIndex index,
                         AdvancedIndexOf("index", TypeOf(self), c.args.Tensors(1), c.shapes));
  return std::vector<Lowered>{
      PointwiseLoops{[self, index](OpsHandler& ops, TensorReader& in, Index result) {
        return in.Load(ops, self, index.Place(ops, in, TypeOf(self).sizes, result));
      }}};
}

Results EvaluateIndex(const EvaluateContext& c) {
  Dims sizes;
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> places,
                         HostPlaces(c.args.Tensor(0), c.args.Tensors(1), sizes));
  Tensor out = c.Allocate();
  CopyElements(c.args.Tensor(0), places, out);
  return OneResult(out);
}

// ---- Masks ----

// Every mask replaced by the columns of its nonzero places, one a dimension.
absl::StatusOr<std::vector<Value*>> WithoutMasks(Builder& b, const TensorType& self,
                                                 const std::vector<Value*>& indices) {
  std::vector<Value*> result;
  for (Value* index : indices) {
    if (!IsMask(index)) {
      result.push_back(index);
      continue;
    }
    const TensorType mask = TypeOf(index);
    for (int d = 0; d < mask.rank(); ++d) {
      const size_t at = result.size() + d;
      if (at >= self.sizes.size() ||
          !symbolic::IsAccepted(b.shapes(), symbolic::Eq(mask.sizes[d], self.sizes[at]), {})) {
        return InvalidArgument("The shape of the mask ", ToString(mask.sizes), " at index ", d,
                               " does not match the shape of the indexed tensor ",
                               ToString(self.sizes), " at index ", at);
      }
    }
    if (mask.rank() == 0) return Unimplemented("an index that is a mask without dimensions");
    Value* places = b.Call("aten.nonzero", {index});
    for (int d = 0; d < mask.rank(); ++d) {
      result.push_back(b.Call("aten.select.int", {places, 1, d}));
    }
  }
  return result;
}

CallArgument IndexList(const std::vector<Value*>& indices) { return CallArgument(indices); }

Decomposed DecomposeIndex(Builder& b, const OpArgs& args) {
  LATHE_ASSIGN_OR_RETURN(std::vector<Value*> indices,
                         WithoutMasks(b, args.Type(0), IndicesOf(b, args)));
  LATHE_RETURN_IF_ERROR(b.status());
  return OneArgument(b.Call("lathe.index", {args.Tensor(0), IndexList(indices)}));
}

// ---- lathe.index_put ----

Types InferIndexPut(const InferContext& c) {
  const TensorType& self = c.args.Type(0);
  if (self.dtype != c.args.Type(2).dtype) {
    return InvalidArgument("index put requires the source and destination dtypes match, got ",
                           Name(self.dtype), " for the destination and ",
                           Name(c.args.Type(2).dtype), " for the source.");
  }
  LATHE_ASSIGN_OR_RETURN(AdvancedIndex index,
                         AdvancedIndexOf("index_put", self, c.args.Tensors(1), c.shapes));
  std::vector<std::vector<Expr>> both = {index.sizes, c.args.Type(2).sizes};
  if (!BroadcastSizes(both, c.shapes).ok() ||
      c.args.Type(2).rank() > static_cast<int>(index.sizes.size())) {
    return InvalidArgument("shape mismatch: value tensor of shape ", ToString(c.args.Type(2).sizes),
                           " cannot be broadcast to indexing result of shape ",
                           ToString(index.sizes));
  }
  TensorType type = self;
  type.strides = PreservedStrides(self, c.shapes);
  type.offset = 0;
  return One(std::move(type));
}

absl::StatusOr<std::vector<Lowered>> LowerIndexPut(const LowerContext& c) {
  Value *self = c.args.Tensor(0), *values = c.args.Tensor(2);
  LATHE_ASSIGN_OR_RETURN(AdvancedIndex index,
                         AdvancedIndexOf("index_put", TypeOf(self), c.args.Tensors(1), c.shapes));
  ScatterLoops scatter;
  scatter.base = self;
  scatter.sizes = index.sizes;
  scatter.mode = c.args.Bool(3) ? StoreMode::kAtomicAdd : StoreMode::kPlain;
  scatter.serial = true;
  scatter.where = [self, index](OpsHandler& ops, TensorReader& in, Index at) {
    return index.Place(ops, in, TypeOf(self).sizes, at);
  };
  scatter.body = [values, sizes = index.sizes](OpsHandler& ops, TensorReader& in, Index at) {
    return in.Load(ops, values, BroadcastIndex(TypeOf(values), sizes, at));
  };
  return std::vector<Lowered>{std::move(scatter)};
}

template <typename T>
void PutInto(const std::vector<int64_t>& places, const Tensor& values, bool accumulate,
             const Tensor& out) {
  const std::vector<T> v = ToVector<T>(values);
  std::vector<T> result = ToVector<T>(out);
  for (size_t k = 0; k < places.size(); ++k) {
    T& at = result[places[k]];
    at = accumulate ? RoundedStep(at + v[k], out.dtype()) : v[k];
  }
  FromVector<T>(result, out);
}

Results EvaluateIndexPut(const EvaluateContext& c) {
  Dims sizes;
  LATHE_ASSIGN_OR_RETURN(std::vector<int64_t> places,
                         HostPlaces(c.args.Tensor(0), c.args.Tensors(1), sizes));
  Tensor out = c.Allocate();
  out.CopyFrom(c.args.Tensor(0));
  const Tensor values = BroadcastTo(c.args.Tensor(2), sizes);
  VisitWide(out.dtype(),
            [&]<typename T>(TypeTag<T>) { PutInto<T>(places, values, c.args.Bool(3), out); });
  return OneResult(out);
}

// A single mask and one value need no places: where.
Decomposed DecomposeIndexPut(Builder& b, const OpArgs& args) {
  Value *self = args.Tensor(0), *values = args.Tensor(2);
  const TensorType type = TypeOf(self);
  const std::vector<Value*> given = IndicesOf(b, args);
  const bool one_value = NumElements(TypeOf(values)) == 1;
  if (given.size() == 1 && IsMask(given[0]) && one_value && !args.Bool(3) &&
      TypeOf(given[0]).rank() > 0 && TypeOf(given[0]).rank() <= type.rank()) {
    std::vector<Expr> sizes = TypeOf(given[0]).sizes;
    sizes.resize(type.rank(), 1);
    Value* mask = Reshape(b, given[0], sizes);
    Value* value = Reshape(b, values, {});
    Value* filled = b.Call("aten.where.self", {mask, value, self});
    LATHE_RETURN_IF_ERROR(b.status());
    // Like every index_put, a clone of self with other elements.
    if (TypeOf(filled).strides != PreservedStrides(type, b.shapes())) {
      filled = b.Call("aten.copy", {Clone(b, self, MemoryFormat::kPreserve), filled});
    }
    return OneArgument(filled);
  }
  LATHE_ASSIGN_OR_RETURN(std::vector<Value*> indices, WithoutMasks(b, type, given));
  LATHE_RETURN_IF_ERROR(b.status());
  return OneArgument(b.Call("lathe.index_put", {self, IndexList(indices), values, args.Bool(3)}));
}

// ---- Masked selections ----

Decomposed DecomposeMaskedSelect(Builder& b, const OpArgs& args) {
  if (!IsBool(args.Type(1).dtype)) {
    return InvalidArgument("masked_select: expected BoolTensor for mask, got ",
                           ToString(args.Type(1)));
  }
  LATHE_ASSIGN_OR_RETURN(
      std::vector<Expr> sizes,
      BroadcastSizes(std::vector<TensorType>{args.Type(0), args.Type(1)}, b.shapes()));
  if (sizes.empty()) sizes = {1};
  Value* self = b.Call("aten.expand", {args.Tensor(0), sizes});
  Value* mask = b.Call("aten.expand", {args.Tensor(1), sizes});
  return OneArgument(b.Call("aten.index.Tensor", {self, IndexList(std::vector<Value*>{mask})}));
}

// The k-th true place of the mask takes element k of the source.
Decomposed DecomposeMaskedScatter(Builder& b, const OpArgs& args) {
  Value *self = args.Tensor(0), *source = args.Tensor(2);
  if (!IsBool(args.Type(1).dtype) || args.Type(0).dtype != args.Type(2).dtype) {
    return InvalidArgument(
        "masked_scatter: expected a bool mask and self and source of one dtype, "
        "got ",
        ToString(args.Type(1)), ", ", ToString(args.Type(0)), " and ", ToString(args.Type(2)));
  }
  LATHE_ASSIGN_OR_RETURN(
      std::vector<Expr> sizes,
      BroadcastSizes(std::vector<TensorType>{args.Type(0), args.Type(1)}, b.shapes()));
  self = b.Call("aten.expand", {self, sizes});
  if (NumElements(args.Type(2)) == 0) {
    return OneArgument(Clone(b, self, MemoryFormat::kContiguous));
  }
  Value* mask = b.Call("aten.expand", {args.Tensor(1), sizes});
  Value* flat = CastTo(b, Reshape(b, mask, {-1}), DType::kI64);
  Value* number = AddScalar(b, b.Call("aten.cumsum", {flat, 0}), Scalar(-1));
  number = Reshape(b, number, sizes);
  number = b.Call("aten.where.ScalarOther", {mask, number, Scalar(0)});
  Value* taken = b.Call("aten.take", {source, number});
  Value* result = b.Call("aten.where.self", {mask, taken, self});
  return OneArgument(Clone(b, result, MemoryFormat::kContiguous));
}

// self[indices], `fill` where the mask is false and the indices may lie outside.
Decomposed DecomposeUnsafeMaskedIndex(Builder& b, const OpArgs& args) {
  std::vector<Value*> clamped;
  for (size_t d = 0; d < args.Tensors(2).size(); ++d) {
    Value* index = args.Tensors(2)[d];
    if (index != nullptr) {
      Expr last = args.Type(0).sizes[d] - 1;
      index = b.Call("aten.clamp", {index, -args.Type(0).sizes[d], last});
    }
    clamped.push_back(index);
  }
  Value* read = b.Call("aten.index.Tensor", {args.Tensor(0), IndexList(clamped)});
  Value* hidden = b.Call("aten.logical_not", {args.Tensor(1)});
  return OneArgument(b.Call("aten.masked_fill.Scalar", {read, hidden, args[3]}));
}

Decomposed DecomposeUnsafeMaskedPut(Builder& b, const OpArgs& args) {
  std::vector<Value*> clamped;
  for (size_t d = 0; d < args.Tensors(2).size(); ++d) {
    Value* index = args.Tensors(2)[d];
    if (index != nullptr) {
      Expr last = args.Type(0).sizes[d] - 1;
      index = b.Call("aten.clamp", {index, -args.Type(0).sizes[d], last});
    }
    clamped.push_back(index);
  }
  Value* hidden = b.Call("aten.logical_not", {args.Tensor(1)});
  Value* values = b.Call("aten.masked_fill.Scalar", {args.Tensor(3), hidden, Scalar(0)});
  return OneArgument(b.Call("aten.index_put", {args.Tensor(0), IndexList(clamped), values, true}));
}

OpRow Row(std::string schema, std::string doc, DecomposeFunction decompose,
          std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.decompose = std::move(decompose);
  row.samples = std::move(samples);
  return row;
}

}  // namespace

std::vector<OpRow> AdvancedIndexRows() {
  std::vector<OpRow> rows(2);
  rows[0].schema = "lathe::index(Tensor self, Tensor?[] indices) -> Tensor";
  rows[0].doc = "Advanced indexing by integers; negative ones count from the end.";
  rows[0].infer = InferIndex;
  rows[0].lower = LowerIndex;
  rows[0].evaluate = EvaluateIndex;
  rows[1].schema =
      "lathe::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> "
      "Tensor";
  rows[1].doc = "self with the places of an advanced index replaced by, or increased by, values.";
  rows[1].infer = InferIndexPut;
  rows[1].lower = LowerIndexPut;
  rows[1].evaluate = EvaluateIndexPut;
  rows.push_back(
      Row("aten::_index_put_impl(Tensor self, Tensor?[] indices, Tensor values, "
          "bool accumulate=False, bool unsafe=False) -> Tensor",
          "index_put; `unsafe` leaves a check of the indices out, which lathe makes.",
          DecomposeIndexPut, {}));
  for (const char* name : {"index.Tensor", "_unsafe_index.Tensor"}) {
    rows.push_back(Row(std::string("aten::") + name + "(Tensor self, Tensor?[] indices) -> Tensor",
                       "Advanced indexing by integers and bool masks.", DecomposeIndex, {}));
  }
  for (const char* name : {"index_put", "_unsafe_index_put"}) {
    rows.push_back(
        Row(std::string("aten::") + name +
                "(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
            "self with the places of an advanced index replaced by, or increased by, values.",
            DecomposeIndexPut, {}));
  }
  rows.push_back(Row(
      "aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, "
      "Scalar fill) -> Tensor",
      "self[indices] where the mask is true, `fill` elsewhere.", DecomposeUnsafeMaskedIndex, {}));
  rows.push_back(
      Row("aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, "
          "Tensor?[] indices, Tensor values) -> Tensor",
          "self with values added at the indices where the mask is true.", DecomposeUnsafeMaskedPut,
          {}));
  rows.push_back(Row("aten::masked_select(Tensor self, Tensor mask) -> Tensor",
                     "The elements where the mask is true, as a vector.", DecomposeMaskedSelect,
                     {"aten.masked_select(f32[3, 4], bool[3, 4])"}));
  rows.push_back(Row("aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
                     "self with the true places of the mask replaced by the source's elements in "
                     "order.",
                     DecomposeMaskedScatter,
                     {"aten.masked_scatter(f32[3, 4], bool[3, 4], f32[12])"}));
  return rows;
}

}  // namespace lathe
