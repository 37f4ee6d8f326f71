#ifndef LATHE_IR_PASSES_GRAPH_EDIT_H_
#define LATHE_IR_PASSES_GRAPH_EDIT_H_

// Edits that several passes make.

#include <vector>

#include "ir/graph/graph.h"
#include "ir/graph/program.h"

namespace lathe {

// The main graph, the listed sub-graphs and all that they call: each once, callees before callers.
std::vector<Graph*> AllGraphs(Program& program);

// Replaces all uses of `old_value`, outputs included, by a value or a literal.
void ReplaceWith(Graph& graph, Value* old_value, const Argument& replacement);

// `argument` with every value replaced by map(value).
template <typename Map>
Argument MapValues(const Argument& argument, const Map& map) {
  if (argument.is_value()) return map(argument.value());
  if (!argument.is_list()) return argument;
  std::vector<Argument> items;
  items.reserve(argument.list().size());
  for (const Argument& item : argument.list()) items.push_back(MapValues(item, map));
  return Argument::List(std::move(items));
}

// Erases `node` and gives the replacements of its results their names, when these are new values:
// a diff of two dumps then stays local.
void EraseReplaced(Graph& graph, Node* node, const std::vector<Argument>& replacements,
                   int64_t first_new_id);

}  // namespace lathe

#endif  // LATHE_IR_PASSES_GRAPH_EDIT_H_
