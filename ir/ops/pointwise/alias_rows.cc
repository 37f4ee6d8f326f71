// Other spellings of rows, and small compositions of them.

#include <numbers>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/decomposed_row.h"
#include "ir/ops/opmath.h"
#include "ir/ops/pointwise/parts.h"

namespace lathe {
namespace {

// `schema` means `target`, argument by argument.
OpRow Alias(std::string schema, std::string target) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = absl::StrCat("Another name of ", target, ".");
  row.composite = true;
  row.batch = BatchRule::kByDecomposition;
  row.decompose = [target](Builder& b,
                           const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
    std::vector<CallArgument> positional;
    std::vector<std::pair<std::string, CallArgument>> named;
    for (int i = 0; i < args.size(); ++i) {
      const SchemaArgument& parameter = args.schema().arguments[i];
      if (parameter.keyword_only) {
        named.push_back({parameter.name, args[i]});
      } else {
        positional.push_back(args[i]);
      }
    }
    return std::vector<Argument>{Argument::Of(b.Call(target, std::move(positional), named))};
  };
  return row;
}

void AddUnaryAliases(std::vector<OpRow>& rows) {
  static constexpr const char* kNames[][2] = {
      {"absolute", "abs"},          {"negative", "neg"},
      {"arccos", "acos"},           {"arccosh", "acosh"},
      {"arcsin", "asin"},           {"arcsinh", "asinh"},
      {"arctan", "atan"},           {"arctanh", "atanh"},
      {"special_expit", "sigmoid"}, {"special_exp2", "exp2"},
      {"special_expm1", "expm1"},   {"special_log1p", "log1p"},
      {"special_erf", "erf"},       {"special_erfc", "erfc"},
      {"special_sinc", "sinc"},     {"special_gammaln", "lgamma"},
      {"special_psi", "digamma"},   {"special_digamma", "digamma"},
      {"special_i0", "i0"},         {"special_erfinv", "erfinv"}};
  for (const auto& [name, target] : kNames) {
    rows.push_back(Alias(absl::StrCat("aten::", name, "(Tensor self) -> Tensor"),
                         absl::StrCat("aten.", target)));
  }
}

void AddBinaryAliases(std::vector<OpRow>& rows) {
  static constexpr const char* kNames[][2] = {
      {"multiply", "mul"}, {"divide", "div"},    {"true_divide", "div"}, {"not_equal", "ne"},
      {"less", "lt"},      {"less_equal", "le"}, {"greater", "gt"},      {"greater_equal", "ge"}};
  for (const auto& [name, target] : kNames) {
    for (const char* overload : {"Tensor", "Scalar"}) {
      rows.push_back(Alias(absl::StrCat("aten::", name, ".", overload, "(Tensor self, ", overload,
                                        " other) -> Tensor"),
                           absl::StrCat("aten.", target, ".", overload)));
    }
  }
  rows.push_back(
      Alias("aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            "aten.sub.Tensor"));
  rows.push_back(Alias("aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
                       "aten.sub.Scalar"));
  rows.push_back(
      Alias("aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) "
            "-> Tensor",
            "aten.div.Tensor_mode"));
  rows.push_back(
      Alias("aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) "
            "-> Tensor",
            "aten.div.Scalar_mode"));
  rows.push_back(
      Alias("aten::clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", "aten.clamp"));
  rows.push_back(
      Alias("aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
            "aten.clamp.Tensor"));
  rows.push_back(Alias("aten::max.other(Tensor self, Tensor other) -> Tensor", "aten.maximum"));
  rows.push_back(Alias("aten::min.other(Tensor self, Tensor other) -> Tensor", "aten.minimum"));
  rows.push_back(Alias("aten::arctan2(Tensor self, Tensor other) -> Tensor", "aten.atan2"));
  rows.push_back(
      Alias("aten::special_logit(Tensor self, float? eps=None) -> Tensor", "aten.logit"));
  rows.push_back(
      Alias("aten::special_xlogy(Tensor self, Tensor other) -> Tensor", "aten.xlogy.Tensor"));
  rows.push_back(Alias("aten::special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor",
                       "aten.xlogy.Scalar_Self"));
  rows.push_back(Alias("aten::special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor",
                       "aten.xlogy.Scalar_Other"));
  rows.push_back(
      Alias("aten::special_gammainc(Tensor self, Tensor other) -> Tensor", "aten.igamma"));
  rows.push_back(
      Alias("aten::special_gammaincc(Tensor self, Tensor other) -> Tensor", "aten.igammac"));
  rows.push_back(Alias("aten::special_polygamma(int n, Tensor self) -> Tensor", "aten.polygamma"));
  rows.push_back(Alias("aten::special_round(Tensor self, *, int decimals=0) -> Tensor",
                       "aten.round.decimals"));
  rows.push_back(
      Alias("aten::special_logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
            "aten.logsumexp"));
}

// The weight of a channel (dimension 1) seen so that it broadcasts.
absl::StatusOr<std::vector<Argument>> Prelu(Builder& b, const OpArgs& args) {
  Value* self = args.Tensor(0);
  Value* weight = args.Tensor(1);
  const TensorType& type = self->type.tensor();
  const TensorType& weight_type = weight->type.tensor();
  if (weight_type.rank() == 1 && type.rank() != 1 && weight_type.sizes[0] != Expr(1)) {
    if (type.rank() < 1) return InvalidArgument("aten.prelu: self has no channels");
    std::vector<Expr> sizes(type.rank(), 1);
    sizes[1] = weight_type.sizes[0];
    weight = b.Call("aten.view", {weight, sizes});
  }
  return std::vector<Argument>{Argument::Of(b.Call("aten._prelu_kernel", {self, weight}))};
}

// |self - other| <= atol + rtol * |other| for finite values, equality for the rest.
absl::StatusOr<std::vector<Argument>> IsClose(Builder& b, const OpArgs& args) {
  Value* self = args.Tensor(0);
  Value* other = args.Tensor(1);
  if (args.Type(0).dtype != args.Type(1).dtype) {
    return InvalidArgument("aten.isclose: ", Name(args.Type(0).dtype), " did not match ",
                           Name(args.Type(1).dtype));
  }
  Value* close = b.Call("aten.eq.Tensor", {self, other});
  if (args.Bool(4)) {
    Value* both =
        b.Call("aten.logical_and", {b.Call("aten.isnan", {self}), b.Call("aten.isnan", {other})});
    close = b.Call("aten.logical_or", {close, both});
  }
  if (args.Float(2) == 0 && args.Float(3) == 0) return std::vector<Argument>{Argument::Of(close)};
  // Integers would wrap.
  if (IsIntegral(args.Type(0).dtype)) {
    self = ToDType(b, self, DType::kF32);
    other = ToDType(b, other, DType::kF32);
  }
  Value* scaled = b.Call("aten.mul.Scalar", {other, args.Float(2)});
  Value* allowed = b.Call("aten.add.Scalar", {b.Call("aten.abs", {scaled}), args.Float(3)});
  Value* error = b.Call("aten.abs", {b.Call("aten.sub.Tensor", {self, other})});
  Value* finite = b.Call("aten.isfinite", {error});
  Value* within = b.Call("aten.le.Tensor", {error, allowed});
  within = b.Call("aten.logical_and", {finite, within});
  return std::vector<Argument>{Argument::Of(b.Call("aten.logical_or", {close, within}))};
}

absl::StatusOr<std::vector<Argument>> LogSigmoidForward(Builder& b, const OpArgs& args) {
  Value* self = args.Tensor(0);
  Value* magnitude = b.Call("aten.neg", {b.Call("aten.abs", {self})});
  return std::vector<Argument>{Argument::Of(b.Call("aten.log_sigmoid", {self})),
                               Argument::Of(b.Call("aten.exp", {magnitude}))};
}

// glu: the first half along dim times the sigmoid of the second.
absl::StatusOr<std::vector<Argument>> Glu(Builder& b, const OpArgs& args) {
  Value* self = args.Tensor(0);
  LATHE_ASSIGN_OR_RETURN(int64_t given, args.ConstantInt(1));
  LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(given, args.Type(0).rank()));
  if (args.Type(0).rank() == 0) return InvalidArgument("aten.glu: does not support 0-dim tensors");
  Expr size = args.Type(0).sizes[dim];
  if (size.is_const() && *size.AsInt() % 2 != 0) {
    return InvalidArgument("aten.glu: halving dimension must be even, but dimension ", dim,
                           " is size ", *size.AsInt());
  }
  Value* first = ToOpmath(b, b.Call("aten.slice.Tensor", {self, dim, 0, size / 2}));
  Value* second = ToOpmath(b, b.Call("aten.slice.Tensor", {self, dim, size / 2, size}));
  Value* product = b.Call("aten.mul.Tensor", {first, b.Call("aten.sigmoid", {second})});
  return std::vector<Argument>{Argument::Of(ToDType(b, product, args.Type(0).dtype))};
}

// The angle of a real number: 0, or pi below 0.
absl::StatusOr<std::vector<Argument>> Angle(Builder& b, const OpArgs& args) {
  Value* self = args.Tensor(0);
  const DType dtype = args.Type(0).dtype;
  if (IsComplex(dtype)) return Unimplemented("aten.angle of complex numbers");
  if (!IsFloat(dtype)) self = ToDType(b, self, DType::kF32);
  Value* zeros = b.Call("aten.zeros_like", {self});
  Value* pi = b.Call("aten.full_like", {self, Scalar(std::numbers::pi)});
  Value* angle =
      b.Call("aten.where.self", {b.Call("aten.lt.Scalar", {self, Scalar(0)}), pi, zeros});
  if (IsFloat(dtype))
    angle = b.Call("aten.where.self", {b.Call("aten.isnan", {self}), self, angle});
  return std::vector<Argument>{Argument::Of(angle)};
}

// rrelu(self, lower, upper, training): the mean slope where nothing is drawn.
absl::StatusOr<std::vector<Argument>> Rrelu(Builder& b, const OpArgs& args) {
  if (args.Bool(3)) return Unimplemented("aten.rrelu: training draws random numbers");
  const double slope = (args.Number(1).ToDouble() + args.Number(2).ToDouble()) / 2;
  return std::vector<Argument>{
      Argument::Of(b.Call("aten.leaky_relu", {args.Tensor(0), Scalar(slope)}))};
}

// Powers in f64 (or complex numbers), whatever the operands are. `overload` of aten.pow.
OpRow FloatPower(const std::string& overload, const std::string& self,
                 const std::string& exponent) {
  return CompositeRow(
      absl::StrCat("aten::float_power.", overload, "(", self, " self, ", exponent,
                   " exponent) -> Tensor"),
      "self to the power of exponent, in f64.",
      [overload](Builder& b, const OpArgs& args) -> absl::StatusOr<std::vector<Argument>> {
        DType wide = DType::kF64;
        for (int i = 0; i < 2; ++i) {
          if (args[i].is_value() ? IsComplex(args.Type(i).dtype) : args.Number(i).is_complex()) {
            wide = DType::kC128;
          }
        }
        std::vector<CallArgument> operands;
        for (int i = 0; i < 2; ++i) {
          if (args[i].is_value()) {
            operands.emplace_back(ToDType(b, args.Tensor(i), wide));
          } else {
            operands.emplace_back(args[i]);
          }
        }
        Value* power = b.Call(absl::StrCat("aten.pow.", overload), std::move(operands));
        LATHE_RETURN_IF_ERROR(b.status());
        return std::vector<Argument>{Argument::Of(power)};
      });
}

}  // namespace

std::vector<OpRow> AliasRows() {
  std::vector<OpRow> rows;
  AddUnaryAliases(rows);
  AddBinaryAliases(rows);
  rows.push_back(CompositeRow("aten::prelu(Tensor self, Tensor weight) -> Tensor",
                              "self above 0, its channel's weight times self below.", Prelu));
  rows.push_back(
      CompositeRow("aten::isclose(Tensor self, Tensor other, float rtol=1e-05, "
                   "float atol=1e-08, bool equal_nan=False) -> Tensor",
                   "Whether equal within tolerances.", IsClose));
  OpRow forward =
      CompositeRow("aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)",
                   "log_sigmoid, and exp(-|self|) for its derivative.", LogSigmoidForward);
  forward.composite = false;
  rows.push_back(std::move(forward));
  OpRow glu = CompositeRow("aten::glu(Tensor self, int dim=-1) -> Tensor",
                           "The first half along dim times the sigmoid of the second.", Glu);
  glu.composite = false;
  rows.push_back(std::move(glu));
  rows.push_back(CompositeRow("aten::angle(Tensor self) -> Tensor",
                              "The angle of real numbers: 0, or pi below 0.", Angle,
                              {"aten.angle(f32[3, 4])"}));
  rows.back().composite = false;
  rows.push_back(CompositeRow(
      "aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool "
      "training=False, Generator? generator=None) -> Tensor",
      "self above 0, a mean slope below.", Rrelu, {"aten.rrelu(f32[3, 4])"}));
  for (const char* quantifier : {"all", "any"}) {
    const bool is_all = std::string(quantifier) == "all";
    rows.push_back(Alias(absl::StrCat("aten::_is_", quantifier, "_true(Tensor self) -> Tensor"),
                         is_all ? "aten.all" : "aten.any"));
  }
  rows.push_back(FloatPower("Tensor_Tensor", "Tensor", "Tensor"));
  rows.push_back(FloatPower("Tensor_Scalar", "Tensor", "Scalar"));
  rows.push_back(FloatPower("Scalar", "Scalar", "Tensor"));
  return rows;
}

}  // namespace lathe
