// Special functions, evaluated on the host alone.

#include <cmath>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "dtypes/wide.h"
#include "ir/ops/pointwise/parts.h"
#include "ir/ops/pointwise/special_functions.h"
#include "ir/ops/result_rules.h"

namespace lathe {
namespace {

using Function = double (*)(double);
using Polynomial = double (*)(double, int64_t);

OpRow OfOne(const std::string& name, const std::string& doc, Function function) {
  return Pointwise({.schema = absl::StrCat("aten::", name, "(Tensor self) -> Tensor"),
                    .doc = doc,
                    .dtypes = PromoteToFloat(kTakesReal),
                    .floats = [function](const OpArgs&, absl::Span<const double> in) {
                      return function(in[0]);
                    }});
}

OpRow OfTwo(const std::string& schema, const std::string& doc, DTypeRule dtypes,
            double (*function)(double, double)) {
  return Pointwise({.schema = schema,
                    .doc = doc,
                    .operands = {0, 1},
                    .dtypes = std::move(dtypes),
                    .floats = [function](const OpArgs&, absl::Span<const double> in) {
                      return function(in[0], in[1]);
                    }});
}

std::vector<OpRow> FunctionRows() {
  return {
      OfOne("lgamma", "log |Gamma(self)|.", [](double x) { return std::lgamma(x); }),
      OfOne("digamma", "The derivative of log Gamma.", special::Digamma),
      OfOne("erfinv", "The inverse of erf.", special::Erfinv),
      OfOne("special_erfcx", "exp(x^2) erfc(x).", special::Erfcx),
      OfOne("special_ndtri", "The quantile of the normal distribution.", special::Ndtri),
      OfOne("special_log_ndtr", "The log of the normal distribution function.", special::LogNdtr),
      OfOne("special_ndtr", "The normal distribution function.",
            [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }),
      OfOne("special_entr", "-x log x.", special::Entr),
      OfOne("i0", "Modified Bessel function I0.", special::BesselI0),
      OfOne("special_i0e", "exp(-|x|) I0(x).", special::BesselI0e),
      OfOne("special_i1", "Modified Bessel function I1.", special::BesselI1),
      OfOne("special_i1e", "exp(-|x|) I1(x).", special::BesselI1e),
      OfOne("special_bessel_j0", "Bessel function J0.", [](double x) { return ::j0(x); }),
      OfOne("special_bessel_j1", "Bessel function J1.", [](double x) { return ::j1(x); }),
      OfOne("special_bessel_y0", "Bessel function Y0.", [](double x) { return ::y0(x); }),
      OfOne("special_bessel_y1", "Bessel function Y1.", [](double x) { return ::y1(x); }),
      OfOne("special_modified_bessel_i0", "Modified Bessel function I0.", special::BesselI0),
      OfOne("special_modified_bessel_i1", "Modified Bessel function I1.", special::BesselI1),
      OfOne("special_modified_bessel_k0", "Modified Bessel function K0.", special::BesselK0),
      OfOne("special_modified_bessel_k1", "Modified Bessel function K1.", special::BesselK1),
      OfOne("special_scaled_modified_bessel_k0", "exp(x) K0(x).", special::BesselK0e),
      OfOne("special_scaled_modified_bessel_k1", "exp(x) K1(x).", special::BesselK1e),
      OfOne("special_airy_ai", "Airy function Ai.", special::AiryAi),
      OfOne("special_spherical_bessel_j0", "sin(x) / x.", special::SphericalJ0),
  };
}

std::vector<OpRow> GammaRows() {
  OpRow polygamma =
      Pointwise({.schema = "aten::polygamma(int n, Tensor self) -> Tensor",
                 .doc = "The n-th derivative of digamma.",
                 .operands = {1},
                 .dtypes = PromoteToFloat(kTakesReal),
                 .floats = [](const OpArgs& args, absl::Span<const double> in) {
                   int64_t n = args.Int(0).AsInt().value_or(0);
                   if (n != 1) return special::Polygamma(n, in[0]);
                   if (args.Type(1).dtype == DType::kF64) {
                     return special::Trigamma(in[0]);
                   }
                   return static_cast<double>(special::Trigamma(static_cast<float>(in[0])));
                 }});
  OpRow mvlgamma = Pointwise({.schema = "aten::mvlgamma(Tensor self, int p) -> Tensor",
                              .doc = "The log of the multivariate gamma function of dimension p.",
                              .dtypes = PromoteToFloat(kTakesReal),
                              .floats = [](const OpArgs& args, absl::Span<const double> in) {
                                int64_t p = args.Int(1).AsInt().value_or(1);
                                double sum = p * (p - 1) / 4.0 * std::log(3.14159265358979323846);
                                for (int64_t j = 0; j < p; ++j) sum += std::lgamma(in[0] - j / 2.0);
                                return sum;
                              }});
  OpRow mvlgamma_alias = mvlgamma;
  mvlgamma_alias.schema = "aten::special_multigammaln(Tensor self, int p) -> Tensor";
  return {
      std::move(polygamma),
      std::move(mvlgamma),
      std::move(mvlgamma_alias),
      OfTwo("aten::igamma(Tensor self, Tensor other) -> Tensor",
            "The regularised lower incomplete gamma function.", Promote(kTakesFloat),
            special::GammaP),
      OfTwo("aten::igammac(Tensor self, Tensor other) -> Tensor",
            "The regularised upper incomplete gamma function.", Promote(kTakesFloat),
            special::GammaQ),
      OfTwo("aten::special_zeta(Tensor self, Tensor other) -> Tensor", "The Hurwitz zeta function.",
            PromoteToFloat(kTakesReal), special::HurwitzZeta),
  };
}

// p(2x - 1, n)
template <Polynomial kPolynomial>
double Shifted(double x, int64_t n) {
  return kPolynomial(2 * x - 1, n);
}

std::vector<OpRow> PolynomialRows() {
  const std::pair<const char*, Polynomial> kPolynomials[] = {
      {"chebyshev_polynomial_t", special::ChebyshevT},
      {"chebyshev_polynomial_u", special::ChebyshevU},
      {"chebyshev_polynomial_v", special::ChebyshevV},
      {"chebyshev_polynomial_w", special::ChebyshevW},
      {"shifted_chebyshev_polynomial_t", Shifted<special::ChebyshevT>},
      {"shifted_chebyshev_polynomial_u", Shifted<special::ChebyshevU>},
      {"shifted_chebyshev_polynomial_v", Shifted<special::ChebyshevV>},
      {"shifted_chebyshev_polynomial_w", Shifted<special::ChebyshevW>},
      {"hermite_polynomial_h", special::HermiteH},
      {"hermite_polynomial_he", special::HermiteHe},
      {"laguerre_polynomial_l", special::Laguerre},
      {"legendre_polynomial_p", special::Legendre},
  };
  std::vector<OpRow> rows;
  for (const auto& [name, function] : kPolynomials) {
    for (const char* arguments : {"(Tensor x, Tensor n)", ".x_scalar(Scalar x, Tensor n)",
                                  ".n_scalar(Tensor x, Scalar n)"}) {
      rows.push_back(Pointwise(
          {.schema = absl::StrCat("aten::special_", name, arguments, " -> Tensor"),
           .doc = "The polynomial of degree n (truncated to a whole number) at x; 0 for n < 0.",
           .operands = {0, 1},
           .dtypes = PromoteToFloat(kTakesReal),
           .floats = [function = function](const OpArgs&, absl::Span<const double> in) {
             return function(in[0], static_cast<int64_t>(FloatToBits64(in[1])));
           }}));
    }
  }
  return rows;
}

constexpr Takes kIntegers = {.boolean = false, .floating = false, .complex = false};

// |value| at the dtype's width: the least value is its own.
int64_t AbsAt(int64_t value, DType dtype) {
  return IsSigned(dtype) && value < 0 ? WrapNeg(value, dtype) : value;
}

// Euclid's steps in the operands' own dtype, so that the least value keeps its sign on the way.
int64_t GcdAt(int64_t a, int64_t b, DType dtype) {
  a = AbsAt(a, dtype);
  b = AbsAt(b, dtype);
  while (a != 0) {
    const int64_t rest = TruncMod(b, a, dtype);
    b = a;
    a = rest;
  }
  return b;
}

// Below 32 bits the product and its sign are taken before it wraps.
int64_t LcmAt(int64_t a, int64_t b, DType dtype) {
  const int64_t gcd = GcdAt(a, b, dtype);
  if (gcd == 0) return 0;
  DType wide = dtype;
  if (BitWidth(dtype) < 32) wide = DType::kI64;
  return WrapInt(AbsAt(WrapMul(TruncDiv(a, gcd, wide), b, wide), wide), dtype);
}

OpRow IntegerRow(const char* name, const char* doc, int64_t (*function)(int64_t, int64_t, DType)) {
  return Pointwise({.schema = absl::StrCat("aten::", name, "(Tensor self, Tensor other) -> Tensor"),
                    .doc = doc,
                    .operands = {0, 1},
                    .dtypes = Promote(kIntegers),
                    .integers = [function](const OpArgs& args, absl::Span<const int64_t> in) {
                      static const DTypeRule& rule = *new DTypeRule(Promote(kIntegers));
                      return function(in[0], in[1], rule(args, {0, 1})->common);
                    }});
}

std::vector<OpRow> IntegerRows() {
  return {
      IntegerRow("gcd", "The greatest common divisor; negative where the least value wraps.",
                 GcdAt),
      IntegerRow("lcm", "The least common multiple; wraps.", LcmAt),
  };
}

// Mantissa in [0.5, 1) and exponent.
absl::StatusOr<std::vector<HostValue>> EvaluateFrexp(const EvaluateContext& c) {
  Tensor mantissa = c.Allocate(0), exponent = c.Allocate(1), self = c.args.Tensor(0);
  for (int64_t k = 0, n = self.numel(); k < n; ++k) {
    int power = 0;
    mantissa.SetLinear(k, Scalar(std::frexp(self.AtLinear(k).ToDouble(), &power)));
    exponent.SetLinear(k, Scalar(power));
  }
  return std::vector<HostValue>{mantissa, exponent};
}

OpRow Frexp() {
  OpRow row;
  row.schema = "aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)";
  row.doc = "self as mantissa * 2^exponent with mantissa in [0.5, 1).";
  row.batch = BatchRule::kElementwise;
  row.infer = [](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
    const TensorType& self = c.args.Type(0);
    if (!IsFloat(self.dtype)) {
      return InvalidArgument("aten.frexp: only supports floating-point dtypes");
    }
    std::vector<TensorType> inputs = {self};
    return std::vector<ValueType>{ElementwiseType(self.dtype, self.sizes, inputs, c.shapes),
                                  ElementwiseType(DType::kI32, self.sizes, inputs, c.shapes)};
  };
  row.evaluate = EvaluateFrexp;
  return row;
}

}  // namespace

std::vector<OpRow> SpecialRows() {
  return Concatenate({FunctionRows(), GammaRows(), PolynomialRows(), IntegerRows(), {Frexp()}});
}

}  // namespace lathe
