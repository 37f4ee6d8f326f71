#ifndef LATHE_CAPTURE_PT2_READ_ARGUMENT_H_
#define LATHE_CAPTURE_PT2_READ_ARGUMENT_H_

// The schema's Argument union.

#include <functional>

#include "absl/status/statusor.h"
#include "capture/pt2/json.h"
#include "capture/pt2/schema_to_graph.h"

namespace lathe::pt2 {

// Reads a GraphArgument, {"name": ..., "graph": ...}.
using SubgraphReader = std::function<absl::StatusOr<Argument>(const JsonValue& json)>;

// Names are looked up in `builder`.
absl::StatusOr<Argument> ReadArgument(const JsonValue& json, const GraphBuilder& builder,
                                      const SubgraphReader& read_subgraph);
// A ConstantValue: none, a number, a string or a bool.
absl::StatusOr<Argument> ReadConstant(const JsonValue& json);

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_READ_ARGUMENT_H_
