#ifndef LATHE_IR_GRAPH_EQUAL_H_
#define LATHE_IR_GRAPH_EQUAL_H_

// Equality of graphs up to the names of values and graphs: what pass tests and round trips compare.

#include <optional>
#include <string>

#include "ir/graph/graph.h"

namespace lathe {

// Same inputs, nodes in the same order, arguments, types, tags and outputs; sub-graphs compared
// the same way. The graphs may be of two contexts: expressions then compare as text.
bool StructurallyEqual(const Graph& a, const Graph& b);

// The first difference in words, nullopt when there is none.
std::optional<std::string> FirstDifference(const Graph& a, const Graph& b);

}  // namespace lathe

#endif  // LATHE_IR_GRAPH_EQUAL_H_
