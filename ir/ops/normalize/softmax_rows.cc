// softmax and log_softmax: amax, sub, exp, sum, and the inverse or the log of the sum.

#include <cmath>
#include <utility>

#include "dtypes/base/status.h"
#include "ir/ops/normalize/normalize_rows.h"
#include "ir/ops/view/compose.h"

namespace lathe {
namespace {

using Decomposed = absl::StatusOr<Arguments>;

absl::Status CheckSoftmax(const OpArgs& args, bool is_empty) {
  if (IsIntegral(args.Type(0).dtype) && !is_empty) {
    return InvalidArgument(args.schema().name, ": not implemented for ", Name(args.Type(0).dtype),
                           "; pass a float tensor or a dtype");
  }
  LATHE_ASSIGN_OR_RETURN(int64_t dim, args.ConstantInt(1));
  return WrapDim(dim, args.Type(0).rank()).status();
}

// The dimension as a list, and whether there is nothing to normalize over.
struct Axis {
  std::vector<Expr> dims;
  bool is_empty = false;
};
Axis AxisOf(const OpArgs& args) {
  Axis axis;
  axis.dims = {args.Int(1)};
  const TensorType& type = args.Type(0);
  for (const Expr& size : type.sizes) axis.is_empty |= size == 0;
  return axis;
}

// Along the last dimension eager keeps the sum, and its logarithm, in the tensor's own type.
Value* LogOfSum(Builder& b, const OpArgs& args, Value* sum) {
  const TensorType& type = args.Type(0);
  const DType wide = ComputeType(type.dtype);
  const int64_t dim = args.Int(1).AsInt().value_or(0);
  if (wide == type.dtype || (dim != -1 && dim != type.rank() - 1)) {
    return b.Call("aten.log", {sum});
  }
  Value* rounded = CastTo(b, CastTo(b, sum, type.dtype), wide);
  return CastTo(b, CastTo(b, b.Call("aten.log", {rounded}), type.dtype), wide);
}

Decomposed SoftmaxOf(Builder& b, const OpArgs& args, DType result, bool is_log, bool is_safe) {
  Axis axis = AxisOf(args);
  LATHE_RETURN_IF_ERROR(CheckSoftmax(args, axis.is_empty));
  Value* x = Dense(b, args.Tensor(0));
  if (axis.is_empty) return OneArgument(CastTo(b, b.Call("aten.clone", {x}), result));
  x = Widen(b, CastTo(b, x, is_safe ? result : TypeOf(x).dtype));
  Value* most = b.Call("lathe.amax", {x, axis.dims, true});
  Value* shifted = Sub(b, x, most);
  Value* power = b.Call("aten.exp", {shifted});
  Value* sum = b.Call("aten.sum.dim_IntList", {power, axis.dims, true});
  // One division a row: the sum is at least 1, so its inverse neither overflows nor vanishes.
  Value* value = is_log ? Sub(b, shifted, LogOfSum(b, args, sum))
                        : Mul(b, power, b.Call("aten.reciprocal", {sum}));
  if (is_safe) {
    // A row of -inf alone has nothing to weigh: zeros instead of NaN.
    Value* hidden = b.Call("aten.eq.Scalar", {most, Scalar(-INFINITY)});
    value = b.Call("aten.masked_fill.Scalar", {value, hidden, Scalar(0.0)});
  }
  return OneArgument(CastTo(b, value, result));
}

OpRow Row(std::string schema, std::string doc, DecomposeFunction decompose, bool composite,
          std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.decompose = std::move(decompose);
  row.composite = composite;
  row.samples = std::move(samples);
  return row;
}

// aten._softmax and aten._log_softmax.
OpRow KernelRow(const std::string& name, bool is_log, std::string doc) {
  return Row(
      "aten::" + name + "(Tensor self, int dim, bool half_to_float) -> Tensor", std::move(doc),
      [is_log](Builder& b, const OpArgs& args) -> Decomposed {
        const DType own = args.Type(0).dtype;
        const DType result = args.Bool(2) ? ComputeType(own) : own;
        return SoftmaxOf(b, args, result, is_log, false);
      },
      false, {"aten." + name + "(f32[3, s0], -1, false)", "aten." + name + "(f16[3, 4], 0, true)"});
}

// softmax.int and its other names: a conversion first where a dtype is asked for.
OpRow CompositeRow(const std::string& name, const std::string& kernel, std::string doc) {
  return Row("aten::" + name + "(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
             std::move(doc),
             [kernel](Builder& b, const OpArgs& args) -> Decomposed {
               Value* x = args.Tensor(0);
               if (args.OptionalDType(2)) x = CastTo(b, x, *args.OptionalDType(2));
               return OneArgument(b.Call(kernel, {x, args[1], false}));
             },
             true, {"aten." + name + "(f32[3, 4], -1)", "aten." + name + "(f16[3], 0, f32)"});
}

}  // namespace

std::vector<OpRow> SoftmaxRows() {
  const std::string soft = "exp(x) / sum(exp(x)) along a dimension, shifted by the largest x.";
  const std::string log = "x - log(sum(exp(x))) along a dimension, shifted by the largest x.";
  std::vector<OpRow> rows;
  rows.push_back(KernelRow("_softmax", false, soft));
  rows.push_back(KernelRow("_log_softmax", true, log));
  rows.push_back(Row("aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
                     "softmax in which a row of -inf alone gives zeros.",
                     [](Builder& b, const OpArgs& args) -> Decomposed {
                       const DType result = args.OptionalDType(2).value_or(args.Type(0).dtype);
                       return SoftmaxOf(b, args, result, false, true);
                     },
                     false, {"aten._safe_softmax(f32[3, 4], -1)"}));
  for (const char* name : {"softmax.int", "special_softmax"}) {
    rows.push_back(CompositeRow(name, "aten._softmax", soft));
  }
  for (const char* name : {"log_softmax.int", "special_log_softmax"}) {
    if (std::string(name) == "special_log_softmax") {
      // Its dtype is keyword-only.
      OpRow row = CompositeRow(name, "aten._log_softmax", log);
      row.schema =
          "aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor";
      row.samples = {"aten.special_log_softmax(f32[3, 4], -1)"};
      rows.push_back(std::move(row));
      continue;
    }
    rows.push_back(CompositeRow(name, "aten._log_softmax", log));
  }
  return rows;
}

}  // namespace lathe
