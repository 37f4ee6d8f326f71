#ifndef LATHE_CAPTURE_PT2_SCHEMA_TO_GRAPH_H_
#define LATHE_CAPTURE_PT2_SCHEMA_TO_GRAPH_H_

// Builds a Graph from calls as torch.export describes them: a target, named arguments, results with
// their recorded types, metadata. Knows nothing of JSON or files.
//
//   GraphBuilder b(graph, &symbols);
//   b.AddInput("x", type, InputSpec::User());
//   b.AddCall({.target = "torch.ops.aten.relu.default", .arguments = {b.Use("x").value()},
//              .names = {"self"}, .results = {{"relu", type}}});
//   b.AddOutput(b.Use("relu").value(), OutputSpec::User());

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "capture/pt2/symbols.h"
#include "ir/graph/graph.h"

namespace lathe::pt2 {

// "torch.ops.aten.add.Tensor" -> "aten.add.Tensor", "torch.ops.higher_order.cond" -> "cond",
// "_operator.ge" -> "operator.ge", "torch.sym_max" -> "sym_max"; ".default" is dropped.
std::string OpName(absl::string_view target);

// "model.py:41" from the last frame of a stack trace; "" when there is none.
std::string SourceLine(absl::string_view stack_trace);
// "encoder.layer.0" from the innermost entry of an nn_module_stack.
std::string ModulePath(absl::string_view nn_module_stack);

struct Call {
  std::string target;
  std::vector<Argument> arguments;
  std::vector<std::string> names;  // of each argument, "" for a positional one
  std::vector<std::pair<std::string, ValueType>> results;  // a list of tensors is several results
  Origin origin;
};

class GraphBuilder {
 public:
  GraphBuilder(std::shared_ptr<Graph> graph, Symbols* symbols)
      : graph_(std::move(graph)), symbols_(symbols) {}

  const std::shared_ptr<Graph>& graph() const { return graph_; }
  Symbols& symbols() const { return *symbols_; }

  absl::Status AddInput(absl::string_view name, ValueType type, InputSpec spec);
  // An input of a control operator's graph: its symbols are those of the graph outside.
  absl::Status AddSubgraphInput(absl::string_view name, ValueType type);
  // A name that stands for a literal: an input that was constant when the program was exported.
  absl::Status AddConstant(absl::string_view name, Argument literal);
  absl::Status AddCall(Call call);
  void AddOutput(Argument value, OutputSpec spec) { graph_->AddOutput(std::move(value), spec); }

  // The value of that name, or the literal it stands for; a symbolic number is its expression.
  // InvalidArgument for an unknown name.
  absl::StatusOr<Argument> Use(absl::string_view name) const;
  // The input of that name; -1 when there is none.
  int InputIndex(absl::string_view name) const;

 private:
  absl::Status Define(absl::string_view name, Argument meaning);
  // Exporters write a bool that a node reads out of a tensor as u0 == 1: the symbol, when the type
  // is that and nothing above has it. The node's own result is then the number u0.
  std::optional<Expr> NewBool(const ValueType& type) const;

  std::shared_ptr<Graph> graph_;
  Symbols* symbols_;
  absl::flat_hash_map<std::string, Argument> names_;
};

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_SCHEMA_TO_GRAPH_H_
