// Signs, elementary functions, and the formulas made of them.

#include <cmath>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/pointwise/parts.h"

namespace lathe {
namespace {

constexpr double kPi = 3.14159265358979323846;

// Complex operands give the dtype of their parts.
DTypeRule AbsDTypes() {
  return [](const OpArgs& args, absl::Span<const int> operands) -> absl::StatusOr<PointwiseDTypes> {
    LATHE_ASSIGN_OR_RETURN(PointwiseDTypes dtypes, Promote()(args, operands));
    if (IsComplex(dtypes.common)) dtypes.result = ComplexPart(dtypes.common);
    return dtypes;
  };
}

// The next value of bf16 is 2^16 steps of f32 away.
OpsValue NextAfter(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  if (c.dtypes.common != DType::kBF16) return ops.NextAfter(c[0], c[1]);
  OpsValue x = c[0], y = c[1];
  OpsValue bits = ops.BitCast(x, DType::kI32);
  OpsValue grows = ops.Eq(ops.Lt(x, y), ops.Gt(x, c.Constant(0)));
  OpsValue step =
      ops.Where(grows, ops.Constant(1 << 16, DType::kI32), ops.Constant(-(1 << 16), DType::kI32));
  OpsValue moved = ops.BitCast(ops.Add(bits, step), DType::kF32);
  OpsValue smallest = ops.BitCast(ops.Constant(1 << 16, DType::kI32), DType::kF32);
  moved = ops.Where(ops.Eq(x, c.Constant(0)), ops.CopySign(smallest, y), moved);
  OpsValue result = ops.Where(ops.Eq(x, y), y, moved);
  OpsValue is_nan = ops.Or(ops.IsNan(x), ops.IsNan(y));
  return ops.Where(is_nan, ops.Add(x, y), result);
}

OpsValue Heaviside(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  OpsValue zero = c.Constant(0);
  OpsValue step = ops.Where(ops.Gt(c[0], zero), c.Constant(1), zero);
  return ops.Where(ops.Eq(c[0], zero), c[1], step);
}

std::vector<OpRow> SignRows() {
  return {
      Unary("neg", "-self; integers wrap.", Promote(kTakesNumbers), &OpsHandler::Neg),
      Unary("abs", "The absolute value; integers wrap; complex: the magnitude.", AbsDTypes(),
            &OpsHandler::Abs),
      Unary("sign", "-1, 0 or 1; 0 for NaN.", Promote(kTakesReal), &OpsHandler::Sign),
      Unary("sgn", "sign; of complex numbers self / abs(self), 0 for 0.", Promote(),
            &OpsHandler::Sign),
      Binary("aten::copysign.Tensor(Tensor self, Tensor other) -> Tensor",
             "self with the sign of other.", PromoteToFloat(kTakesReal), &OpsHandler::CopySign),
      Binary("aten::copysign.Scalar(Tensor self, Scalar other) -> Tensor",
             "self with the sign of other.", PromoteToFloat(kTakesReal), &OpsHandler::CopySign),
      Binary("aten::nextafter(Tensor self, Tensor other) -> Tensor",
             "The next representable value towards other.", Promote(kTakesFloat), NextAfter),
      Binary("aten::heaviside(Tensor self, Tensor values) -> Tensor",
             "0 below 0, 1 above 0, values at 0.", Promote(kTakesReal), Heaviside),
  };
}

void AddFloat(std::vector<OpRow>& rows, const char* name, const char* doc, UnaryMethod method) {
  rows.push_back(Unary(name, doc, PromoteToFloat(), method));
}

std::vector<OpRow> ElementaryRows() {
  std::vector<OpRow> rows;
  AddFloat(rows, "exp", "e to the power of self.", &OpsHandler::Exp);
  AddFloat(rows, "exp2", "2 to the power of self.", &OpsHandler::Exp2);
  AddFloat(rows, "expm1", "exp(self) - 1, exact near 0.", &OpsHandler::Expm1);
  AddFloat(rows, "log", "The natural logarithm.", &OpsHandler::Log);
  AddFloat(rows, "log2", "The logarithm to base 2.", &OpsHandler::Log2);
  AddFloat(rows, "log10", "The logarithm to base 10.", &OpsHandler::Log10);
  AddFloat(rows, "log1p", "log(1 + self), exact near 0.", &OpsHandler::Log1p);
  AddFloat(rows, "sqrt", "The square root; NaN below 0.", &OpsHandler::Sqrt);
  AddFloat(rows, "rsqrt", "1 / sqrt(self).", &OpsHandler::Rsqrt);
  AddFloat(rows, "reciprocal", "1 / self.", &OpsHandler::Reciprocal);
  AddFloat(rows, "sin", "Sine.", &OpsHandler::Sin);
  AddFloat(rows, "cos", "Cosine.", &OpsHandler::Cos);
  AddFloat(rows, "tan", "Tangent.", &OpsHandler::Tan);
  AddFloat(rows, "asin", "Arc sine.", &OpsHandler::Asin);
  AddFloat(rows, "acos", "Arc cosine.", &OpsHandler::Acos);
  AddFloat(rows, "atan", "Arc tangent.", &OpsHandler::Atan);
  AddFloat(rows, "sinh", "Hyperbolic sine.", &OpsHandler::Sinh);
  AddFloat(rows, "cosh", "Hyperbolic cosine.", &OpsHandler::Cosh);
  AddFloat(rows, "tanh", "Hyperbolic tangent.", &OpsHandler::Tanh);
  AddFloat(rows, "asinh", "Inverse hyperbolic sine.", &OpsHandler::Asinh);
  AddFloat(rows, "acosh", "Inverse hyperbolic cosine.", &OpsHandler::Acosh);
  AddFloat(rows, "atanh", "Inverse hyperbolic tangent.", &OpsHandler::Atanh);
  AddFloat(rows, "sigmoid", "1 / (1 + exp(-self)).", &OpsHandler::Sigmoid);
  AddFloat(rows, "erf", "The error function.", &OpsHandler::Erf);
  AddFloat(rows, "erfc", "1 - erf(self), exact where small.", &OpsHandler::Erfc);
  rows.push_back(Binary("aten::atan2(Tensor self, Tensor other) -> Tensor",
                        "The angle of the point (other, self).", PromoteToFloat(kTakesReal),
                        &OpsHandler::Atan2));
  return rows;
}

// log(2^0 + 2^-|a - b|) added to the larger; infinities of one sign stay.
OpsValue LogAddExp2(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  OpsValue a = c[0], b = c[1];
  OpsValue difference = ops.Neg(ops.Abs(ops.Sub(a, b)));
  OpsValue tail = ops.Mul(ops.Log1p(ops.Exp2(difference)), c.Constant(1 / std::log(2.0)));
  OpsValue sum = ops.Add(ops.Maximum(a, b), tail);
  return ops.Where(ops.And(ops.IsInf(a), ops.Eq(a, b)), a, sum);
}

OpsValue LogAddExp(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  OpsValue a = c[0], b = c[1];
  OpsValue difference = ops.Neg(ops.Abs(ops.Sub(a, b)));
  OpsValue sum = ops.Add(ops.Maximum(a, b), ops.Log1p(ops.Exp(difference)));
  return ops.Where(ops.And(ops.IsInf(a), ops.Eq(a, b)), a, sum);
}

// x * log(y), but 0 where x is 0 and NaN where y is.
PointwiseBody XLogY(UnaryMethod log) {
  return [log](const PointwiseCall& c) {
    OpsHandler& ops = c.ops;
    OpsValue product = ops.Mul(c[0], (ops.*log)(c[1]));
    OpsValue result = ops.Where(ops.Eq(c[0], c.Constant(0)), c.Constant(0), product);
    return ops.Where(ops.IsNan(c[1]), c[1], result);
  };
}

OpsValue Logit(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  OpsValue x = c[0];
  if (!c.args.IsNone(1) && c.args.Float(1) >= 0) {
    double low = c.args.Float(1);
    x = ops.Maximum(x, c.Constant(low));
    x = ops.Minimum(x, c.Constant(1 - low));
  }
  // Eager's kernel rounds every step.
  OpsValue rest = c.Rounded(ops.Sub(c.Constant(1), x));
  return ops.Log(c.Rounded(ops.Div(x, rest)));
}

OpsValue Sinc(const PointwiseCall& c) {
  OpsHandler& ops = c.ops;
  OpsValue angle = ops.Mul(c[0], c.Constant(kPi));
  OpsValue quotient = ops.Div(ops.Sin(angle), angle);
  return ops.Where(ops.Eq(c[0], c.Constant(0)), c.Constant(1), quotient);
}

void AddXLogY(std::vector<OpRow>& rows, const std::string& name, const std::string& doc,
              const std::vector<std::string>& overloads, UnaryMethod log) {
  const char* arguments[] = {"(Tensor self, Tensor other) -> Tensor",
                             "(Scalar self, Tensor other) -> Tensor",
                             "(Tensor self, Scalar other) -> Tensor"};
  for (size_t k = 0; k < overloads.size(); ++k) {
    rows.push_back(Binary(absl::StrCat("aten::", name, overloads[k], arguments[k]), doc,
                          PromoteToFloat(kTakesReal), XLogY(log)));
  }
}

std::vector<OpRow> FormulaRows() {
  std::vector<OpRow> rows = {
      Binary("aten::logaddexp(Tensor self, Tensor other) -> Tensor",
             "log(exp(self) + exp(other)) without overflow.", Promote(kTakesFloat), LogAddExp),
      Binary("aten::logaddexp2(Tensor self, Tensor other) -> Tensor",
             "log2(2^self + 2^other) without overflow.", Promote(kTakesFloat), LogAddExp2),
      Pointwise({.schema = "aten::logit(Tensor self, float? eps=None) -> Tensor",
                 .doc = "log(x / (1 - x)), x limited to [eps, 1 - eps] when eps is given.",
                 .dtypes = PromoteToFloat(kTakesReal),
                 .body = Logit}),
      Unary("sinc", "sin(pi x) / (pi x), 1 at 0.", PromoteToFloat(kTakesReal), Sinc),
      Unary("deg2rad", "Degrees to radians.", PromoteToFloat(kTakesReal),
            [](const PointwiseCall& c) { return c.ops.Mul(c[0], c.Constant(kPi / 180)); }),
      Unary("rad2deg", "Radians to degrees.", PromoteToFloat(kTakesReal),
            [](const PointwiseCall& c) { return c.ops.Mul(c[0], c.Constant(180 / kPi)); }),
  };
  AddXLogY(rows, "xlogy", "self * log(other), 0 where self is 0.",
           {".Tensor", ".Scalar_Self", ".Scalar_Other"}, &OpsHandler::Log);
  AddXLogY(rows, "special_xlog1py", "self * log1p(other), 0 where self is 0.",
           {"", ".self_scalar", ".other_scalar"}, &OpsHandler::Log1p);
  return rows;
}

}  // namespace

std::vector<OpRow> MathRows() { return Concatenate({SignRows(), ElementaryRows(), FormulaRows()}); }

}  // namespace lathe
