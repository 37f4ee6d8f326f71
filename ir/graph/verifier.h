#ifndef LATHE_IR_GRAPH_VERIFIER_H_
#define LATHE_IR_GRAPH_VERIFIER_H_

// Checks that a graph is what every pass may rely on: each use comes after its definition, in the
// same graph; use lists, names and links are right; types are well formed; output specs name
// inputs and outputs that exist. Sub-graphs are checked too.

#include "absl/status/status.h"
#include "ir/graph/graph.h"
#include "ir/graph/program.h"

namespace lathe {

// Internal, naming the graph, the node and what is wrong.
absl::Status Verify(const Graph& graph);
absl::Status Verify(const Program& program);

}  // namespace lathe

#endif  // LATHE_IR_GRAPH_VERIFIER_H_
