#include "ir/passes/remove_noops.h"

#include <algorithm>

#include "ir/passes/graph_edit.h"
#include "ir/passes/output_storage.h"

namespace lathe {
namespace {

// Views that keep the type and change what is read.
bool ChangesElements(const Node& node) {
  return node.op == "aten._conj" || node.op == "aten._neg_view";
}

bool IsCopy(const Node& node) { return node.op == "aten.clone" || node.op == "aten._to_copy"; }

bool IsReadByPlainOps(const Value& value) {
  return std::all_of(value.users.begin(), value.users.end(), [](const Node* user) {
    return user->row != nullptr && user->row->effect == Effect::kPure && !user->row->is_view();
  });
}

// The value that the single result of `node` equals, nullptr when there is none.
Value* SameAs(const Node& node, const absl::flat_hash_set<const Value*>& behind_outputs) {
  if (node.row == nullptr || node.results.size() != 1 || node.arguments.empty() ||
      !node.arguments[0].is_value()) {
    return nullptr;
  }
  Value* input = node.arguments[0].value();
  const Value& result = *node.results[0];
  if (!input->type.is_tensor() || !(input->type == result.type)) return nullptr;
  if (node.row->is_view()) return ChangesElements(node) ? nullptr : input;
  const bool removable =
      IsCopy(node) && !behind_outputs.contains(&result) && IsReadByPlainOps(result);
  return removable ? input : nullptr;
}

bool RemoveFrom(Graph& graph) {
  const absl::flat_hash_set<const Value*> behind_outputs = ValuesBehindOutputs(graph);
  bool changed = false;
  Node* next = nullptr;
  for (Node* node = graph.first(); node != nullptr; node = next) {
    next = node->next;
    Value* same = SameAs(*node, behind_outputs);
    if (same == nullptr) continue;
    graph.ReplaceAllUses(node->results[0], same);
    graph.Erase(node);
    changed = true;
  }
  return changed;
}

}  // namespace

Pass RemoveNoopsPass() {
  return {"remove_noops", "removes views and copies that change nothing",
          [](Program& program, const OpRegistry&) -> absl::StatusOr<bool> {
            bool changed = false;
            for (Graph* graph : AllGraphs(program)) changed |= RemoveFrom(*graph);
            return changed;
          }};
}

}  // namespace lathe
