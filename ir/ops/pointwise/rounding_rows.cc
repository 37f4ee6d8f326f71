// Rounding to whole numbers or decimals.

#include <cmath>

#include "ir/ops/pointwise/parts.h"

namespace lathe {
namespace {

// Scaled by a power of ten, rounded half to even, scaled back: each step in the element's dtype.
OpsValue RoundDecimals(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  int64_t decimals = c.args.Number(1).ToInt();
  if (decimals == 0) return ops.Round(c[0]);
  OpsValue scale = c.Constant(std::pow(10.0, std::fabs(static_cast<double>(decimals))));
  OpsValue scaled = decimals > 0 ? ops.Mul(c[0], scale) : ops.Div(c[0], scale);
  OpsValue rounded = ops.Round(c.Rounded(scaled));
  return decimals > 0 ? ops.Div(rounded, scale) : ops.Mul(rounded, scale);
}

}  // namespace

std::vector<OpRow> RoundingRows() {
  DTypeRule real = Promote(kTakesRealNumbers);
  return {
      Unary("floor", "The largest whole number not above.", real, &OpsHandler::Floor),
      Unary("ceil", "The smallest whole number not below.", real, &OpsHandler::Ceil),
      Unary("trunc", "Rounded to zero.", real, &OpsHandler::Trunc),
      Unary("fix", "Rounded to zero.", real, &OpsHandler::Trunc),
      Unary("round", "Rounded half to even.", real, &OpsHandler::Round),
      Pointwise({.schema = "aten::round.decimals(Tensor self, *, int decimals) -> Tensor",
                 .doc = "Rounded half to even at a decimal place.",
                 .dtypes = Promote(kTakesFloat),
                 .body = RoundDecimals}),
      Unary("frac", "self - trunc(self).", Promote(kTakesFloat),
            [](const PointwiseCall& c) { return c.ops.Sub(c[0], c.ops.Trunc(c[0])); }),
  };
}

}  // namespace lathe
