#ifndef LATHE_IR_OPS_REGISTRY_H_
#define LATHE_IR_OPS_REGISTRY_H_

// The table of operators as a value: passed as an argument, extended by users.
//
//   OpRegistry ops = OpRegistry::Builtin().With({MyRow()});
//   const OpRow* row = ops.Find("aten.add.Tensor");

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/ops/op_row.h"

namespace lathe {

class OpRegistry {
 public:
  // The rows of ir/ops/<family>/. Built once.
  static const OpRegistry& Builtin();
  // A registry of these rows alone. InvalidArgument for a schema that does not parse.
  static absl::StatusOr<OpRegistry> Of(std::vector<OpRow> rows);
  // This registry and more rows; a row of a known name replaces it.
  absl::StatusOr<OpRegistry> With(std::vector<OpRow> rows) const;

  // nullptr when unknown. "aten.relu.default" and "aten.relu" are the same. The in-place form of a
  // functional op ("aten.add_.Tensor") is derived from its row unless a row states it.
  const OpRow* Find(absl::string_view name) const;
  // The stated rows, in order.
  const std::vector<const OpRow*>& rows() const;

 private:
  struct Table;
  std::shared_ptr<const Table> table_;
};

// Sets node->row and binds its arguments to the schema's order. Where a tensor is expected and a
// number given (eager wraps it), the overload that takes a number is meant: node->op changes from
// "aten.add.Tensor" to "aten.add.Scalar". Unimplemented for an unknown op, InvalidArgument for
// arguments that do not fit.
absl::Status ResolveNode(Node* node, const OpRegistry& registry);
// All nodes, sub-graphs too. Unknown ops are reported all at once, with their counts.
absl::Status ResolveGraph(Graph& graph, const OpRegistry& registry);
// Recomputes the result types of every node in order (sub-graphs too). Symbols of unbacked results
// that the node already binds stay as they are. Returns whether a type changed.
absl::StatusOr<bool> InferTypes(Graph& graph, ShapeEnv& shapes);

// One call on host values: infers the result types and evaluates. `run_graph` for control ops.
absl::StatusOr<std::vector<HostValue>> EvaluateCall(const OpRow& row, const HostArgs& args,
                                                    const GraphRunner& run_graph = {});

}  // namespace lathe

#endif  // LATHE_IR_OPS_REGISTRY_H_
