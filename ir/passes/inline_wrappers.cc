#include "ir/passes/inline_wrappers.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/passes/graph_edit.h"

namespace lathe {
namespace {

struct WrapperCall {
  std::shared_ptr<Graph> callee;
  std::vector<Argument> operands;
};

// Operands come one by one or in lists.
void Flatten(const Argument& argument, std::vector<Argument>& operands) {
  if (!argument.is_list()) return operands.push_back(argument);
  for (const Argument& item : argument.list()) Flatten(item, operands);
}

bool IsWrapper(absl::string_view op) {
  return op == "wrap_with_set_grad_enabled" || op == "wrap_with_autocast" ||
         op == "hints_wrapper" || op == "invoke_subgraph" || op == "wrap" ||
         op == "tag_activation_checkpoint";
}

// Autocast changes the dtypes inside; loading an archive writes its casts out
// (capture/pt2/autocast.h).
absl::Status CheckAutocast(const Node& node) {
  if (node.op != "wrap_with_autocast" || node.arguments.size() < 3) return absl::OkStatus();
  const Argument& enabled = node.arguments[2];
  if (enabled.kind() == Argument::Kind::kBool && !enabled.boolean()) return absl::OkStatus();
  return Unimplemented("wrap_with_autocast: a region with autocast enabled");
}

WrapperCall CallOf(const Node& node) {
  WrapperCall call;
  for (const Argument& argument : node.arguments) {
    if (argument.kind() == Argument::Kind::kGraph && call.callee == nullptr) {
      call.callee = argument.graph();
    } else if (call.callee != nullptr && !argument.is_none() &&
               (argument.is_value() || argument.is_list())) {
      Flatten(argument, call.operands);
    }
  }
  return call;
}

absl::StatusOr<bool> InlineAll(Program& program, const OpRegistry&) {
  bool changed = false;
  for (Graph* graph : AllGraphs(program)) {
    for (Node* node : graph->nodes()) {
      if (!IsWrapper(node->op)) continue;
      absl::Status status = CheckAutocast(*node);
      if (status.ok()) {
        const WrapperCall call = CallOf(*node);
        if (call.callee == nullptr) continue;
        status = InlineCall(*graph, node, *call.callee, call.operands);
      }
      if (!status.ok()) return AtNode(status, node->op, node->origin.source);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

absl::Status InlineCall(Graph& graph, Node* call, const Graph& callee,
                        const std::vector<Argument>& operands) {
  if (operands.size() != callee.inputs().size() ||
      call->results.size() != callee.outputs().size()) {
    return InvalidArgument(call->op, ": @", callee.name(), " has ", callee.inputs().size(),
                           " inputs and ", callee.outputs().size(), " outputs, the call ",
                           operands.size(), " and ", call->results.size());
  }
  absl::flat_hash_map<const Value*, Argument> map;
  for (size_t i = 0; i < operands.size(); ++i) map[callee.inputs()[i]] = operands[i];
  auto translate = [&map](Value* v) { return map.at(v); };
  const int64_t first_new_id = graph.next_id();
  for (const Node* node = callee.first(); node != nullptr; node = node->next) {
    std::vector<Argument> arguments;
    for (const Argument& argument : node->arguments) {
      arguments.push_back(MapValues(argument, translate));
    }
    std::vector<ValueType> types;
    std::vector<std::string> names;
    for (const Value* result : node->results) {
      types.push_back(result->type);
      names.push_back(result->name);
    }
    Node* copy =
        graph.Insert(call, node->op, std::move(arguments), std::move(types), std::move(names));
    copy->row = node->row;
    copy->names = node->names;
    copy->origin = node->origin;
    copy->tags = node->tags;
    for (size_t i = 0; i < node->results.size(); ++i) {
      map[node->results[i]] = Argument::Of(copy->results[i]);
    }
  }
  std::vector<Argument> results;
  for (const Argument& output : callee.outputs()) results.push_back(MapValues(output, translate));
  for (size_t i = 0; i < results.size(); ++i) ReplaceWith(graph, call->results[i], results[i]);
  EraseReplaced(graph, call, results, first_new_id);
  return absl::OkStatus();
}

Pass InlineWrappersPass() {
  return {"inline_wrappers", "puts the bodies of wrapping calls in place", InlineAll};
}

}  // namespace lathe
