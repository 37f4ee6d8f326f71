#ifndef LATHE_IR_OPS_REGISTRY_H_
#define LATHE_IR_OPS_REGISTRY_H_

// The table of operators as a value: passed as an argument, extended by users.
//
//   OpRegistry ops = OpRegistry::Builtin().With({MyRow()});
//   const OpRow* row = ops.Find("aten.add.Tensor");

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
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

  // nullptr when unknown. "aten.relu.default" and "aten.relu" are the same.
  const OpRow* Find(absl::string_view name) const;
  const std::vector<const OpRow*>& rows() const { return rows_; }

 private:
  std::vector<std::shared_ptr<const OpRow>> owned_;
  std::vector<const OpRow*> rows_;
  absl::flat_hash_map<std::string, const OpRow*> by_name_;
};

// Sets node->row and binds its arguments to the schema's order. Unimplemented for an unknown op,
// InvalidArgument for arguments that do not fit.
absl::Status ResolveNode(Node* node, const OpRegistry& registry);
// All nodes, sub-graphs too. Unknown ops are reported all at once, with their counts.
absl::Status ResolveGraph(Graph& graph, const OpRegistry& registry);
// Recomputes the result types of every node in order (sub-graphs too). Symbols of unbacked results
// that the node already binds stay as they are.
absl::Status InferTypes(Graph& graph, ShapeEnv& shapes);

}  // namespace lathe

#endif  // LATHE_IR_OPS_REGISTRY_H_
