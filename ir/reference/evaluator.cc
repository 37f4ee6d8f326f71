#include "ir/reference/evaluator.h"

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/host_call.h"
#include "ir/ops/unused_draw.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using Symbols = absl::flat_hash_map<Expr, int64_t>;

std::optional<int64_t> Find(const Symbols& symbols, const Expr& symbol) {
  auto it = symbols.find(symbol);
  return it == symbols.end() ? std::nullopt : std::optional(it->second);
}

// Solves `e` == value for its one unknown symbol when `e` is linear in it.
void SolveLinear(const Expr& e, int64_t value, Symbols& symbols) {
  std::vector<Expr> unknown;
  for (const Expr& symbol : symbolic::FreeSymbols(e)) {
    if (!symbols.contains(symbol)) unknown.push_back(symbol);
  }
  if (unknown.size() != 1) return;
  auto at = [&](int64_t x) {
    return symbolic::Evaluate(e, [&](const Expr& symbol) -> std::optional<int64_t> {
      return symbol == unknown[0] ? std::optional(x) : Find(symbols, symbol);
    });
  };
  absl::StatusOr<int64_t> zero = at(0), one = at(1);
  if (!zero.ok() || !one.ok() || *one == *zero) return;
  int64_t slope = *one - *zero;
  if ((value - *zero) % slope != 0) return;
  int64_t x = (value - *zero) / slope;
  absl::StatusOr<int64_t> check = at(x);
  if (check.ok() && *check == value) symbols[unknown[0]] = x;
}

void SolveSizes(const ValueType& type, const HostValue& value, Symbols& symbols) {
  if (!type.is_tensor() || !value.is_tensor()) return;
  const TensorType& t = type.tensor();
  if (t.rank() != value.tensor().rank()) return;
  for (int d = 0; d < t.rank(); ++d) SolveLinear(t.sizes[d], value.tensor().sizes()[d], symbols);
}

absl::Status CheckInput(const Value& input, const HostValue& value) {
  const ValueType& type = input.type;
  if (type.is_tensor() && !value.is_tensor()) {
    return InvalidArgument("input ", input.name, ": expected ", ToString(type), ", got no tensor");
  }
  if (type.is_tensor() && value.tensor().dtype() != type.tensor().dtype) {
    return InvalidArgument("input ", input.name, ": expected ", ToString(type), ", got ",
                           TypeString(value.tensor()));
  }
  return absl::OkStatus();
}

// The sizes of the inputs give the symbols their values; what remains is checked.
absl::Status BindInputs(const Graph& graph, const std::vector<HostValue>& inputs,
                        HostEnvironment& environment) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& input = *graph.inputs()[i];
    LATHE_RETURN_IF_ERROR(CheckInput(input, inputs[i]));
    absl::Status status = BindSymbols(input.type, inputs[i], environment);
    if (!status.ok()) return Annotate(status, absl::StrCat("input ", input.name));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    SolveSizes(graph.inputs()[i]->type, inputs[i], environment.symbols);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& input = *graph.inputs()[i];
    absl::Status status = BindSymbols(input.type, inputs[i], environment);
    if (!status.ok()) return Annotate(status, absl::StrCat("input ", input.name));
  }
  return absl::OkStatus();
}

// "size 0 of input x"; the symbol's own name when no input is it.
std::string Describe(const Graph& graph, const Expr& symbol) {
  for (const Value* input : graph.inputs()) {
    if (input->type.is_scalar() && input->type.scalar().value == symbol) {
      return absl::StrCat("input ", input->name);
    }
    if (!input->type.is_tensor()) continue;
    const std::vector<Expr>& sizes = input->type.tensor().sizes;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == symbol) return absl::StrCat("size ", d, " of input ", input->name);
    }
  }
  return std::string(symbol.symbol_name());
}

absl::Status CheckPreconditions(const Graph& graph, const Symbols& symbols) {
  for (const Expr& condition : graph.preconditions()) {
    absl::StatusOr<int64_t> value =
        symbolic::Evaluate(condition, [&](const Expr& symbol) { return Find(symbols, symbol); });
    // A symbol of no input is not the caller's to meet.
    if (!value.ok() || *value != 0) continue;
    std::string values;
    for (const Expr& symbol : symbolic::FreeSymbols(condition)) {
      absl::StrAppend(&values, values.empty() ? "" : ", ", Describe(graph, symbol), " = ",
                      *Find(symbols, symbol));
    }
    return FailedPrecondition("the inputs do not meet the precondition ",
                              symbolic::ToString(condition), " (", values, ")");
  }
  return absl::OkStatus();
}

// Runs the nodes of one graph, dropping every value after its last use.
class GraphRun {
 public:
  GraphRun(const Graph& graph, Symbols symbols, const NodeObserver& observer)
      : graph_(graph), observer_(observer) {
    environment_.symbols = std::move(symbols);
  }

  absl::StatusOr<std::vector<HostValue>> Run(std::vector<HostValue> inputs) {
    if (inputs.size() != graph_.inputs().size()) {
      return InvalidArgument("@", graph_.name(), " takes ", graph_.inputs().size(), " inputs, got ",
                             inputs.size());
    }
    LATHE_RETURN_IF_ERROR(BindInputs(graph_, inputs, environment_));
    LATHE_RETURN_IF_ERROR(CheckPreconditions(graph_, environment_.symbols));
    for (size_t i = 0; i < inputs.size(); ++i) {
      environment_.values[graph_.inputs()[i]] = std::move(inputs[i]);
    }
    for (const Node* node = graph_.first(); node != nullptr; node = node->next) {
      if (IsUnusedDraw(*node)) continue;
      absl::Status status = RunOne(*node);
      if (!status.ok()) {
        std::string name = node->results.empty() ? node->op : "%" + node->results[0]->name;
        return AtNode(std::move(status), name, node->origin.source);
      }
    }
    std::vector<HostValue> outputs;
    for (const Argument& output : graph_.outputs()) {
      LATHE_ASSIGN_OR_RETURN(HostValue value, ReadArgument(output, environment_));
      outputs.push_back(std::move(value));
    }
    return outputs;
  }

  const Symbols& symbols() const { return environment_.symbols; }

 private:
  absl::Status RunOne(const Node& node) {
    GraphRunner run_graph = [this](const Graph& graph, std::vector<HostValue> inputs) {
      return EvaluateGraph(graph, std::move(inputs), environment_.symbols);
    };
    if (node.row == nullptr && node.op == "constant") {
      environment_.values[node.results[0]] = node.arguments[0].tensor();
    } else {
      LATHE_RETURN_IF_ERROR(RunNode(node, environment_, run_graph));
    }
    if (observer_) {
      std::vector<HostValue> results;
      for (const Value* value : node.results) results.push_back(environment_.values[value]);
      LATHE_RETURN_IF_ERROR(observer_(node, results));
    }
    for (const Argument& argument : node.arguments) {
      argument.ForEachValue([this](Value* value) { Release(value); });
    }
    return absl::OkStatus();
  }

  void Release(const Value* value) {
    auto [it, inserted] =
        uses_left_.emplace(value, static_cast<int>(value->users.size()) + value->output_uses);
    if (--it->second == 0) environment_.values.erase(value);
  }

  const Graph& graph_;
  const NodeObserver& observer_;
  HostEnvironment environment_;
  absl::flat_hash_map<const Value*, int> uses_left_;
};

// The inputs of the main graph: the user's in order, weights by name.
absl::StatusOr<std::vector<HostValue>> GatherInputs(const Program& program,
                                                    std::vector<HostValue> user_inputs) {
  std::vector<HostValue> inputs;
  size_t next_user = 0;
  for (const InputSpec& spec : program.main->input_specs()) {
    if (spec.kind == InputSpec::Kind::kToken) {
      inputs.push_back({});
    } else if (spec.kind == InputSpec::Kind::kUser) {
      if (next_user == user_inputs.size()) {
        return InvalidArgument("the program takes more inputs than the ", user_inputs.size(),
                               " given");
      }
      inputs.push_back(std::move(user_inputs[next_user++]));
    } else {
      auto it = program.weights.find(spec.target);
      if (it == program.weights.end()) return NotFound("no weight is named '", spec.target, "'");
      inputs.push_back(it->second);
    }
  }
  if (next_user != user_inputs.size()) {
    return InvalidArgument("the program takes ", next_user, " inputs, got ", user_inputs.size());
  }
  return inputs;
}

}  // namespace

absl::StatusOr<std::vector<HostValue>> EvaluateGraph(const Graph& graph,
                                                     std::vector<HostValue> inputs,
                                                     Symbols symbols) {
  // The sizes of this run count, not those of an earlier one (the body of a loop).
  for (size_t i = 0; i < std::min(inputs.size(), graph.inputs().size()); ++i) {
    const ValueType& type = graph.inputs()[i]->type;
    if (!type.is_tensor()) continue;
    for (const Expr& e : type.tensor().sizes) {
      if (e.is_symbol() && e.symbol_kind() == symbolic::SymbolKind::kUnbacked) symbols.erase(e);
    }
  }
  NodeObserver none;
  return GraphRun(graph, std::move(symbols), none).Run(std::move(inputs));
}

absl::StatusOr<ReferenceResult> EvaluateReference(const Program& program,
                                                  std::vector<HostValue> user_inputs,
                                                  const NodeObserver& observer) {
  LATHE_ASSIGN_OR_RETURN(std::vector<HostValue> inputs,
                         GatherInputs(program, std::move(user_inputs)));
  GraphRun run(*program.main, {}, observer);
  ReferenceResult result;
  LATHE_ASSIGN_OR_RETURN(result.graph_outputs, run.Run(inputs));
  result.symbols = run.symbols();
  const std::vector<OutputSpec>& specs = program.main->output_specs();
  for (size_t k = 0; k < specs.size(); ++k) {
    bool is_shown =
        specs[k].kind == OutputSpec::Kind::kUser || specs[k].kind == OutputSpec::Kind::kGradient;
    if (is_shown) result.outputs.push_back(result.graph_outputs[k]);
  }
  // After all outputs are known: some may be computed from the old contents.
  for (size_t k = 0; k < specs.size(); ++k) {
    if (specs[k].kind != OutputSpec::Kind::kMutation) continue;
    const Tensor& target = inputs[specs[k].input].tensor();
    const Tensor& value = result.graph_outputs[k].tensor();
    if (target.storage() != value.storage() || target.offset() != value.offset()) {
      target.CopyFrom(value.Clone());
    }
  }
  return result;
}

}  // namespace lathe
