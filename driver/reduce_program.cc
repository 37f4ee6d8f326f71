#include "driver/reduce_program.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/graph/verifier.h"
#include "ir/passes/dce.h"

namespace lathe::driver {
namespace {

// Changes a candidate's main graph; false when there was nothing to change.
using Edit = std::function<bool(Graph& graph)>;

class Reducer {
 public:
  Reducer(Program program, const OpRegistry& registry, const IsInteresting& is_interesting)
      : best_(std::move(program)), registry_(registry), is_interesting_(is_interesting) {}

  absl::StatusOr<Program> Run() {
    LATHE_ASSIGN_OR_RETURN(bool shows, is_interesting_(best_));
    if (!shows) return FailedPrecondition("the program as given does not pass the check");
    do {
      progress_ = false;
      LATHE_RETURN_IF_ERROR(DropOutputs());
      LATHE_RETURN_IF_ERROR(ReturnEarlier());
      LATHE_RETURN_IF_ERROR(CutNodes());
      LATHE_RETURN_IF_ERROR(DropPreconditions());
    } while (progress_);
    return best_;
  }

 private:
  // Adopts the edited program when it is valid and still interesting.
  absl::StatusOr<bool> Try(const Edit& edit) {
    Program candidate = best_;
    candidate.main = best_.main->Clone();
    if (!edit(*candidate.main)) return false;
    if (absl::StatusOr<bool> cleaned = DcePass().run(candidate, registry_); !cleaned.ok()) {
      return false;
    }
    DropUnusedInputs(candidate);
    if (!Verify(candidate).ok()) return false;
    LATHE_ASSIGN_OR_RETURN(bool shows, is_interesting_(candidate));
    if (!shows) return false;
    best_ = std::move(candidate);
    progress_ = true;
    return true;
  }

  static void DropUnusedInputs(Program& program) {
    Graph& graph = *program.main;
    for (int k = static_cast<int>(graph.inputs().size()) - 1; k >= 0; --k) {
      bool is_target =
          std::any_of(graph.output_specs().begin(), graph.output_specs().end(),
                      [k](const OutputSpec& s) { return s.input == k || s.alias_input == k; });
      if (graph.inputs()[k]->is_used() || is_target) continue;
      graph.EraseInput(k);
      for (OutputSpec& spec : graph.output_specs()) {
        if (spec.input > k) --spec.input;
        if (spec.alias_input > k) --spec.alias_input;
      }
    }
    program.user_input_names.clear();
    program.weights = WeightsOf(program);
    for (size_t k = 0; k < graph.inputs().size(); ++k) {
      if (graph.input_specs()[k].kind == InputSpec::Kind::kUser) {
        program.user_input_names.push_back(graph.inputs()[k]->name);
      }
    }
  }

  static std::map<std::string, Tensor> WeightsOf(const Program& program) {
    std::map<std::string, Tensor> weights;
    for (const InputSpec& spec : program.main->input_specs()) {
      auto it = program.weights.find(spec.target);
      if (it != program.weights.end()) weights.insert(*it);
    }
    return weights;
  }

  static bool SetOutputs(Graph& graph, const std::vector<Argument>& outputs) {
    graph.ClearOutputs();
    for (const Argument& output : outputs) graph.AddOutput(output, OutputSpec::User());
    return true;
  }

  // Halves, quarters... of the outputs left out.
  absl::Status DropOutputs() {
    for (size_t chunk = best_.main->outputs().size() / 2; chunk >= 1; chunk /= 2) {
      for (size_t begin = 0; begin < best_.main->outputs().size();) {
        size_t count = best_.main->outputs().size();
        size_t end = std::min(count, begin + chunk);
        if (end - begin == count) break;
        LATHE_ASSIGN_OR_RETURN(bool done, Try([&](Graph& graph) {
                                 std::vector<Argument> kept = graph.outputs();
                                 kept.erase(kept.begin() + static_cast<int64_t>(begin),
                                            kept.begin() + static_cast<int64_t>(end));
                                 return SetOutputs(graph, kept);
                               }));
        if (!done) begin = end;
      }
    }
    return absl::OkStatus();
  }

  // The shortest prefix that is still interesting, found by halving: a fault mostly stays once it
  // is there.
  absl::Status ReturnEarlier() {
    int64_t low = 0, high = best_.main->node_count() - 1;
    while (low < high) {
      int64_t middle = (low + high) / 2;
      LATHE_ASSIGN_OR_RETURN(bool done, Try([&](Graph& graph) {
                               std::vector<Node*> nodes = graph.nodes();
                               if (middle >= static_cast<int64_t>(nodes.size())) return false;
                               std::vector<Argument> outputs;
                               for (Value* result : nodes[middle]->results) {
                                 if (result->type.is_tensor())
                                   outputs.push_back(Argument::Of(result));
                               }
                               if (outputs.empty()) return false;
                               SetOutputs(graph, outputs);
                               while (graph.last() != nodes[middle]) graph.Erase(graph.last());
                               return true;
                             }));
      if (done) return ReturnEarlier();
      low = middle + 1;
    }
    return absl::OkStatus();
  }

  // From the last node on: away with it, or its operand or an input in its place.
  absl::Status CutNodes() {
    for (int64_t k = best_.main->node_count() - 1; k >= 0; --k) {
      for (const auto& replace : {EraseUnused, UseOperand, UseInput}) {
        if (k >= best_.main->node_count()) break;
        LATHE_ASSIGN_OR_RETURN(bool done,
                               Try([&](Graph& graph) { return replace(graph, graph.nodes()[k]); }));
        if (done) break;
      }
    }
    return absl::OkStatus();
  }

  static bool EraseUnused(Graph& graph, Node* node) {
    for (const Value* result : node->results) {
      if (result->is_used()) return false;
    }
    graph.Erase(node);
    return true;
  }

  static bool UseOperand(Graph& graph, Node* node) {
    if (node->results.size() != 1) return false;
    Value* operand = nullptr;
    for (const Argument& argument : node->arguments) {
      argument.ForEachValue([&](Value* v) {
        if (operand == nullptr && v->type == node->results[0]->type) operand = v;
      });
    }
    if (operand == nullptr) return false;
    graph.ReplaceAllUses(node->results[0], operand);
    graph.Erase(node);
    return true;
  }

  static bool UseInput(Graph& graph, Node* node) {
    for (const Value* result : node->results) {
      if (!result->type.is_tensor()) return false;
    }
    bool used = false;
    std::vector<std::string> names;
    for (Value* result : node->results) {
      names.push_back(result->name);
      graph.Rename(result, absl::StrCat(result->name, ".cut"));
    }
    for (size_t k = 0; k < node->results.size(); ++k) {
      if (!node->results[k]->is_used()) continue;
      TensorType type = node->results[k]->type.tensor();
      type.offset = 0;
      graph.ReplaceAllUses(node->results[k],
                           graph.AddInput(names[k], std::move(type), InputSpec::User()));
      used = true;
    }
    if (used) graph.Erase(node);
    return used;
  }

  absl::Status DropPreconditions() {
    for (size_t k = best_.main->preconditions().size(); k-- > 0;) {
      LATHE_RETURN_IF_ERROR(Try([&](Graph& graph) {
                              graph.preconditions().erase(graph.preconditions().begin() +
                                                          static_cast<int64_t>(k));
                              return true;
                            }).status());
    }
    return absl::OkStatus();
  }

  Program best_;
  const OpRegistry& registry_;
  const IsInteresting& is_interesting_;
  bool progress_ = false;
};

}  // namespace

absl::StatusOr<Program> ReduceProgram(const Program& program, const OpRegistry& registry,
                                      const IsInteresting& is_interesting) {
  return Reducer(program, registry, is_interesting).Run();
}

}  // namespace lathe::driver
