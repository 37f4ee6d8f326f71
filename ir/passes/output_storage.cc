#include "ir/passes/output_storage.h"

#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

absl::flat_hash_set<const Value*> ValuesBehindOutputs(const Graph& graph) {
  absl::flat_hash_set<const Value*> found;
  std::vector<Value*> pending;
  for (const Argument& output : graph.outputs()) {
    output.ForEachValue([&](Value* v) { pending.push_back(v); });
  }
  while (!pending.empty()) {
    Value* value = pending.back();
    pending.pop_back();
    if (!found.insert(value).second || value->definition == nullptr) continue;
    const Node& node = *value->definition;
    // What an unknown operator returns may be any of its arguments.
    const bool may_alias = node.row == nullptr || node.row->is_view() ||
                           node.row->parsed.AliasedArgument(value->index) >= 0;
    if (!may_alias) continue;
    for (const Argument& argument : node.arguments) {
      argument.ForEachValue([&](Value* v) { pending.push_back(v); });
    }
  }
  return found;
}

}  // namespace lathe
