#include "ir/loops/lift_offsets.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace lathe {
namespace {

bool Accesses(const LoopOp& op) { return op.kind == OpKind::kLoad || op.kind == OpKind::kStore; }

int64_t ConstantTerm(const Expr& index) {
  if (const std::optional<int64_t> value = index.AsInt()) return *value;
  if (index.kind() != symbolic::ExprKind::kAdd) return 0;
  for (const Expr& term : index.operands()) {
    if (const std::optional<int64_t> value = term.AsInt()) return *value;
  }
  return 0;
}

}  // namespace

std::vector<int64_t> OffsetsOf(const KernelSpec& spec) {
  constexpr int64_t kNone = -1;
  std::vector<int64_t> offsets(spec.buffers.size(), kNone);
  for (const SpecStage& stage : spec.stages) {
    for (const LoopOp& op : stage.body.ops) {
      if (!Accesses(op)) continue;
      int64_t& offset = offsets[op.buffer];
      const int64_t own = std::max<int64_t>(ConstantTerm(op.index), 0);
      offset = offset == kNone ? own : std::min(offset, own);
    }
  }
  for (size_t k = 0; k < offsets.size(); ++k) {
    // Part of a byte cannot be pointed at.
    const bool whole_bytes = BitWidth(spec.buffers[k].dtype) % 8 == 0;
    if (offsets[k] == kNone || !whole_bytes) offsets[k] = 0;
  }
  return offsets;
}

std::vector<int64_t> LiftOffsets(KernelSpec& spec) {
  std::vector<int64_t> offsets = OffsetsOf(spec);
  for (SpecStage& stage : spec.stages) {
    for (LoopOp& op : stage.body.ops) {
      if (Accesses(op) && offsets[op.buffer] != 0) op.index = op.index - offsets[op.buffer];
    }
  }
  return offsets;
}

std::string NameOfSpec(KernelSpec spec) {
  LiftOffsets(spec);
  return absl::StrCat("k_", absl::Hex(StructuralHash(spec), absl::kZeroPad16));
}

}  // namespace lathe
