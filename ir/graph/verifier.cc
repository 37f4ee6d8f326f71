#include "ir/graph/verifier.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

absl::Status CheckTensorType(const TensorType& type) {
  if (type.strides.size() != type.sizes.size()) {
    return Internal("type of ", type.sizes.size(), " sizes and ", type.strides.size(), " strides");
  }
  auto check = [](const Expr& e, const char* what) -> absl::Status {
    if (e.type() != symbolic::ExprType::kInt) {
      return Internal(what, " is no integer: ", symbolic::ToString(e));
    }
    if (e.IsOverflow()) return Internal(what, " overflows");
    return absl::OkStatus();
  };
  for (const Expr& size : type.sizes) {
    LATHE_RETURN_IF_ERROR(check(size, "size"));
    if (size.is_const() && *size.AsInt() < 0) return Internal("size ", *size.AsInt());
  }
  for (const Expr& stride : type.strides) LATHE_RETURN_IF_ERROR(check(stride, "stride"));
  return check(type.offset, "offset");
}

absl::Status CheckType(const ValueType& type) {
  if (type.is_tensor()) return CheckTensorType(type.tensor());
  if (type.is_scalar() && type.scalar().value.type() != type.scalar().kind) {
    return Internal("scalar type whose expression is of another kind: ", ToString(type));
  }
  if (type.is_list()) {
    for (const ValueType& element : type.list().elements) {
      LATHE_RETURN_IF_ERROR(CheckType(element));
    }
  }
  return absl::OkStatus();
}

class GraphVerifier {
 public:
  GraphVerifier(const Graph& graph, absl::flat_hash_set<const Graph*>& seen)
      : graph_(graph), seen_(seen) {}

  absl::Status Run() {
    LATHE_RETURN_IF_ERROR(CheckInputs());
    LATHE_RETURN_IF_ERROR(CheckNodes());
    LATHE_RETURN_IF_ERROR(CheckOutputs());
    return CheckUses();
  }
  // Graphs that this one calls.
  const std::vector<const Graph*>& callees() const { return callees_; }

 private:
  absl::Status CheckInputs() {
    if (graph_.input_specs().size() != graph_.inputs().size()) {
      return Internal("as many input specs as inputs are needed");
    }
    for (size_t i = 0; i < graph_.inputs().size(); ++i) {
      LATHE_RETURN_IF_ERROR(Define(graph_.inputs()[i], nullptr, i));
    }
    return absl::OkStatus();
  }

  absl::Status CheckNodes() {
    const Node* previous = nullptr;
    int64_t count = 0;
    for (const Node* node = graph_.first(); node != nullptr; previous = node, node = node->next) {
      absl::Status status = CheckNode(*node, previous);
      if (!status.ok()) return Annotate(status, absl::StrCat("node ", NameOf(*node)));
      ++count;
    }
    if (graph_.last() != previous) return Internal("the last node is not the last");
    if (graph_.node_count() != count) return Internal("wrong node count");
    return absl::OkStatus();
  }

  absl::Status CheckNode(const Node& node, const Node* previous) {
    if (node.graph != &graph_) return Internal("belongs to another graph");
    if (node.previous != previous) return Internal("broken link to the previous node");
    if (!ids_.insert(node.id).second) return Internal("id ", node.id, " is taken");
    if (!node.names.empty() && node.names.size() != node.arguments.size()) {
      return Internal("as many argument names as arguments are needed");
    }
    for (const Argument& argument : node.arguments) {
      LATHE_RETURN_IF_ERROR(CheckArgument(argument, &node));
    }
    for (size_t i = 0; i < node.results.size(); ++i) {
      LATHE_RETURN_IF_ERROR(Define(node.results[i], &node, i));
    }
    return absl::OkStatus();
  }

  absl::Status CheckArgument(const Argument& argument, const Node* node) {
    if (argument.is_list()) {
      for (const Argument& item : argument.list()) {
        LATHE_RETURN_IF_ERROR(CheckArgument(item, node));
      }
    } else if (argument.is_value()) {
      auto it = uses_.find(argument.value());
      if (it == uses_.end()) {
        return Internal(argument.value() == nullptr ? "null" : argument.value()->name,
                        " is used before its definition, or belongs to another graph");
      }
      if (node == nullptr) {
        ++it->second.outputs;
      } else {
        it->second.nodes.push_back(node);
      }
    } else if (argument.kind() == Argument::Kind::kGraph) {
      if (argument.graph() == nullptr) return Internal("null graph");
      if (seen_.insert(argument.graph().get()).second) callees_.push_back(argument.graph().get());
    }
    return absl::OkStatus();
  }

  absl::Status CheckOutputs() {
    const int inputs = static_cast<int>(graph_.inputs().size());
    if (graph_.output_specs().size() != graph_.outputs().size()) {
      return Internal("as many output specs as outputs are needed");
    }
    for (int i = 0; i < static_cast<int>(graph_.outputs().size()); ++i) {
      absl::Status status = CheckArgument(graph_.outputs()[i], nullptr);
      if (!status.ok()) return Annotate(status, absl::StrCat("output ", i));
      const OutputSpec& spec = graph_.output_specs()[i];
      const bool needs_input =
          spec.kind == OutputSpec::Kind::kMutation || spec.kind == OutputSpec::Kind::kGradient;
      if (spec.input >= inputs || (needs_input && spec.input < 0) || spec.alias_input >= inputs ||
          spec.alias_output >= i) {
        return Internal("output ", i, " names an input or output that does not exist");
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckUses() {
    for (auto& [value, uses] : uses_) {
      std::vector<const Node*> users(value->users.begin(), value->users.end());
      std::sort(users.begin(), users.end());
      std::sort(uses.nodes.begin(), uses.nodes.end());
      if (users != uses.nodes) return Internal("%", value->name, ": the list of users is wrong");
      if (value->output_uses != uses.outputs) {
        return Internal("%", value->name, ": the count of output uses is wrong");
      }
    }
    return absl::OkStatus();
  }

  absl::Status Define(const Value* value, const Node* definition, size_t index) {
    if (value == nullptr) return Internal("null value");
    if (value->definition != definition || value->index != static_cast<int>(index)) {
      return Internal("%", value->name, " does not know its definition");
    }
    if (!uses_.try_emplace(value).second) return Internal("%", value->name, " is defined twice");
    if (graph_.FindValue(value->name) != value) {
      return Internal("%", value->name, " is not found by its name");
    }
    absl::Status status = CheckType(value->type);
    return status.ok() ? status : Annotate(status, absl::StrCat("%", value->name));
  }

  static std::string NameOf(const Node& node) {
    return node.results.empty() || node.results[0] == nullptr
               ? node.op
               : absl::StrCat("%", node.results[0]->name, " = ", node.op);
  }

  struct Uses {
    std::vector<const Node*> nodes;
    int outputs = 0;
  };
  const Graph& graph_;
  absl::flat_hash_set<const Graph*>& seen_;
  absl::flat_hash_map<const Value*, Uses> uses_;
  absl::flat_hash_set<int64_t> ids_;
  std::vector<const Graph*> callees_;
};

// Graphs that call each other are visited once each, without recursion.
absl::Status VerifyAll(std::vector<const Graph*> graphs) {
  absl::flat_hash_set<const Graph*> seen(graphs.begin(), graphs.end());
  while (!graphs.empty()) {
    const Graph* graph = graphs.back();
    graphs.pop_back();
    GraphVerifier verifier(*graph, seen);
    if (absl::Status status = verifier.Run(); !status.ok()) {
      return Annotate(status, absl::StrCat("graph @", graph->name(), " is broken"));
    }
    graphs.insert(graphs.end(), verifier.callees().begin(), verifier.callees().end());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Verify(const Graph& graph) { return VerifyAll({&graph}); }

absl::Status Verify(const Program& program) {
  std::vector<const Graph*> graphs;
  if (program.main == nullptr) return Internal("the program has no main graph");
  graphs.push_back(program.main.get());
  for (const auto& subgraph : program.subgraphs) graphs.push_back(subgraph.get());
  return VerifyAll(std::move(graphs));
}

}  // namespace lathe
