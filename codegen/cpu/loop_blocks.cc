#include "codegen/cpu/loop_blocks.h"

#include <algorithm>

#include "codegen/cpu/expression_text.h"
#include "ir/loops/affine_index.h"

namespace lathe::cpu {
namespace {

// Fewer elements stay in the nearest cache in any order.
constexpr int64_t kFewElements = 1 << 13;
// Strides below this share lines between lanes.
constexpr int64_t kShortStride = 8;

bool IsFewElements(const KernelSpec& spec, const SpecStage& stage) {
  int64_t elements = 1;
  for (int axis : stage.axes) {
    const std::optional<int64_t> extent = spec.axes[axis].extent.AsInt();
    if (!extent.has_value() || *extent >= kFewElements) return false;
    elements *= *extent;
    if (elements >= kFewElements) return false;
  }
  return true;
}

// What does not vary along the vector axis is computed anew for every block.
bool IsCheapToRepeat(const SpecStage& stage, const StagePlan& plan) {
  const std::vector<LoopOp>& ops = stage.body.ops;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (plan.varies[i] || ops[i].operands.empty()) continue;
    if (!VectorMathName(ops[i].kind, ops[ops[i].operands[0]].dtype).empty()) return false;
  }
  return true;
}

bool IsLong(const std::optional<Expr>& stride) {
  if (!stride.has_value()) return false;
  const std::optional<int64_t> value = stride->AsInt();
  return !value.has_value() || *value >= kShortStride || *value <= -kShortStride;
}

// Loads that go from line to line along `columns` and element by element along `rows`.
int ReadsAcross(const SpecStage& stage, const Expr& rows, const Expr& columns) {
  int count = 0;
  for (const LoopOp& op : stage.body.ops) {
    if (op.kind != OpKind::kLoad) continue;
    count += AffineCoefficient(op.index, rows) == Expr(1) &&
             IsLong(AffineCoefficient(op.index, columns));
  }
  return count;
}

// Lines of every column are read to their ends: with many more columns than ways of a cache, rows
// of 2^k bytes would push one another out. As many as fill a line of what is written.
int ColumnsOf(const KernelSpec& spec, const SpecStage& stage, const StagePlan& plan) {
  constexpr int kLineBits = 512, kFewest = 16, kMost = 64;
  int columns = std::max(kFewest, plan.lanes);
  for (const LoopOp& op : stage.body.ops) {
    if (op.kind != OpKind::kStore) continue;
    columns = std::max(columns, kLineBits / BitWidth(spec.buffers[op.buffer].dtype));
  }
  return std::min(columns, kMost);
}

}  // namespace

std::optional<LoopBlocks> BlocksOf(const KernelSpec& spec, const SpecStage& stage,
                                   const StagePlan& plan) {
  if (plan.shape != StageShape::kMap || IsFewElements(spec, stage)) return std::nullopt;
  LoopBlocks blocks;
  int most = 0;
  for (int axis : stage.axes) {
    if (axis == plan.vector_axis) continue;
    const int count =
        ReadsAcross(stage, spec.axes[axis].symbol, spec.axes[plan.vector_axis].symbol);
    if (count <= most) continue;
    most = count;
    blocks.axis = axis;
  }
  if (blocks.axis < 0 || !IsCheapToRepeat(stage, plan)) return std::nullopt;
  blocks.columns = ColumnsOf(spec, stage, plan);
  return blocks;
}

}  // namespace lathe::cpu
