#include "scheduler/kernels/body_reader.h"

#include <algorithm>
#include <utility>

#include "dtypes/base/status.h"
#include "scheduler/fusion/access.h"
#include "symbolic/evaluate.h"

namespace lathe {

BufferId BufferTable::Number(Value* root) {
  auto [it, added] = number_of_.emplace(root, static_cast<BufferId>(values_.size()));
  if (added) {
    values_.push_back(root);
    read_.push_back(false);
    written_.push_back(false);
  }
  return it->second;
}

BufferId BufferTable::Read(Value* root) {
  const BufferId id = Number(root);
  read_[id] = true;
  return id;
}

BufferId BufferTable::Write(Value* root) {
  const BufferId id = Number(root);
  written_[id] = true;
  return id;
}

BufferRole BufferTable::role(BufferId id) const {
  if (!written_[id]) return BufferRole::kIn;
  return read_[id] ? BufferRole::kInOut : BufferRole::kOut;
}

OpsValue BodyReader::Load(OpsHandler& ops, Value* tensor, Index index) {
  Value* root = loops_.roots.Root(tensor);
  const Expr position = PositionInRoot(loops_, tensor, index);
  if (OpsValue at_hand = forward_(root, position); at_hand.is_valid()) {
    const DType dtype = tensor->type.tensor().dtype, stored = root->type.tensor().dtype;
    if (dtype == stored) return at_hand;
    return ops.Cast(ops.BitCast(ops.Cast(at_hand, stored), dtype), LoadedDType(dtype));
  }
  if (ShouldInline(root, position)) return Inline(ops, tensor, index);
  return LoadBuffer(ops, tensor, root, position);
}

bool BodyReader::ShouldInline(Value* root, const Expr& position) const {
  if (IsGenerator(loops_, root)) return true;
  if (buffers_needed_.contains(root)) {
    // It has a buffer already; reading it beats computing it again, except inside its own kernel,
    // where other elements of the buffer may not be written yet.
    auto it = loops_.index.find(root);
    if (it == loops_.index.end() || !own_members_.contains(it->second)) return false;
  }
  const std::vector<Expr> used = symbolic::FreeSymbols(position);
  const bool covers = std::all_of(axes_.begin(), axes_.end(), [&](const Expr& axis) {
    return std::find(used.begin(), used.end(), axis) != used.end();
  });
  return MayInline(loops_, fusion_, root, covers);
}

OpsValue BodyReader::Inline(OpsHandler& ops, Value* tensor, Index index) {
  std::vector<Expr> at(index.begin(), index.end());
  Value* value = tensor;
  for (auto it = loops_.views.find(value); it != loops_.views.end();
       it = loops_.views.find(value)) {
    const auto& view = std::get<ViewLoops>(*it->second);
    at = view.map(at);
    value = view.input;
  }
  const int32_t mask = static_cast<Recorder&>(ops).CurrentMask().id;
  const InlineKey key{value, at, mask};
  if (auto it = inlined_.find(key); it != inlined_.end()) return it->second;
  const LoopNode& node = *loops_.Find(value);
  const OpsValue result = loops_.Rounded(ops, node.pointwise().body(ops, *this, at), node);
  inlined_.emplace(key, result);
  return result;
}

OpsValue BodyReader::LoadBuffer(OpsHandler& ops, Value* tensor, Value* root, const Expr& position) {
  buffers_needed_.insert(root);
  if (auto it = loops_.index.find(root);
      it != loops_.index.end() && own_members_.contains(it->second)) {
    status_ = Internal("the kernel of %", root->name,
                       " reads it at elements it may not have yet: ", symbolic::ToString(position));
  }
  const DType dtype = tensor->type.tensor().dtype, stored = root->type.tensor().dtype;
  OpsValue loaded = ops.Load(buffers_.Read(root), position, stored);
  if (dtype != stored) loaded = ops.BitCast(loaded, dtype);
  return ops.Cast(loaded, LoadedDType(dtype));
}

}  // namespace lathe
