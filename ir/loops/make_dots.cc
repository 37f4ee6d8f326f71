#include "ir/loops/make_dots.h"

#include <algorithm>

namespace lathe {
namespace {

bool ReadsPackedRows(const KernelSpec& spec, const SpecStage& stage) {
  if (stage.axes.empty() || spec.axes[stage.axes.back()].kind != AxisKind::kReduce) return false;
  return std::any_of(stage.body.ops.begin(), stage.body.ops.end(), [](const LoopOp& op) {
    return op.kind == OpKind::kLoad && IsSubByte(op.dtype);
  });
}

bool IsSumOfProducts(const std::vector<LoopOp>& ops, const LoopOp& op) {
  if (op.kind != OpKind::kReduce || op.reduce != ReduceKind::kSum) return false;
  const LoopOp& product = ops[op.operands[0]];
  return product.kind == OpKind::kMul && product.dtype == DType::kF32 && product.mask == kNoValue &&
         op.mask == kNoValue;
}

// Takes out operations whose results nobody reads any more.
void RemoveUnused(std::vector<LoopOp>& ops) {
  std::vector<bool> used(ops.size(), false);
  for (size_t i = ops.size(); i-- > 0;) {
    used[i] = used[i] || ops[i].kind != OpKind::kMul;
    if (!used[i]) continue;
    for (int32_t operand : ops[i].operands) used[operand] = true;
    if (ops[i].mask != kNoValue) used[ops[i].mask] = true;
  }
  std::vector<int32_t> renamed(ops.size(), kNoValue);
  std::vector<LoopOp> kept;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (!used[i]) continue;
    renamed[i] = static_cast<int32_t>(kept.size());
    kept.push_back(std::move(ops[i]));
    for (int32_t& operand : kept.back().operands) operand = renamed[operand];
    if (kept.back().mask != kNoValue) kept.back().mask = renamed[kept.back().mask];
  }
  ops = std::move(kept);
}

}  // namespace

void MakeDots(KernelSpec& spec) {
  for (SpecStage& stage : spec.stages) {
    if (!ReadsPackedRows(spec, stage)) continue;
    std::vector<LoopOp>& ops = stage.body.ops;
    bool changed = false;
    for (LoopOp& op : ops) {
      if (!IsSumOfProducts(ops, op)) continue;
      op.operands = ops[op.operands[0]].operands;
      changed = true;
    }
    if (changed) RemoveUnused(ops);
  }
}

}  // namespace lathe
