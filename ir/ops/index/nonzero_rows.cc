// Places where something is: nonzero and its forms. Their sizes depend on data.

#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/index/index_rows.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

using Types = absl::StatusOr<std::vector<ValueType>>;

// The multi-indices of the nonzero elements, row by row.
std::vector<int64_t> PlacesOf(const Tensor& self) {
  std::vector<int64_t> places;
  int64_t k = 0;
  ForEachIndex(self.sizes(), [&](const Position& p) {
    if (self.AtLinear(k++).ToComplex() != 0.0) places.insert(places.end(), p.begin(), p.end());
  });
  return places;
}

// The number of nonzero elements of a 0-dim tensor is not to be had from its places.
int64_t CountOf(const Tensor& self) {
  int64_t count = 0;
  for (int64_t k = 0; k < self.numel(); ++k) count += self.AtLinear(k).ToComplex() != 0.0;
  return count;
}

OpRow NonzeroRow() {
  OpRow row;
  row.schema = "aten::nonzero(Tensor self) -> Tensor";
  row.doc = "The multi-index of every nonzero element, a row each, in row-major order.";
  row.infer = [](const InferContext& c) -> Types {
    const TensorType& self = c.args.Type(0);
    const int64_t upper = c.shapes.RangeOf(NumElements(self)).upper;
    Expr count = c.shapes.FreshUnbacked(symbolic::Source::Item(c.asker.node),
                                        symbolic::Range{0, std::max<int64_t>(upper, 0)});
    // Eager's layout: one column after the other.
    TensorType type = ContiguousType(DType::kI64, {count, self.rank()}, self.device);
    type.strides = {1, count};
    return One(std::move(type));
  };
  row.lower = [](const LowerContext& c) -> absl::StatusOr<std::vector<Lowered>> {
    const DType dtype = c.args.Type(0).dtype;
    if (IsComplex(dtype) || IsSubByte(dtype)) {
      return Unimplemented("nonzero of ", Name(dtype), " as a compiled function");
    }
    ExternLoops nonzero;
    nonzero.id = "nonzero";
    nonzero.inputs = {c.args.Tensor(0)};
    nonzero.contiguous_inputs = {true};
    nonzero.allocates = true;
    return std::vector<Lowered>{std::move(nonzero)};
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Tensor& self = c.args.Tensor(0);
    std::vector<int64_t> places = PlacesOf(self);
    const int64_t count = CountOf(self);
    Tensor out = Tensor::EmptyStrided(DType::kI64, {count, self.rank()}, {1, count});
    FromVector<int64_t>(places, out);
    return OneResult(out);
  };
  row.samples = {"aten.nonzero(f32[3, 4])", "aten.nonzero(bool[s0])"};
  return row;
}

OpRow NonzeroStaticRow() {
  OpRow row;
  row.schema = "aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor";
  row.doc = "The first `size` rows of nonzero, missing ones filled.";
  row.infer = [](const InferContext& c) -> Types {
    const TensorType& self = c.args.Type(0);
    if (symbolic::IsRefused(c.shapes, symbolic::Lt(c.args.Int(1), 0))) {
      return InvalidArgument("nonzero_static: size must be non-negative");
    }
    return One(ContiguousType(DType::kI64, {c.args.Int(1), self.rank()}, self.device));
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    Tensor out = c.Allocate();
    std::vector<int64_t> places = PlacesOf(c.args.Tensor(0));
    places.resize(out.numel(), c.args.Int(2));
    FromVector<int64_t>(places, out);
    return OneResult(out);
  };
  row.samples = {"aten.nonzero_static(f32[3, 4], size=5)"};
  return row;
}

// One vector a dimension: (Tensor) -> Tensor[]
OpRow ColumnsRow(const std::string& schema) {
  OpRow row;
  row.schema = schema;
  row.doc = "The places of the nonzero elements, a vector a dimension.";
  row.composite = true;
  row.decompose = [](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
    Value* self = args.Tensor(0);
    if (TypeOf(self).rank() == 0) self = b.Call("aten.unsqueeze", {self, 0});
    Value* places = b.Call("aten.nonzero", {self});
    LATHE_RETURN_IF_ERROR(b.status());
    Arguments columns;
    for (int d = 0; d < TypeOf(self).rank(); ++d) {
      columns.push_back(Argument::Of(b.Call("aten.select.int", {places, 1, d})));
    }
    return columns;
  };
  return row;
}

}  // namespace

std::vector<OpRow> NonzeroRows() {
  std::vector<OpRow> rows;
  rows.push_back(NonzeroRow());
  rows.push_back(NonzeroStaticRow());
  rows.push_back(ColumnsRow("aten::nonzero_numpy(Tensor self) -> Tensor[]"));
  rows.push_back(ColumnsRow("aten::where(Tensor condition) -> Tensor[]"));
  OpRow argwhere;
  argwhere.schema = "aten::argwhere(Tensor self) -> Tensor";
  argwhere.doc = "nonzero under another name.";
  argwhere.composite = true;
  argwhere.decompose = [](Builder& b, const OpArgs& args) -> absl::StatusOr<Arguments> {
    return OneArgument(b.Call("aten.nonzero", {args.Tensor(0)}));
  };
  rows.push_back(std::move(argwhere));
  return rows;
}

}  // namespace lathe
