#include "scheduler/lower/wiring.h"

namespace lathe {

int Wiring::Number(Value* root) {
  auto [it, is_new] = number_of_.try_emplace(root, static_cast<int>(roots_.size()));
  if (is_new) roots_.push_back(root);
  return it->second;
}

void Wiring::Add(const LoopNode& node) {
  const auto add_call = [this](const Value* value) {
    Add(static_cast<uint64_t>(loops_.class_of[value->definition->id]));
    Add(static_cast<uint64_t>(value->index));
  };
  add_call(node.value);
  for (const Argument& argument : node.node->arguments) {
    argument.ForEachValue([&](Value* value) {
      if (!value->type.is_tensor()) return;
      for (; loops_.roots.IsView(value); value = loops_.roots.Input(value)) {
        Add(uint64_t{1});
        add_call(value);
      }
      Add(uint64_t{0});
      Add(static_cast<uint64_t>(Number(value)));
    });
  }
}

}  // namespace lathe
