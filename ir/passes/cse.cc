#include "ir/passes/cse.h"

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "ir/graph/hash.h"
#include "ir/passes/graph_edit.h"
#include "ir/passes/output_storage.h"

namespace lathe {
namespace {

bool HasGraph(const Node& node) {
  for (const Argument& argument : node.arguments) {
    if (argument.kind() == Argument::Kind::kGraph) return true;
  }
  return false;
}

bool SameComputation(const Node& a, const Node& b) {
  if (a.row != b.row || a.arguments != b.arguments || a.tags != b.tags) return false;
  if (a.results.size() != b.results.size()) return false;
  for (size_t i = 0; i < a.results.size(); ++i) {
    if (!(a.results[i]->type == b.results[i]->type)) return false;
  }
  return true;
}

class Merger {
 public:
  explicit Merger(Graph& graph) : graph_(graph), behind_outputs_(ValuesBehindOutputs(graph)) {}

  bool Run() {
    bool changed = false;
    Node* next = nullptr;
    for (Node* node = graph_.first(); node != nullptr; node = next) {
      next = node->next;
      if (node->row == nullptr || node->row->effect != Effect::kPure || node->results.empty() ||
          HasGraph(*node)) {
        continue;
      }
      size_t hash = absl::HashOf(node->row);
      for (const Argument& argument : node->arguments) hash = HashOf(argument, hash);
      std::vector<Node*>& alike = by_hash_[hash];
      if (TryMerge(node, alike)) {
        changed = true;
      } else {
        alike.push_back(node);
      }
    }
    return changed;
  }

 private:
  bool TryMerge(Node* node, const std::vector<Node*>& candidates) {
    for (Node* earlier : candidates) {
      if (!SameComputation(*earlier, *node) || BothBehindOutputs(*earlier, *node)) continue;
      for (size_t i = 0; i < node->results.size(); ++i) {
        if (behind_outputs_.contains(node->results[i])) behind_outputs_.insert(earlier->results[i]);
        graph_.ReplaceAllUses(node->results[i], earlier->results[i]);
      }
      graph_.Erase(node);
      return true;
    }
    return false;
  }

  bool BothBehindOutputs(const Node& a, const Node& b) const {
    for (size_t i = 0; i < a.results.size(); ++i) {
      if (behind_outputs_.contains(a.results[i]) && behind_outputs_.contains(b.results[i])) {
        return true;
      }
    }
    return false;
  }

  Graph& graph_;
  absl::flat_hash_set<const Value*> behind_outputs_;
  absl::flat_hash_map<size_t, std::vector<Node*>> by_hash_;
};

}  // namespace

Pass CsePass() {
  return {"cse", "merges pure nodes that compute the same",
          [](Program& program, const OpRegistry&) -> absl::StatusOr<bool> {
            bool changed = false;
            for (Graph* graph : AllGraphs(program)) changed |= Merger(*graph).Run();
            return changed;
          }};
}

}  // namespace lathe
