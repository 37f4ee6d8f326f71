// Choices between values: where, masked_fill, nan_to_num, fill.

#include <limits>

#include "dtypes/base/status.h"
#include "ir/ops/pointwise/parts.h"

namespace lathe {
namespace {

OpRow Where(std::string schema) {
  return Pointwise({.schema = std::move(schema),
                    .doc = "self where condition, other elsewhere.",
                    .operands = {0, 1, 2},
                    .dtypes = Promote(),
                    .body = [](const PointwiseCall& c) { return c.ops.Where(c[0], c[1], c[2]); },
                    .masks = {0},
                    .round_scalars = true});
}

OpRow MaskedFill(std::string schema) {
  return Pointwise({.schema = std::move(schema),
                    .doc = "value where mask, self elsewhere; self's dtype.",
                    .operands = {0, 1, 2},
                    .dtypes = OfOperand(0),
                    .body = [](const PointwiseCall& c) { return c.ops.Where(c[1], c[2], c[0]); },
                    .masks = {1},
                    .round_scalars = true,
                    .contiguous_result = true});
}

double LargestFinite(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return std::numeric_limits<double>::max();
    case DType::kF16:
      return 65504;
    case DType::kBF16:
      return 3.3895313892515355e38;
    default:
      return std::numeric_limits<float>::max();
  }
}

OpsValue NanToNum(const PointwiseCall& c) {
  if (!IsFloat(c.dtype)) return c[0];
  OpsHandler& ops = c.ops;
  double largest = LargestFinite(c.dtypes.common);
  double nan = c.args.OptionalFloat(1).value_or(0);
  double positive = c.args.OptionalFloat(2).value_or(largest);
  double negative = c.args.OptionalFloat(3).value_or(-largest);
  OpsValue infinite = ops.Where(ops.SignBit(c[0]), c.Constant(negative), c.Constant(positive));
  OpsValue result = ops.Where(ops.IsInf(c[0]), infinite, c[0]);
  return ops.Where(ops.IsNan(c[0]), c.Constant(nan), result);
}

OpRow Fill(std::string schema) {
  return Pointwise({.schema = std::move(schema),
                    .doc = "value everywhere, in self's sizes and dtype.",
                    .operands = {0, 1},
                    .dtypes = OfOperand(0),
                    .body = [](const PointwiseCall& c) { return c[1]; },
                    .round_scalars = true});
}

}  // namespace

std::vector<OpRow> SelectRows() {
  return {
      LaidOutLikeSelf(Fill("aten::fill.Scalar(Tensor self, Scalar value) -> Tensor")),
      LaidOutLikeSelf(Fill("aten::fill.Tensor(Tensor self, Tensor value) -> Tensor")),
      Unary("zero", "0 everywhere, in self's sizes and dtype.", Promote(),
            [](const PointwiseCall& c) { return c.Constant(0); }),
      Where("aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor"),
      Where("aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor"),
      Where("aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor"),
      Where("aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor"),
      MaskedFill("aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor"),
      MaskedFill("aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor"),
      LaidOutLikeSelf(Pointwise(
          {.schema = "aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, "
                     "float? neginf=None) -> Tensor",
           .doc = "NaN and infinities replaced; by default 0 and the largest finite values.",
           .dtypes = Promote(kTakesReal),
           .body = NanToNum})),
  };
}

}  // namespace lathe
