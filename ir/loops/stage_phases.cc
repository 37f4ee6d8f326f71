#include "ir/loops/stage_phases.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

std::vector<int> AxesOf(const KernelSpec& spec, const SpecStage& stage, AxisKind kind) {
  std::vector<int> axes;
  for (int axis : stage.axes) {
    if (spec.axes[axis].kind == kind) axes.push_back(axis);
  }
  return axes;
}

}  // namespace

std::vector<int> ReduceAxes(const KernelSpec& spec, const SpecStage& stage) {
  return AxesOf(spec, stage, AxisKind::kReduce);
}

std::vector<int> ParallelAxes(const KernelSpec& spec, const SpecStage& stage) {
  return AxesOf(spec, stage, AxisKind::kParallel);
}

namespace {

bool OnlyDots(const SpecStage& stage) {
  return std::all_of(stage.body.ops.begin(), stage.body.ops.end(),
                     [](const LoopOp& op) { return op.kind != OpKind::kReduce || IsDot(op); });
}

}  // namespace

bool InnerReducesInLine(const KernelSpec& spec, const SpecStage& stage) {
  const size_t count = stage.axes.size();
  if (count < 2) return false;
  const SpecAxis &outer = spec.axes[stage.axes[count - 2]], &inner = spec.axes[stage.axes.back()];
  const std::optional<int64_t> length = inner.extent.AsInt();
  const bool is_position = std::any_of(
      stage.body.ops.begin(), stage.body.ops.end(),
      [](const LoopOp& op) { return op.kind == OpKind::kReduce && IsArgument(op.reduce); });
  if (outer.kind != AxisKind::kReduce || inner.kind != AxisKind::kReduce || is_position ||
      !length.has_value()) {
    return false;
  }
  if (*length == 16 || *length == 32) {
    const std::optional<int64_t> groups = outer.extent.AsInt();
    return groups.has_value() && *groups * *length % kLanes == 0 && OnlyDots(stage);
  }
  return *length >= kLanes && *length % kLanes == 0 && kInnerBlock % *length == 0;
}

bool KeepsEveryElement(const KernelSpec& spec, const SpecLocal& local) {
  return std::any_of(local.axes.begin(), local.axes.end(),
                     [&](int axis) { return spec.axes[axis].kind == AxisKind::kReduce; });
}

std::vector<OpPhase> StagePhases(const KernelSpec& spec, const SpecStage& stage) {
  absl::flat_hash_set<Expr> varying;  // reduce axes and checked indices
  for (int axis : ReduceAxes(spec, stage)) varying.insert(spec.axes[axis].symbol);
  const bool reduces = !varying.empty();
  const std::vector<LoopOp>& ops = stage.body.ops;
  std::vector<OpPhase> phases;
  for (const LoopOp& op : ops) {
    OpPhase phase = OpPhase::kUniform;
    auto meet = [&](int32_t id) {
      const OpPhase other = ops[id].kind == OpKind::kReduce ? OpPhase::kReduced : phases[id];
      if (other > phase) phase = other;
    };
    for (int32_t operand : op.operands) meet(operand);
    if (op.mask != kNoValue) meet(op.mask);
    switch (op.kind) {
      case OpKind::kIndexExpr:
        for (const Expr& symbol : symbolic::FreeSymbols(op.index)) {
          if (varying.contains(symbol)) phase = OpPhase::kElement;
        }
        break;
      case OpKind::kStoreLocal:
        phase = reduces && !KeepsEveryElement(spec, spec.locals[op.buffer]) ? OpPhase::kReduced
                                                                            : OpPhase::kElement;
        break;
      case OpKind::kLoadLocal:
        if (KeepsEveryElement(spec, spec.locals[op.buffer])) phase = OpPhase::kElement;
        break;
      case OpKind::kIndirect:
        varying.insert(op.symbol);
        [[fallthrough]];
      case OpKind::kLoad:
      case OpKind::kStore:
      case OpKind::kCheck:
      case OpKind::kReduce:
        if (phase == OpPhase::kUniform) phase = OpPhase::kElement;
        break;
      default:
        break;
    }
    phases.push_back(phase);
  }
  return phases;
}

}  // namespace lathe
