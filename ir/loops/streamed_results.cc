#include "ir/loops/streamed_results.h"

#include "ir/loops/stage_work.h"

namespace lathe {
namespace {

bool OnlyWritten(const KernelSpec& spec, int buffer) {
  const SpecBuffer& b = spec.buffers[buffer];
  if (b.role != BufferRole::kOut || BitWidth(b.dtype) % 8 != 0 || IsComplex(b.dtype)) return false;
  for (const SpecStage& stage : spec.stages) {
    for (const LoopOp& op : stage.body.ops) {
      if (op.buffer != buffer) continue;
      if (op.kind == OpKind::kLoad) return false;
      if (op.kind == OpKind::kStore && (op.mode != StoreMode::kPlain || op.mask != kNoValue)) {
        return false;
      }
    }
  }
  return true;
}

// Elements that the last stage storing to the buffer writes.
Expr ElementsOf(const KernelSpec& spec, int buffer) {
  Expr elements = 0;
  for (const SpecStage& stage : spec.stages) {
    for (const LoopOp& op : stage.body.ops) {
      if (op.kind != OpKind::kStore || op.buffer != buffer) continue;
      Expr count = 1;
      for (int axis : AxesAround(spec, stage)) count = count * spec.axes[axis].extent;
      elements = count;
    }
  }
  return elements;
}

}  // namespace

std::vector<std::optional<Expr>> StreamedBytes(const KernelSpec& spec) {
  std::vector<std::optional<Expr>> result(spec.buffers.size());
  for (size_t k = 0; k < spec.buffers.size(); ++k) {
    const int buffer = static_cast<int>(k);
    if (!OnlyWritten(spec, buffer)) continue;
    const Expr bytes = ElementsOf(spec, buffer) * (BitWidth(spec.buffers[k].dtype) / 8);
    if (bytes.AsInt().value_or(kStreamBytes) >= kStreamBytes) result[k] = bytes;
  }
  return result;
}

}  // namespace lathe
