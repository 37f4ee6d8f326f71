// Activation functions of neural networks.

#include <cmath>

#include "dtypes/base/status.h"
#include "ir/ops/pointwise/parts.h"
#include "ir/ops/result_rules.h"

namespace lathe {
namespace {

OpsValue Relu6(OpsHandler& ops, const PointwiseCall& c, OpsValue x) {
  return ops.Minimum(c.Constant(6), ops.Maximum(c.Constant(0), x));
}

OpsValue Gelu(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  OpsValue x = c[0], half = ops.Mul(c.Constant(0.5), x);
  OpsValue inner;
  if (c.args.String(1) == "tanh") {
    OpsValue cube = ops.Mul(ops.Mul(x, x), x);
    OpsValue sum = ops.Add(x, ops.Mul(c.Constant(0.044715), cube));
    inner = ops.Tanh(ops.Mul(c.Constant(std::sqrt(2 / 3.14159265358979323846)), sum));
  } else {
    inner = ops.Erf(ops.Mul(x, c.Constant(std::sqrt(0.5))));
  }
  return ops.Mul(half, ops.Add(c.Constant(1), inner));
}

DTypeRule GeluDTypes() {
  return [](const OpArgs& args, absl::Span<const int> operands) -> absl::StatusOr<PointwiseDTypes> {
    if (args.String(1) != "none" && args.String(1) != "tanh") {
      return InvalidArgument("aten.gelu: approximate argument must be either none or tanh");
    }
    return Promote(kTakesFloat)(args, operands);
  };
}

// Below 0 alpha * (exp(x * input_scale) - 1), all times scale.
OpsValue Elu(const PointwiseCall& c, double alpha, double scale, double input_scale) {
  OpsHandler& ops = c.ops;
  OpsValue negative =
      ops.Mul(ops.Expm1(ops.Mul(c[0], c.Constant(input_scale))), c.Constant(alpha * scale));
  OpsValue positive = ops.Mul(c[0], c.Constant(scale));
  return ops.Where(ops.Lt(c[0], c.Constant(0)), negative, positive);
}

OpsValue Celu(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  double alpha = c.args.Number(1).ToDouble();
  OpsValue negative = ops.Mul(ops.Expm1(ops.Mul(c[0], c.Constant(1 / alpha))), c.Constant(alpha));
  return ops.Where(ops.Lt(c[0], c.Constant(0)), negative, c[0]);
}

OpsValue Softplus(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  OpsValue beta = c.Number(1), scaled = ops.Mul(c[0], beta);
  OpsValue soft = ops.Div(ops.Log1p(ops.Exp(scaled)), beta);
  return ops.Where(ops.Gt(scaled, c.Number(2)), c[0], soft);
}

// min(0, x) - log1p(exp(-|x|))
OpsValue LogSigmoid(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  OpsValue tail = ops.Log1p(ops.Exp(ops.Neg(ops.Abs(c[0]))));
  return ops.Sub(ops.Minimum(c[0], c.Constant(0)), tail);
}

// Whether -lambda <= x <= lambda; not so for NaN.
OpsValue IsWithin(const PointwiseCall& c, OpsValue lambda) {
  return c.ops.And(c.ops.Ge(c[0], c.ops.Neg(lambda)), c.ops.Le(c[0], lambda));
}

OpsValue Hardshrink(const PointwiseCall& c) {
  return c.ops.Where(IsWithin(c, c.Number(1)), c.Constant(0), c[0]);
}

OpsValue Softshrink(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  OpsValue lambda = c.Number(1);
  OpsValue moved =
      ops.Where(ops.Gt(c[0], c.Constant(0)), ops.Sub(c[0], lambda), ops.Add(c[0], lambda));
  return ops.Where(IsWithin(c, lambda), c.Constant(0), moved);
}

OpsValue Mish(const PointwiseCall& c) {
  OpsValue soft = c.ops.Log1p(c.ops.Exp(c[0]));
  return c.ops.Mul(c[0], c.ops.Tanh(soft));
}

OpRow Float(std::string schema, std::string doc, PointwiseBody body) {
  return Pointwise({.schema = std::move(schema),
                    .doc = std::move(doc),
                    .dtypes = Promote(kTakesFloat),
                    .body = std::move(body)});
}

std::vector<OpRow> RectifierRows() {
  return {
      Unary("relu", "max(self, 0); NaN stays.", Promote(kTakesRealNumbers),
            [](const PointwiseCall& c) { return c.ops.Maximum(c.Constant(0), c[0]); }),
      Unary("relu6", "self limited to [0, 6].", Promote(kTakesRealNumbers),
            [](const PointwiseCall& c) { return Relu6(c.ops, c, c[0]); }),
      Pointwise({.schema = "aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> "
                           "Tensor",
                 .doc = "self limited to [min_val, max_val].",
                 .dtypes = Promote(kTakesRealNumbers),
                 .body =
                     [](const PointwiseCall& c) {
                       return c.ops.Minimum(c.Number(2), c.ops.Maximum(c.Number(1), c[0]));
                     }}),
      Float("aten::hardsigmoid(Tensor self) -> Tensor", "relu6(self + 3) / 6.",
            [](const PointwiseCall& c) {
              OpsValue shifted = c.ops.Add(c[0], c.Constant(3));
              return c.ops.Div(Relu6(c.ops, c, shifted), c.Constant(6));
            }),
      Float("aten::hardswish(Tensor self) -> Tensor", "self * relu6(self + 3) / 6.",
            [](const PointwiseCall& c) {
              OpsValue shifted = c.ops.Add(c[0], c.Constant(3));
              return c.ops.Div(c.ops.Mul(c[0], Relu6(c.ops, c, shifted)), c.Constant(6));
            }),
      Float("aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
            "self above 0, negative_slope * self below.",
            [](const PointwiseCall& c) {
              OpsValue below = c.ops.Mul(c[0], c.Number(1));
              return c.ops.Where(c.ops.Gt(c[0], c.Constant(0)), c[0], below);
            }),
      Pointwise({.schema = "aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor",
                 .doc = "self above 0, weight * self below; weight is broadcast.",
                 .operands = {0, 1},
                 .dtypes = Promote(kTakesFloat),
                 .body =
                     [](const PointwiseCall& c) {
                       OpsValue below = c.ops.Mul(c[1], c[0]);
                       return c.ops.Where(c.ops.Gt(c[0], c.Constant(0)), c[0], below);
                     }}),
      Pointwise({.schema = "aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
                 .doc = "self where above threshold (or NaN), value elsewhere.",
                 .dtypes = Promote(kTakesRealNumbers),
                 .body =
                     [](const PointwiseCall& c) {
                       return c.ops.Where(c.ops.Le(c[0], c.Number(1)), c.Number(2), c[0]);
                     }}),
      Float("aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
            "0 within [-lambd, lambd], self elsewhere.", Hardshrink),
      Float("aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor",
            "0 within [-lambd, lambd], self moved by lambd towards 0 elsewhere.", Softshrink),
  };
}

std::vector<OpRow> SmoothRows() {
  return {
      Pointwise({.schema = "aten::gelu(Tensor self, *, str approximate='none') -> Tensor",
                 .doc = "self times the normal distribution function, exactly or through tanh.",
                 .dtypes = GeluDTypes(),
                 .body = Gelu,
                 .samples = {"aten.gelu(f32[3])", "aten.gelu(f16[2, 3], approximate=\"tanh\")"}}),
      Float("aten::silu(Tensor self) -> Tensor", "self * sigmoid(self).",
            [](const PointwiseCall& c) {
              OpsValue denominator = c.ops.Add(c.Constant(1), c.ops.Exp(c.ops.Neg(c[0])));
              return c.ops.Div(c[0], denominator);
            }),
      Float("aten::mish(Tensor self) -> Tensor", "self * tanh(softplus(self)).", Mish),
      Float("aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> "
            "Tensor",
            "scale * self above 0, scale * alpha * (exp(self * input_scale) - 1) below.",
            [](const PointwiseCall& c) {
              return Elu(c, c.args.Number(1).ToDouble(), c.args.Number(2).ToDouble(),
                         c.args.Number(3).ToDouble());
            }),
      Float("aten::selu(Tensor self) -> Tensor", "elu with the self-normalising constants.",
            [](const PointwiseCall& c) {
              return Elu(c, 1.6732632423543772848, 1.0507009873554804934, 1);
            }),
      Float("aten::celu(Tensor self, Scalar alpha=1.0) -> Tensor",
            "self above 0, alpha * (exp(self / alpha) - 1) below.", Celu),
      Float("aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
            "log(1 + exp(beta * self)) / beta; self where beta * self passes threshold.", Softplus),
      Float("aten::log_sigmoid(Tensor self) -> Tensor", "log(sigmoid(self)).", LogSigmoid),
  };
}

}  // namespace

std::vector<OpRow> ActivationRows() { return Concatenate({RectifierRows(), SmoothRows()}); }

}  // namespace lathe
