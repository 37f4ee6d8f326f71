#include "ir/ops/host_call.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "ir/ops/registry.h"
#include "ir/ops/written_targets.h"
#include "runtime/tensor/available_memory.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

std::vector<Expr> Exprs(const Dims& dims) { return {dims.begin(), dims.end()}; }

// A host argument as a graph argument.
Argument ToGraph(const HostValue& value, const Argument& literal, Graph& graph,
                 HostEnvironment* environment) {
  if (value.is_tensor()) {
    if (!value.tensor().is_defined()) return {};
    Value* input = graph.AddInput("x", TypeOf(value), InputSpec::User());
    if (environment != nullptr) environment->values[input] = value;
    return Argument::Of(input);
  }
  if (value.index() == 2) return Argument::Number(value.scalar());
  if (value.index() == 3) {
    std::vector<Argument> items;
    for (const HostValue& v : value.list()) items.push_back(ToGraph(v, {}, graph, environment));
    return Argument::List(std::move(items));
  }
  return literal;
}

Expr NumberOrUnknown(const Expr& e) { return e.AsInt() ? Expr(*e.AsInt()) : Expr(-1); }

// Sizes that only the evaluation can tell become -1.
void ForgetSymbols(ValueType& type) {
  if (!type.is_tensor()) return;
  for (Expr& e : type.tensor().sizes) e = NumberOrUnknown(e);
  for (Expr& e : type.tensor().strides) e = NumberOrUnknown(e);
  type.tensor().offset = NumberOrUnknown(type.tensor().offset);
}

// Evaluations allocate their results without asking, and look at their operands element by element
// with lists of places.
absl::Status CheckFitsMemory(const OpRow& row, absl::Span<const ValueType> results,
                             const HostArgs& args) {
  if (row.is_view()) return absl::OkStatus();
  const auto check = [](absl::string_view what, const ValueType& type,
                        int64_t bits) -> absl::Status {
    if (!type.is_tensor()) return absl::OkStatus();
    double bytes = static_cast<double>(bits) / 8;
    for (const Expr& size : type.tensor().sizes) {
      bytes *= static_cast<double>(size.AsInt().value_or(1));
    }
    if (bytes < 0x1p62 && FitsMemory(static_cast<int64_t>(bytes))) return absl::OkStatus();
    return OutOfMemory(absl::StrCat(what, " ", ToString(type)),
                       static_cast<int64_t>(std::min(bytes, 0x1p62)));
  };
  for (const ValueType& type : results) {
    if (type.is_tensor()) {
      LATHE_RETURN_IF_ERROR(check("a result", type, BitWidth(type.tensor().dtype)));
    }
  }
  // What a tensor's storage does not hold (it is expanded) would have to be held as places.
  for (int i = 0; i < args.size(); ++i) {
    const HostValue& value = args.value(i);
    if (!value.is_tensor() || !value.tensor().is_defined()) continue;
    if (value.tensor().is_contiguous()) continue;
    LATHE_RETURN_IF_ERROR(check("reading", TypeOf(value), 64));
  }
  return absl::OkStatus();
}

// Several elements at one place have no defined value after a write, unless all get the same.
absl::Status CheckTargets(const OpRow& row, const HostArgs& args) {
  if (WritesOneValue(row.parsed.name)) return absl::OkStatus();
  for (int i = 0; i < args.size(); ++i) {
    if (!row.parsed.arguments[i].is_written || !args.value(i).is_tensor()) continue;
    const Tensor& target = args.value(i).tensor();
    for (int d = 0; target.is_defined() && d < target.rank(); ++d) {
      if (target.strides()[d] != 0 || target.sizes()[d] < 2 || target.numel() == 0) continue;
      return InvalidArgument(row.parsed.name, ": ", kOverlappingTarget, " (", TypeString(target),
                             ")");
    }
  }
  return absl::OkStatus();
}

}  // namespace

ValueType TypeOf(const HostValue& value) {
  if (value.is_tensor()) {
    const Tensor& t = value.tensor();
    if (!t.is_defined()) return NoneType{};
    return TensorType{t.dtype(), Exprs(t.sizes()), Exprs(t.strides()), t.offset(), t.device()};
  }
  if (value.index() == 2) {
    const Scalar& s = value.scalar();
    if (s.is_bool()) return ScalarType{symbolic::ExprType::kBool, Expr::Bool(s.ToBool())};
    if (s.is_float()) return ScalarType{symbolic::ExprType::kFloat, Expr::Float(s.ToDouble())};
    return ScalarType{symbolic::ExprType::kInt, s.ToInt()};
  }
  if (value.index() == 3) {
    ListType list;
    for (const HostValue& v : value.list()) list.elements.push_back(TypeOf(v));
    return list;
  }
  return NoneType{};
}

absl::StatusOr<std::vector<Argument>> ToGraphArguments(const Schema& schema, const HostArgs& args,
                                                       Graph& graph, HostEnvironment* environment) {
  std::vector<Argument> arguments;
  for (int i = 0; i < args.size(); ++i) {
    arguments.push_back(ToGraph(args.value(i), args.literal(i), graph, environment));
  }
  return BindArguments(schema, std::move(arguments), {});
}

absl::StatusOr<std::vector<HostValue>> EvaluateCall(const OpRow& row, const HostArgs& args,
                                                    const GraphRunner& run_graph) {
  auto context = std::make_shared<ExprContext>();
  ShapeEnv shapes(context);
  Graph graph("call", context);
  LATHE_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                         ToGraphArguments(row.parsed, args, graph, nullptr));
  if (!row.infer) return Unimplemented(row.parsed.name, ": has no rule for its result types");
  if (!row.evaluate) return Unimplemented(row.parsed.name, ": has no reference meaning");
  OpArgs op_args(row.parsed, arguments);
  LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types, row.infer({op_args, shapes, {}}));
  for (ValueType& type : types) ForgetSymbols(type);
  LATHE_RETURN_IF_ERROR(CheckFitsMemory(row, types, args));
  LATHE_RETURN_IF_ERROR(CheckTargets(row, args));
  return row.evaluate({args, types, run_graph});
}

absl::StatusOr<HostValue> ReadArgument(const Argument& argument,
                                       const HostEnvironment& environment) {
  auto lookup = [&](const Expr& symbol) -> std::optional<int64_t> {
    auto it = environment.symbols.find(symbol);
    return it == environment.symbols.end() ? std::nullopt : std::optional(it->second);
  };
  switch (argument.kind()) {
    case Argument::Kind::kValue: {
      auto it = environment.values.find(argument.value());
      if (it == environment.values.end()) {
        return FailedPrecondition("%", argument.value()->name, " has no value yet");
      }
      return it->second;
    }
    case Argument::Kind::kInt: {
      const Expr& e = argument.expr();
      if (e.type() == symbolic::ExprType::kFloat) {
        LATHE_ASSIGN_OR_RETURN(double v, symbolic::EvaluateFloat(e, lookup));
        return HostValue(Scalar(v));
      }
      LATHE_ASSIGN_OR_RETURN(int64_t v, symbolic::Evaluate(e, lookup));
      if (e.type() == symbolic::ExprType::kBool) return HostValue(Scalar(v != 0));
      return HostValue(Scalar(v));
    }
    case Argument::Kind::kBool:
      return HostValue(Scalar(argument.boolean()));
    case Argument::Kind::kScalar:
      return HostValue(argument.number());
    case Argument::Kind::kTensor:
      return HostValue(argument.tensor());
    case Argument::Kind::kList: {
      HostList list;
      for (const Argument& item : argument.list()) {
        LATHE_ASSIGN_OR_RETURN(HostValue value, ReadArgument(item, environment));
        list.push_back(std::move(value));
      }
      return HostValue(std::move(list));
    }
    default:
      return HostValue();
  }
}

absl::StatusOr<HostArgs> ReadArguments(const Node& node, const HostEnvironment& environment) {
  std::vector<HostValue> values;
  std::vector<Argument> literals;
  for (const Argument& argument : node.arguments) {
    LATHE_ASSIGN_OR_RETURN(HostValue value, ReadArgument(argument, environment));
    // Lists of strings, dtypes and the like are literals.
    bool is_literal =
        value.is_none() || (value.index() == 3 && !value.list().empty() && argument.is_list() &&
                            argument.list()[0].kind() == Argument::Kind::kString);
    literals.push_back(is_literal ? argument : Argument());
    values.push_back(is_literal ? HostValue() : std::move(value));
  }
  return HostArgs(node.row->parsed, std::move(values), std::move(literals));
}

absl::Status BindSymbols(const ValueType& type, const HostValue& value,
                         HostEnvironment& environment) {
  auto bind = [&](const Expr& e, int64_t actual, absl::string_view what) -> absl::Status {
    if (e.is_symbol()) {
      auto [it, inserted] = environment.symbols.emplace(e, actual);
      if (inserted || it->second == actual) return absl::OkStatus();
      return FailedPrecondition(what, " is ", actual, ", but ", symbolic::ToString(e), " is ",
                                it->second);
    }
    auto lookup = [&](const Expr& symbol) -> std::optional<int64_t> {
      auto it = environment.symbols.find(symbol);
      return it == environment.symbols.end() ? std::nullopt : std::optional(it->second);
    };
    absl::StatusOr<int64_t> expected = symbolic::Evaluate(e, lookup);
    // An unknown symbol inside is bound elsewhere.
    if (!expected.ok() || *expected == actual) return absl::OkStatus();
    const std::string meaning = e.is_const() ? "" : absl::StrCat(symbolic::ToString(e), " = ");
    return FailedPrecondition(what, " is ", actual, ", but must be ", meaning, *expected);
  };
  if (type.is_tensor() && value.is_tensor()) {
    const TensorType& t = type.tensor();
    if (t.rank() != value.tensor().rank()) {
      return FailedPrecondition("expected ", t.rank(), " dimensions, got ", value.tensor().rank());
    }
    for (int d = 0; d < t.rank(); ++d) {
      LATHE_RETURN_IF_ERROR(bind(t.sizes[d], value.tensor().sizes()[d], absl::StrCat("size ", d)));
    }
  } else if (type.is_scalar() && value.index() == 2 && !value.scalar().is_float()) {
    return bind(type.scalar().value, value.scalar().ToInt(), "the number");
  } else if (type.is_list() && value.index() == 3 &&
             type.list().elements.size() == value.list().size()) {
    for (size_t k = 0; k < value.list().size(); ++k) {
      LATHE_RETURN_IF_ERROR(BindSymbols(type.list().elements[k], value.list()[k], environment));
    }
  }
  return absl::OkStatus();
}

absl::Status RunNode(const Node& node, HostEnvironment& environment, const GraphRunner& run_graph) {
  if (node.row == nullptr) return Unimplemented("unknown operator '", node.op, "'");
  LATHE_ASSIGN_OR_RETURN(HostArgs args, ReadArguments(node, environment));
  LATHE_ASSIGN_OR_RETURN(std::vector<HostValue> results, EvaluateCall(*node.row, args, run_graph));
  if (results.size() != node.results.size()) {
    return InvalidArgument(node.op, ": gave ", results.size(), " results, expected ",
                           node.results.size());
  }
  for (size_t k = 0; k < results.size(); ++k) {
    // A tensor that nobody uses may be recorded otherwise: the exporter's algorithm for the offsets
    // of embedding_bag is not eager's.
    const Value& result = *node.results[k];
    const absl::Status bound = BindSymbols(result.type, results[k], environment);
    if (result.is_used() || !result.type.is_tensor()) LATHE_RETURN_IF_ERROR(bound);
    environment.values[node.results[k]] = std::move(results[k]);
  }
  return absl::OkStatus();
}

}  // namespace lathe
