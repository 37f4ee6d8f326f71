#ifndef LATHE_CAPTURE_PT2_READ_GRAPH_H_
#define LATHE_CAPTURE_PT2_READ_GRAPH_H_

// The schema's Graph: drives a GraphBuilder from JSON, sub-graphs of control operators included.

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "capture/pt2/json.h"
#include "capture/pt2/schema_to_graph.h"
#include "ir/graph/program.h"

namespace lathe::pt2 {

// The recorded type of each name of one graph.
class ValueTypes {
 public:
  static absl::StatusOr<ValueTypes> Of(const JsonValue& graph);
  // Of an Argument that defines values: {"as_tensor": {"name": ...}}, {"as_sym_int": {"as_name":
  // ...}}..., a list of tensors defines several, as_none one of type none.
  absl::Status AppendDefined(const JsonValue& argument, Symbols& symbols,
                             std::vector<std::pair<std::string, ValueType>>& defined) const;
  absl::StatusOr<ValueType> Tensor(const JsonValue& place, absl::string_view name,
                                   Symbols& symbols) const;

 private:
  absl::StatusOr<ValueType> Scalar(const JsonValue& place, absl::string_view name,
                                   symbolic::ExprType kind, Symbols& symbols) const;
  using Table = absl::flat_hash_map<absl::string_view, JsonValue>;
  Table tensors_, numbers_[3];  // numbers by ExprType
};

class GraphReader {
 public:
  explicit GraphReader(Program* program);

  // The nodes of `graph` in order, into `builder`.
  absl::Status ReadNodes(const JsonValue& graph, const ValueTypes& types, GraphBuilder& builder);
  absl::StatusOr<Argument> ReadValue(const JsonValue& argument, GraphBuilder& builder);

 private:
  absl::Status ReadNode(const JsonValue& node, const ValueTypes& types, GraphBuilder& builder);
  absl::StatusOr<Argument> ReadSubgraph(const JsonValue& json, Symbols& symbols);
  std::string UniqueGraphName(absl::string_view wanted);

  Program* program_;
  absl::flat_hash_set<std::string> graph_names_;
};

// Refuses fields of a Graph that lathe does not know.
absl::Status CheckGraphFields(const JsonValue& graph);

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_READ_GRAPH_H_
