#ifndef LATHE_IR_PASSES_OUTPUT_STORAGE_H_
#define LATHE_IR_PASSES_OUTPUT_STORAGE_H_

#include "absl/container/flat_hash_set.h"
#include "ir/graph/graph.h"

namespace lathe {

// Values that are an output of the graph, or that an output is a view of. Two of them may share
// storage at run time only where an output's spec says so: merging two would make it so.
absl::flat_hash_set<const Value*> ValuesBehindOutputs(const Graph& graph);

}  // namespace lathe

#endif  // LATHE_IR_PASSES_OUTPUT_STORAGE_H_
