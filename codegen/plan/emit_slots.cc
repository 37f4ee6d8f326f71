// PlanEmitter: storages, tensors over them, and registers for their sizes.

#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/plan/plan_emitter.h"
#include "dtypes/base/status.h"
#include "ir/ops/op_row.h"

namespace lathe {

std::string PlanEmitter::NameOf(const Node& node) {
  return node.results.empty() ? node.op : absl::StrCat("%", node.results[0]->name);
}

void PlanEmitter::FindRoots() {
  roots_ = schedule_.roots;
  // A view that runs by its reference evaluation shares storage too.
  for (Node* node = graph_.first(); node != nullptr; node = node->next) {
    if (node->row == nullptr || !node->row->is_view()) continue;
    for (Value* result : node->results) {
      Value* input = FirstTensor(*node);
      if (input != nullptr && !roots_.IsView(result)) roots_.Add(result, input);
    }
  }
  for (size_t k = 0; k < graph_.outputs().size(); ++k) {
    if (graph_.output_specs()[k].kind == OutputSpec::Kind::kMutation) continue;
    graph_.outputs()[k].ForEachValue([&](Value* v) { escapes_.insert(roots_.Root(v)); });
  }
}

void PlanEmitter::StartSegment() {
  segment_eval_ = Here();
  plan_.steps.emplace_back(EvalStep{});
  segment_reserve_ = Here();
  plan_.steps.emplace_back(ReserveStep{});
}

absl::Status PlanEmitter::Registers(const std::vector<Expr>& exprs, std::vector<Register>* out) {
  for (const Expr& e : exprs) {
    LATHE_ASSIGN_OR_RETURN(Register reg, Reg(e));
    out->push_back(reg);
  }
  return absl::OkStatus();
}

absl::StatusOr<ViewStep> PlanEmitter::ViewOf(const TensorType& type, TensorSlot slot) {
  ViewStep view;
  view.tensor = slot;
  view.dtype = type.dtype;
  LATHE_RETURN_IF_ERROR(Registers(type.sizes, &view.sizes));
  LATHE_RETURN_IF_ERROR(Registers(type.strides, &view.strides));
  return view;
}

// Bytes of a dense or strided buffer: last element's position plus one, in whole bytes.
Expr PlanEmitter::BytesOf(const TensorType& type) {
  Expr last = 0, count = 1;
  for (int k = 0; k < type.rank(); ++k) {
    last = last + (type.sizes[k] - 1) * type.strides[k];
    count = count * type.sizes[k];
  }
  const int bits = BitWidth(type.dtype);
  const Expr elements = IsContiguous(type) ? count : Max(last + 1, 0);
  return bits % 8 == 0 ? elements * (bits / 8) : symbolic::CeilDiv(elements * bits, 8);
}

// A new buffer for `value`, from the arena unless it outlives the call.
absl::StatusOr<TensorSlot> PlanEmitter::NewBuffer(Value* value) {
  if (const auto it = in_place_.find(value); it != in_place_.end()) {
    LATHE_ASSIGN_OR_RETURN(TensorSlot slot, Slot(it->second));
    TensorType type = value->type.tensor();
    const TensorType& place = it->second->type.tensor();
    if (!(type.sizes == place.sizes && type.strides == place.strides)) {
      type.offset = place.offset;
      LATHE_ASSIGN_OR_RETURN(slot, ViewOver(slot, type));
    }
    slots_[value] = slot;
    return slot;
  }
  TensorType type = value->type.tensor();
  LATHE_ASSIGN_OR_RETURN(TensorSlot slot,
                         NewBuffer(type, escapes_.contains(value), value->definition));
  slots_[value] = slot;
  return slot;
}

absl::StatusOr<TensorSlot> PlanEmitter::NewBuffer(const TensorType& type, bool escapes,
                                                  const Node* node) {
  const StorageSlot storage = plan_.storage_count++;
  LATHE_ASSIGN_OR_RETURN(Register bytes, Reg(BytesOf(type)));
  const std::string name = node == nullptr ? "" : NameOf(*node);
  const std::string source = node == nullptr ? "" : node->origin.source;
  if (escapes) {
    Add(AllocateStep{storage, bytes, name, source});
  } else {
    std::get<ReserveStep>(plan_.steps[segment_reserve_])
        .pieces.push_back({storage, bytes, Here(), Here(), name, source});
    pieces_[storage] = {segment_reserve_,
                        std::get<ReserveStep>(plan_.steps[segment_reserve_]).pieces.size() - 1};
  }
  const TensorSlot slot = plan_.tensor_count++;
  LATHE_ASSIGN_OR_RETURN(ViewStep view, ViewOf(type, slot));
  view.storage = storage;
  LATHE_ASSIGN_OR_RETURN(view.offset, Reg(0));
  storage_of_slot_[slot] = storage;
  Add(std::move(view));
  return slot;
}

// The slot of any tensor value; views are made over their root's slot on first use.
absl::StatusOr<TensorSlot> PlanEmitter::Slot(Value* value) {
  Value* root = roots_.Root(value);
  Touch(root);
  if (auto it = slots_.find(value); it != slots_.end()) return it->second;
  if (root == value) return Internal("no buffer was made for %", value->name);
  LATHE_ASSIGN_OR_RETURN(TensorSlot base, Slot(root));
  TensorType type = value->type.tensor();
  // Views of what a callback made count from that tensor's first element.
  if (callback_results_.contains(root)) type.offset = type.offset - root->type.tensor().offset;
  LATHE_ASSIGN_OR_RETURN(TensorSlot slot, ViewOver(base, type));
  slots_[value] = slot;
  return slot;
}

absl::StatusOr<TensorSlot> PlanEmitter::ViewOver(TensorSlot base, const TensorType& type) {
  const TensorSlot slot = plan_.tensor_count++;
  LATHE_ASSIGN_OR_RETURN(ViewStep view, ViewOf(type, slot));
  view.base = base;
  LATHE_ASSIGN_OR_RETURN(view.offset, Reg(type.offset));
  if (auto it = storage_of_slot_.find(base); it != storage_of_slot_.end()) {
    storage_of_slot_[slot] = it->second;
  }
  Add(std::move(view));
  return slot;
}

}  // namespace lathe
