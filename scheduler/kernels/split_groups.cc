#include "scheduler/kernels/split_groups.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "ir/loops/affine_index.h"

namespace lathe {
namespace {

using symbolic::ExprKind;

// The stage that alone reduces along axis `axis`, its last, and does nothing else element by
// element.
SpecStage* ReducingStage(KernelSpec& spec, int axis) {
  SpecStage* found = nullptr;
  for (SpecStage& stage : spec.stages) {
    if (std::find(stage.axes.begin(), stage.axes.end(), axis) == stage.axes.end()) continue;
    if (found != nullptr || stage.axes.back() != axis) return nullptr;
    found = &stage;
  }
  if (found == nullptr) return nullptr;
  bool reduces = false;
  for (const LoopOp& op : found->body.ops) {
    if (op.kind == OpKind::kStore || op.kind == OpKind::kIndirect) return nullptr;
    if (op.kind != OpKind::kReduce) continue;
    if (op.operands.size() != 1) return nullptr;
    reduces = true;
  }
  for (const SpecLocal& local : spec.locals) {
    if (std::find(local.axes.begin(), local.axes.end(), axis) != local.axes.end()) return nullptr;
  }
  return reduces ? found : nullptr;
}

// The least n of index // n and index % n; 0 where there is none.
void FindLength(const Expr& e, const Expr& axis, int64_t& length) {
  if (e.is_const() || !UsesSymbol(e, axis)) return;
  const bool divides = e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kMod;
  if (divides && e.operands()[0] == axis) {
    const int64_t by = e.operands()[1].AsInt().value_or(0);
    if (by > 0 && (length == 0 || by < length)) length = by;
  }
  for (const Expr& operand : e.operands()) FindLength(operand, axis, length);
}

// e with the axis as length * group + place; nullopt where it is used in another way.
std::optional<Expr> Split(const Expr& e, const Expr& axis, int64_t length, const Expr& group,
                          const Expr& place) {
  if (e.is_const() || !UsesSymbol(e, axis)) return e;
  if (e == axis) return group * length + place;
  if (e.kind() == ExprKind::kAdd || e.kind() == ExprKind::kMul) {
    const bool is_sum = e.kind() == ExprKind::kAdd;
    Expr result = is_sum ? 0 : 1;
    for (const Expr& operand : e.operands()) {
      const std::optional<Expr> part = Split(operand, axis, length, group, place);
      if (!part.has_value()) return std::nullopt;
      result = is_sum ? result + *part : result * *part;
    }
    return result;
  }
  if ((e.kind() != ExprKind::kFloorDiv && e.kind() != ExprKind::kMod) || e.operands()[0] != axis) {
    return std::nullopt;
  }
  const int64_t by = e.operands()[1].AsInt().value_or(0);
  if (by <= 0 || by % length != 0) return std::nullopt;
  const Expr groups = by / length;
  if (e.kind() == ExprKind::kFloorDiv) return groups == Expr(1) ? group : group / groups;
  return groups == Expr(1) ? place : group % groups * length + place;
}

// Axis `axis` makes room for another after it.
void InsertAfter(KernelSpec& spec, int axis, const SpecAxis& added) {
  const auto shift = [&](std::vector<int>& axes) {
    for (int& a : axes) a += a > axis;
    const auto at = std::find(axes.begin(), axes.end(), axis);
    if (at != axes.end()) axes.insert(at + 1, axis + 1);
  };
  shift(spec.outer);
  for (SpecStage& stage : spec.stages) shift(stage.axes);
  for (SpecLocal& local : spec.locals) shift(local.axes);
  spec.axes.insert(spec.axes.begin() + axis + 1, added);
}

void SplitAxis(KernelSpec& spec, int axis, ExprContext& context) {
  const SpecAxis whole = spec.axes[axis];
  const std::optional<int64_t> extent = whole.extent.AsInt();
  SpecStage* stage = ReducingStage(spec, axis);
  if (stage == nullptr || !extent.has_value()) return;
  int64_t length = 0;
  for (const LoopOp& op : stage->body.ops) FindLength(op.index, whole.symbol, length);
  // What counts as one row (InnerReducesInLine).
  if (length < kLanes || length % kLanes != 0 || kInnerBlock % length != 0 ||
      *extent % length != 0 || *extent == length) {
    return;
  }
  const auto fresh = [&](const char* name) {
    return context.Symbol(absl::StrCat(name, axis), symbolic::SymbolKind::kIndex);
  };
  const Expr group = fresh("g"), place = fresh("p");
  std::vector<Expr> indexes;
  for (const LoopOp& op : stage->body.ops) {
    const std::optional<Expr> index = Split(op.index, whole.symbol, length, group, place);
    if (!index.has_value()) return;
    indexes.push_back(*index);
  }
  for (size_t k = 0; k < indexes.size(); ++k) stage->body.ops[k].index = indexes[k];
  spec.axes[axis] = {group, *extent / length, AxisKind::kReduce};
  InsertAfter(spec, axis, {place, length, AxisKind::kReduce});
}

}  // namespace

void SplitGroups(KernelSpec& spec, ExprContext& context) {
  for (int axis = static_cast<int>(spec.axes.size()) - 1; axis >= 0; --axis) {
    if (spec.axes[axis].kind == AxisKind::kReduce) SplitAxis(spec, axis, context);
  }
}

}  // namespace lathe
