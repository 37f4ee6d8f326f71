// resize_: another size in place. Growth leaves the new elements unset (zeros here).

#include <algorithm>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/host/host_loops.h"
#include "ir/ops/view/compose.h"
#include "ir/ops/view/size_math.h"
#include "ir/ops/view/view_rows.h"

namespace lathe {
namespace {

absl::StatusOr<std::vector<ValueType>> InferResize(const InferContext& c,
                                                   const std::vector<Expr>& sizes) {
  const TensorType& self = c.args.Type(0);
  if (sizes == self.sizes) return One(self);
  return One(ContiguousType(self.dtype, sizes, self.device));
}

// Of the same size, or of fewer elements of a dense tensor: its first ones, seen in another shape.
absl::StatusOr<Arguments> DecomposeResize(Builder& b, Value* self, const std::vector<Expr>& sizes) {
  const TensorType& type = TypeOf(self);
  if (sizes == type.sizes) return OneArgument(b.Call("aten.alias", {self}));
  const TensorType result = ContiguousType(type.dtype, sizes, type.device);
  const bool is_dense = type.strides == ContiguousType(type.dtype, type.sizes, type.device).strides;
  if (!is_dense || !b.shapes().IsKnownTrue(symbolic::Le(NumElements(result), NumElements(type)))) {
    return Unimplemented("resize_ of ", ToString(type), " to ", ToString(sizes),
                         ": only to no more elements of a dense tensor");
  }
  return OneArgument(b.Call("aten.as_strided", {self, sizes, result.strides}));
}

OpRow ResizeRow(std::string schema, InferFunction infer,
                std::function<std::vector<Expr>(const OpArgs&)> sizes) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = "Another size in place, elements kept in row-major order.";
  row.infer = std::move(infer);
  row.composite = true;
  row.decompose = [sizes](Builder& b, const OpArgs& args) {
    return DecomposeResize(b, args.Tensor(0), sizes(args));
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Tensor& self = c.args.Tensor(0);
    Tensor out = c.Allocate();
    FillElements(out, Scalar(0));
    const int64_t kept = std::min(out.numel(), self.numel());
    for (int64_t k = 0; k < kept; ++k) out.SetLinear(k, self.AtLinear(k));
    return OneResult(out);
  };
  return row;
}

}  // namespace

std::vector<OpRow> ResizeRows() {
  std::vector<OpRow> rows;
  rows.push_back(ResizeRow(
      "aten::resize_(Tensor(a!) self, SymInt[] size, *, MemoryFormat? memory_format=None) -> "
      "Tensor(a!)",
      [](const InferContext& c) { return InferResize(c, c.args.Ints(1)); },
      [](const OpArgs& args) { return args.Ints(1); }));
  rows.push_back(ResizeRow(
      "aten::resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? "
      "memory_format=None) -> Tensor(a!)",
      [](const InferContext& c) { return InferResize(c, c.args.Type(1).sizes); },
      [](const OpArgs& args) { return args.Type(1).sizes; }));
  return rows;
}

}  // namespace lathe
