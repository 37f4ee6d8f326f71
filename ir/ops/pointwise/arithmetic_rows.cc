// Sums, products, quotients, powers, extremes.

#include "dtypes/base/status.h"
#include "ir/ops/pointwise/parts.h"
#include "ir/ops/result_rules.h"

namespace lathe {
namespace {

// a + sign * alpha * b, `alpha` the number argument 2. As eager has it: in f32 and f64 one
// rounding, in narrower floats one more, of the product. (Eager's vectors leave that one out, for
// as many of the elements as fill 32 at a time; results here do not depend on the place.)
OpsValue Scaled(const PointwiseCall& c, OpsValue a, OpsValue b, bool subtracts) {
  constexpr int kAlpha = 2;
  const bool is_known = !c.args.ScalarExpr(kAlpha) && !c.args.Number(kAlpha).is_complex();
  OpsValue product = b;
  if (!is_known || !(c.args.Number(kAlpha) == Scalar(1))) {
    const OpsValue alpha = c.Number(kAlpha);
    if (IsFloat(c.dtype) && c.dtypes.common == c.dtype) {
      return c.ops.Fma(subtracts ? c.ops.Neg(alpha) : alpha, b, a);
    }
    product = c.Rounded(c.ops.Mul(alpha, b));
  }
  return subtracts ? c.ops.Sub(a, product) : c.ops.Add(a, product);
}

// As `rule`, and a float alpha (argument `i`) only with floats.
DTypeRule WithAlpha(DTypeRule rule, int i) {
  return [rule, i](const OpArgs& args,
                   absl::Span<const int> operands) -> absl::StatusOr<PointwiseDTypes> {
    LATHE_ASSIGN_OR_RETURN(PointwiseDTypes dtypes, rule(args, operands));
    if (IsIntegral(dtypes.common) && IsFloat(NumberType(args, i))) {
      return InvalidArgument(args.schema().name,
                             ": for integral input tensors, argument alpha must not be a floating "
                             "point number");
    }
    return dtypes;
  };
}

// Scalars are rounded to the tensor's dtype first.
OpRow Sum(std::string schema, std::string doc, DTypeRule dtypes, PointwiseBody body) {
  return Pointwise({.schema = std::move(schema),
                    .doc = std::move(doc),
                    .operands = {0, 1},
                    .dtypes = std::move(dtypes),
                    .body = std::move(body),
                    .round_scalars = true});
}

std::vector<OpRow> SumRows() {
  PointwiseBody add = [](const PointwiseCall& c) { return Scaled(c, c[0], c[1], false); };
  PointwiseBody sub = [](const PointwiseCall& c) { return Scaled(c, c[0], c[1], true); };
  PointwiseBody rsub = [](const PointwiseCall& c) { return Scaled(c, c[1], c[0], true); };
  DTypeRule all = WithAlpha(Promote(), 2), numbers = WithAlpha(Promote(kTakesNumbers), 2);
  return {
      Sum("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
          "self + alpha * other.", all, add),
      Sum("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
          "self + alpha * other.", all, add),
      Sum("aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
          "self - alpha * other.", numbers, sub),
      Sum("aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
          "self - alpha * other.", numbers, sub),
      Sum("aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
          "other - alpha * self.", numbers, rsub),
      Sum("aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
          "other - alpha * self.", numbers, rsub),
  };
}

DTypeRule SquareDTypes() {
  return [](const OpArgs& args, absl::Span<const int> operands) -> absl::StatusOr<PointwiseDTypes> {
    const DType dtype = args.Type(operands[0]).dtype;
    const DType result = IsBool(dtype) ? DType::kI64 : dtype;
    return PointwiseDTypes{result, result};
  };
}

std::vector<OpRow> ProductRows() {
  PointwiseBody addcmul = [](const PointwiseCall& c) {
    const OpsValue factor = c.ops.Mul(c.Number(3), c[1]);
    // Eager's last step rounds once.
    if (IsFloat(c.dtype)) return c.ops.Fma(factor, c[2], c[0]);
    return c.ops.Add(c[0], c.ops.Mul(factor, c[2]));
  };
  PointwiseBody addcdiv = [](const PointwiseCall& c) {
    return c.ops.Add(c[0], c.ops.Div(c.ops.Mul(c.Number(3), c[1]), c[2]));
  };
  return {
      BinaryOfNumbers("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor",
                      "self * other; bool: and.", Promote(), BodyOf(&OpsHandler::Mul)),
      Binary("aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", "self * other; bool: and.",
             Promote(), &OpsHandler::Mul, false),
      Unary("square", "self * self; of bool in i64, as a power.", SquareDTypes(),
            [](const PointwiseCall& c) { return c.ops.Mul(c[0], c[0]); }),
      Pointwise({.schema = "aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, "
                           "Scalar value=1) -> Tensor",
                 .doc = "self + value * tensor1 * tensor2.",
                 .operands = {0, 1, 2},
                 .dtypes = Promote(kTakesNumbers),
                 .body = addcmul}),
      Pointwise({.schema = "aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, "
                           "Scalar value=1) -> Tensor",
                 .doc = "self + value * tensor1 / tensor2; floats alone.",
                 .operands = {0, 1, 2},
                 .dtypes = Promote({.boolean = false, .integer = false}),
                 .body = addcdiv}),
  };
}

// The rounding mode of a division; the mode is argument 2.
DTypeRule DivisionDTypes() {
  return [](const OpArgs& args, absl::Span<const int> operands) -> absl::StatusOr<PointwiseDTypes> {
    if (args.IsNone(2)) return PromoteToFloat()(args, operands);
    const std::string& mode = args.String(2);
    if (mode != "floor" && mode != "trunc") {
      return InvalidArgument(
          "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
          "but found '",
          mode, "'");
    }
    return Promote(kTakesRealNumbers)(args, operands);
  };
}

OpsValue Divide(const PointwiseCall& c) {
  if (c.args.IsNone(2)) return c.ops.Div(c[0], c[1]);
  if (c.args.String(2) == "floor") return c.ops.FloorDiv(c[0], c[1]);
  // Eager divides narrow floats by a number in f32, and by a tensor of some in their own dtype.
  const bool by_number = !c.args[1].is_value() || c.args.Type(1).rank() == 0;
  const bool rounds = IsFloat(c.dtypes.common) && c.dtypes.common != c.dtype && !by_number;
  if (!rounds) return c.ops.TruncDiv(c[0], c[1]);
  return c.ops.Trunc(c.Rounded(c.ops.Div(c[0], c[1])));
}

std::vector<OpRow> QuotientRows() {
  return {
      BinaryOfNumbers("aten::div.Tensor(Tensor self, Tensor other) -> Tensor",
                      "The true quotient; integers give f32.", PromoteToFloat(),
                      BodyOf(&OpsHandler::Div)),
      Binary("aten::div.Scalar(Tensor self, Scalar other) -> Tensor",
             "The true quotient; integers give f32.", PromoteToFloat(), &OpsHandler::Div, false),
      BinaryOfNumbers(
          "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
          "The quotient rounded down, to zero, or not at all. Integers fail on 0.",
          DivisionDTypes(), Divide),
      Binary("aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
             "The quotient rounded down, to zero, or not at all. Integers fail on 0.",
             DivisionDTypes(), Divide),
      BinaryOfNumbers("aten::floor_divide(Tensor self, Tensor other) -> Tensor",
                      "Python's //. Integers fail on 0.", Promote(kTakesRealNumbers),
                      BodyOf(&OpsHandler::FloorDiv)),
      BinaryOfNumbers("aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor",
                      "Python's //. Integers fail on 0.", Promote(kTakesRealNumbers),
                      BodyOf(&OpsHandler::FloorDiv)),
      Binary("aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor",
             "Python's %: the divisor's sign. Integers fail on 0.", Promote(kTakesRealNumbers),
             &OpsHandler::Remainder),
      Binary("aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor",
             "Python's %: the divisor's sign. Integers fail on 0.", Promote(kTakesRealNumbers),
             &OpsHandler::Remainder),
      Binary("aten::remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor",
             "Python's %: the divisor's sign. Integers fail on 0.", Promote(kTakesRealNumbers),
             &OpsHandler::Remainder),
      Binary("aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor",
             "C's fmod: the dividend's sign. Integers fail on 0.", Promote(kTakesRealNumbers),
             &OpsHandler::Fmod),
      Binary("aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor",
             "C's fmod: the dividend's sign. Integers fail on 0.", Promote(kTakesRealNumbers),
             &OpsHandler::Fmod),
  };
}

DTypeRule TensorScalarPowDTypes() {
  return [](const OpArgs& args, absl::Span<const int> operands) -> absl::StatusOr<PointwiseDTypes> {
    LATHE_ASSIGN_OR_RETURN(PointwiseDTypes dtypes, Promote()(args, operands));
    bool is_negative = !args.ScalarExpr(1) && args.Number(1).is_int() && args.Number(1) < Scalar(0);
    if (IsIntegral(dtypes.common) && is_negative) {
      return InvalidArgument("aten.pow: integers to negative integer powers are not allowed");
    }
    return dtypes;
  };
}

// Small exponents as eager computes them.
OpsValue PowScalar(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  if (c.args.ScalarExpr(1) || c.args.Number(1).is_complex() || !IsFloat(c.dtype)) {
    return ops.Pow(c[0], c[1]);
  }
  double exponent = c.args.Number(1).ToDouble();
  OpsValue x = c[0];
  if (exponent == 0.5) return ops.Sqrt(x);
  if (exponent == 1) return x;
  if (exponent == 2) return ops.Mul(x, x);
  if (exponent == 3) return ops.Mul(ops.Mul(x, x), x);
  if (exponent == -0.5) return ops.Rsqrt(x);
  if (exponent == -1) return ops.Reciprocal(x);
  if (exponent == -2) return ops.Reciprocal(ops.Mul(x, x));
  return ops.Pow(x, c[1]);
}

std::vector<OpRow> PowerRows() {
  return {
      Binary("aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
             "self to the power of exponent; integers wrap.", Promote(), &OpsHandler::Pow),
      Binary("aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
             "self to the power of exponent; integers wrap and refuse negative exponents.",
             TensorScalarPowDTypes(), PowScalar),
      Binary("aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
             "self to the power of exponent; integers wrap.", Promote(), &OpsHandler::Pow),
      Binary("aten::hypot(Tensor self, Tensor other) -> Tensor", "sqrt(self^2 + other^2).",
             Promote(kTakesFloat), &OpsHandler::Hypot),
      Binary("aten::ldexp.Tensor(Tensor self, Tensor other) -> Tensor", "self * 2^other.",
             PromoteToFloat(kTakesReal),
             [](const PointwiseCall& c) { return c.ops.Mul(c[0], c.ops.Exp2(c[1])); }),
  };
}

// Of two zeros the first operand stays, in eager; the loop operations keep their second.
PointwiseBody KeepsFirst(BinaryMethod method) {
  return [method](const PointwiseCall& c) { return (c.ops.*method)(c[1], c[0]); };
}

// max(x, lower) then min(_, upper); either may be absent.
OpsValue Clamp(const PointwiseCall& c) {
  OpsValue x = c[0];
  if (c.Has(1)) x = c.ops.Maximum(c[1], x);
  return c.Has(2) ? c.ops.Minimum(c[2], x) : x;
}

DTypeRule ClampDTypes() {
  return [](const OpArgs& args, absl::Span<const int> operands) -> absl::StatusOr<PointwiseDTypes> {
    if (args.IsNone(1) && args.IsNone(2)) {
      return InvalidArgument("torch.clamp: at least one of 'min' or 'max' must not be None");
    }
    return Promote(kTakesReal)(args, operands);
  };
}

// Numbers are rounded to the tensor's dtype first.
OpRow Extreme(const std::string& schema, const std::string& doc, DTypeRule dtypes,
              PointwiseBody body) {
  return Pointwise({.schema = schema,
                    .doc = doc,
                    .operands = {0, 1},
                    .dtypes = std::move(dtypes),
                    .body = std::move(body),
                    .round_scalars = true});
}

std::vector<OpRow> ExtremeRows() {
  auto clamp = [](std::string schema) {
    return Pointwise({.schema = std::move(schema),
                      .doc = "Limited to [min, max]; max wins where min > max; NaN stays.",
                      .operands = {0, 1, 2},
                      .dtypes = ClampDTypes(),
                      .body = Clamp,
                      .round_scalars = true});
  };
  DTypeRule real = Promote(kTakesReal);
  return {
      Extreme("aten::maximum(Tensor self, Tensor other) -> Tensor", "The larger; NaN wins.", real,
              KeepsFirst(&OpsHandler::Maximum)),
      Extreme("aten::minimum(Tensor self, Tensor other) -> Tensor", "The smaller; NaN wins.", real,
              KeepsFirst(&OpsHandler::Minimum)),
      Extreme("aten::fmax(Tensor self, Tensor other) -> Tensor", "The larger; a number beats NaN.",
              real, KeepsFirst(&OpsHandler::Fmax)),
      Extreme("aten::fmin(Tensor self, Tensor other) -> Tensor", "The smaller; a number beats NaN.",
              real, KeepsFirst(&OpsHandler::Fmin)),
      clamp("aten::clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor"),
      clamp("aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"),
      Extreme("aten::clamp_min(Tensor self, Scalar min) -> Tensor", "At least min; NaN stays.",
              real, KeepsFirst(&OpsHandler::Maximum)),
      Extreme("aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
              "At least min; NaN stays.", real, KeepsFirst(&OpsHandler::Maximum)),
      Extreme("aten::clamp_max(Tensor self, Scalar max) -> Tensor", "At most max; NaN stays.", real,
              KeepsFirst(&OpsHandler::Minimum)),
      Extreme("aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
              "At most max; NaN stays.", real, KeepsFirst(&OpsHandler::Minimum)),
  };
}

// w < 0.5: a + w * (b - a); else b - (b - a) * (1 - w), so that w = 1 gives b. The last step
// rounds once.
OpsValue Lerp(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  OpsValue a = c[0], b = c[1], w = c[2];
  OpsValue difference = ops.Sub(b, a);
  OpsValue low = ops.Fma(w, difference, a);
  OpsValue high = ops.Fma(ops.Neg(difference), ops.Sub(c.Constant(1), w), b);
  return ops.Where(ops.Lt(ops.Abs(w), c.Constant(0.5)), low, high);
}

std::vector<OpRow> LerpRows() {
  auto lerp = [](std::string schema) {
    return Pointwise({.schema = std::move(schema),
                      .doc = "self + weight * (end - self); exact at both ends.",
                      .operands = {0, 1, 2},
                      .dtypes = OfOperand(0, kTakesFloat),
                      .body = Lerp});
  };
  return {lerp("aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor"),
          lerp("aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor")};
}

}  // namespace

std::vector<OpRow> ArithmeticRows() {
  return Concatenate(
      {SumRows(), ProductRows(), QuotientRows(), PowerRows(), ExtremeRows(), LerpRows()});
}

}  // namespace lathe
