#include "ir/passes/storage_tracker.h"

#include <utility>

#include "dtypes/base/status.h"
#include "ir/passes/graph_edit.h"
#include "ir/passes/layout.h"

namespace lathe {

StorageTracker::State& StorageTracker::StateOf(Value* handle) {
  auto [it, is_new] = states_.try_emplace(handle);
  if (is_new) {
    it->second.root = handle;
    it->second.current = handle;
  }
  return it->second;
}

void StorageTracker::AddView(Value* handle, const OpRow* row, std::vector<Argument> arguments,
                             int aliased) {
  Value* parent = arguments[aliased].value();
  Value* root = Root(parent);
  const int64_t version = StateOf(root).version;
  State& state = StateOf(handle);
  state.view = View{row, std::move(arguments), parent};
  state.root = root;
  state.version = version;
}

Value* StorageTracker::Root(Value* handle) { return StateOf(handle).root; }

// Only the parent changes: what else a view takes are sizes.
std::vector<Argument> StorageTracker::WithParent(const View& view, Value* parent) {
  std::vector<Argument> arguments;
  for (const Argument& argument : view.arguments) {
    arguments.push_back(
        MapValues(argument, [&](Value* v) { return Argument::Of(v == view.parent ? parent : v); }));
  }
  return arguments;
}

Value* StorageTracker::Current(Value* handle) {
  if (!any_written_) return handle;
  const int64_t version = StateOf(Root(handle)).version;
  std::vector<Value*> stale;
  for (Value* v = handle; StateOf(v).view.has_value() && StateOf(v).version != version;
       v = StateOf(v).view->parent) {
    stale.push_back(v);
  }
  for (auto it = stale.rbegin(); it != stale.rend(); ++it) {
    State& state = states_.at(*it);
    Value* parent = states_.at(state.view->parent).current;
    std::vector<CallArgument> arguments;
    for (Argument& argument : WithParent(*state.view, parent)) {
      arguments.emplace_back(std::move(argument));
    }
    Value* replayed = builder_.Call(state.view->row->parsed.name, std::move(arguments));
    if (replayed == nullptr) return nullptr;
    state.current = replayed;
    state.version = version;
  }
  return StateOf(handle).current;
}

absl::Status StorageTracker::Write(Value* handle, Value* contents) {
  any_written_ = true;
  Value* target = handle;
  while (StateOf(target).view.has_value()) {
    Value* parent = states_.at(target).view->parent;
    Value* base = Current(parent);
    LATHE_RETURN_IF_ERROR(builder_.status());
    const View view = *states_.at(target).view;
    const std::vector<Argument> arguments = WithParent(view, base);
    if (!view.row->view_inverse) {
      return Unimplemented("a write through ", view.row->parsed.name);
    }
    LATHE_ASSIGN_OR_RETURN(
        Argument updated,
        view.row->view_inverse(builder_, OpArgs(view.row->parsed, arguments), base, contents));
    LATHE_RETURN_IF_ERROR(builder_.status());
    contents = updated.value();
    target = parent;
  }
  // Views were typed for the root's own strides.
  contents = WithLayout(builder_, contents, target->type.tensor());
  LATHE_RETURN_IF_ERROR(builder_.status());
  State& root = StateOf(target);
  root.current = contents;
  ++root.version;
  return absl::OkStatus();
}

}  // namespace lathe
