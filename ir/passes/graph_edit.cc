#include "ir/passes/graph_edit.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace lathe {
namespace {

void CollectGraphs(const Argument& argument, std::vector<Graph*>& graphs) {
  if (argument.kind() == Argument::Kind::kGraph) graphs.push_back(argument.graph().get());
  if (!argument.is_list()) return;
  for (const Argument& item : argument.list()) CollectGraphs(item, graphs);
}

std::vector<Graph*> Callees(const Graph& graph) {
  std::vector<Graph*> callees;
  if (!graph.calls_graphs()) return callees;
  for (const Node* node = graph.first(); node != nullptr; node = node->next) {
    for (const Argument& argument : node->arguments) CollectGraphs(argument, callees);
  }
  return callees;
}

void Visit(Graph* graph, absl::flat_hash_set<Graph*>& seen, std::vector<Graph*>& order) {
  if (!seen.insert(graph).second) return;
  for (Graph* callee : Callees(*graph)) Visit(callee, seen, order);
  order.push_back(graph);
}

}  // namespace

std::vector<Graph*> AllGraphs(Program& program) {
  std::vector<Graph*> order;
  absl::flat_hash_set<Graph*> seen;
  for (const auto& subgraph : program.subgraphs) Visit(subgraph.get(), seen, order);
  Visit(program.main.get(), seen, order);
  return order;
}

void ReplaceWith(Graph& graph, Value* old_value, const Argument& replacement) {
  if (replacement.is_value()) {
    graph.ReplaceAllUses(old_value, replacement.value());
    return;
  }
  auto map = [&](Value* v) { return v == old_value ? replacement : Argument::Of(v); };
  const std::vector<Node*> users = old_value->users;
  for (Node* user : users) {
    for (size_t i = 0; i < user->arguments.size(); ++i) {
      Argument mapped = MapValues(user->arguments[i], map);
      if (!(mapped == user->arguments[i])) graph.SetArgument(user, i, std::move(mapped));
    }
  }
  for (size_t i = 0; old_value->output_uses > 0 && i < graph.outputs().size(); ++i) {
    Argument mapped = MapValues(graph.outputs()[i], map);
    if (!(mapped == graph.outputs()[i])) graph.SetOutput(i, std::move(mapped));
  }
}

void EraseReplaced(Graph& graph, Node* node, const std::vector<Argument>& replacements,
                   int64_t first_new_id) {
  std::vector<std::string> names;
  for (const Value* result : node->results) names.push_back(result->name);
  graph.Erase(node);
  for (size_t i = 0; i < replacements.size() && i < names.size(); ++i) {
    if (!replacements[i].is_value()) continue;
    Value* value = replacements[i].value();
    const bool is_new = value->definition != nullptr && value->definition->id >= first_new_id;
    if (is_new) graph.Rename(value, names[i]);
  }
}

}  // namespace lathe
