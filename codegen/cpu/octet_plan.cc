#include "codegen/cpu/octet_plan.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "codegen/cpu/expression_text.h"
#include "ir/loops/affine_index.h"
#include "ir/loops/stage_work.h"
#include "symbolic/evaluate.h"

namespace lathe::cpu {
namespace {

constexpr int kWidestPacked = 4;  // bits: an octet is one word
constexpr size_t kMostLoads = 2;
constexpr int kDirectly = 8;  // operations, a rounding to 16 bits counted as several
constexpr int kRoundingCost = 5;
constexpr double kFewElements = 1 << 16;  // not worth the text
// A row's shared values stay in the first caches, and in the scratch of one call.
constexpr int64_t kMostSharedBytes = 60 << 10;

class Planner {
 public:
  Planner(const KernelSpec& spec, const SpecStage& stage, const StagePlan& plan, int vector_bytes)
      : spec_(spec),
        stage_(stage),
        plan_(plan),
        vector_bytes_(vector_bytes),
        ops_(stage.body.ops),
        axis_(spec.axes[stage.axes.back()].symbol) {}

  OctetPlan Run() {
    result_.table_of.assign(ops_.size(), -1);
    result_.in_loop.assign(ops_.size(), false);
    result_.for_shared.assign(ops_.size(), false);
    FindSteady();
    bool fine = HasAllowedAxes() && FindGroups();
    FindTables();
    for (size_t i = 0; i < ops_.size() && fine; ++i) {
      if (ops_[i].kind == OpKind::kReduce) {
        fine = !IsArgument(ops_[i].reduce) && TakeOperands(ops_[i]);
      }
      if (IsElement(i) && HasEffect(ops_[i].kind)) fine = false;
    }
    result_.applies = fine && !result_.loads.empty() && result_.loads.size() <= kMostLoads &&
                      SharedBytes() <= kMostSharedBytes;
    if (!result_.applies) result_.groups = 1;
    return std::move(result_);
  }

 private:
  static bool HasEffect(OpKind kind) {
    return kind == OpKind::kStore || kind == OpKind::kStoreLocal || kind == OpKind::kCheck ||
           kind == OpKind::kIndirect;
  }
  bool IsElement(size_t id) const {
    return plan_.varies[id] && plan_.phases[id] != OpPhase::kReduced && !plan_.unused[id];
  }

  // One row, of known length.
  bool HasAllowedAxes() const {
    const std::vector<int> axes = ReduceAxes(spec_, stage_);
    return (axes.size() == 1 || (axes.size() == 2 && InnerReducesInLine(spec_, stage_))) &&
           std::all_of(axes.begin(), axes.end(),
                       [&](int axis) { return spec_.axes[axis].extent.AsInt().has_value(); });
  }

  // Of groups shorter than kLanes: what varies along the row goes on from group to group.
  bool FindGroups() {
    const std::vector<int> axes = ReduceAxes(spec_, stage_);
    const int64_t length = *spec_.axes[axes.back()].extent.AsInt();
    if (axes.size() == 1 || length >= kLanes) return true;
    result_.groups = static_cast<int>(kLanes / length);
    const Expr& group = spec_.axes[axes[0]].symbol;
    for (size_t i = 0; i < ops_.size(); ++i) {
      const LoopOp& op = ops_[i];
      const bool indexes = op.kind == OpKind::kLoad || op.kind == OpKind::kIndexExpr;
      if (!indexes || !plan_.varies[i]) continue;
      const auto inner = AffineCoefficient(op.index, axis_);
      const auto outer = AffineCoefficient(op.index, group);
      if (!inner || !outer || *outer != *inner * Expr(length)) return false;
      if (IsPackedLoad(op) && !IsMultipleOfEight(op.index, axis_)) return false;
    }
    return true;
  }

  int64_t SharedBytes() const {
    int64_t elements = 1;
    for (int axis : ReduceAxes(spec_, stage_)) {
      elements *= std::min<int64_t>(*spec_.axes[axis].extent.AsInt(), kMostSharedBytes);
    }
    return elements * 4 * static_cast<int64_t>(result_.shared.size());
  }

  // The same for all rows: of inputs, constants and the axes that reduce.
  void FindSteady() {
    absl::flat_hash_set<Expr> rows;
    for (const SpecAxis& axis : spec_.axes) {
      if (axis.kind != AxisKind::kReduce) rows.insert(axis.symbol);
    }
    for (const LoopOp& op : ops_) {
      if (op.kind == OpKind::kIndirect) rows.insert(op.symbol);
    }
    for (const LoopOp& op : ops_) {
      bool steady =
          op.mask == kNoValue && !HasEffect(op.kind) && op.kind != OpKind::kReduce &&
          op.kind != OpKind::kLoadLocal &&
          (op.operands.empty() || !IsIntegerDivision(op.kind, ops_[op.operands[0]].dtype));
      for (int32_t operand : op.operands) steady = steady && steady_[operand];
      if (op.kind == OpKind::kLoad) {
        steady = steady && spec_.buffers[op.buffer].role == BufferRole::kIn;
      }
      if (op.kind == OpKind::kLoad || op.kind == OpKind::kIndexExpr) {
        for (const Expr& symbol : symbolic::FreeSymbols(op.index)) {
          steady = steady && !rows.contains(symbol);
        }
      }
      steady_.push_back(steady);
    }
  }

  bool IsPackedLoad(const LoopOp& op) const {
    if (op.kind != OpKind::kLoad || !IsSubByte(op.dtype) || BitWidth(op.dtype) > kWidestPacked ||
        op.mask != kNoValue || AffineCoefficient(op.index, axis_) != Expr(1)) {
      return false;
    }
    return std::none_of(plan_.varying_symbols.begin(), plan_.varying_symbols.end(),
                        [&](const Expr& symbol) { return UsesSymbol(op.index, symbol); });
  }

  // Arithmetic on each lane by itself that does not fail.
  bool IsLaneWise(const LoopOp& op) const {
    switch (op.kind) {
      case OpKind::kLoad:
      case OpKind::kLoadLocal:
      case OpKind::kIndexExpr:
      case OpKind::kReduce:
        return false;
      default:
        return op.mask == kNoValue && !HasEffect(op.kind) &&
               (op.operands.empty() || !IsIntegerDivision(op.kind, ops_[op.operands[0]].dtype));
    }
  }

  // Tables need an instruction that looks a whole vector up, and one or two vectors for entries.
  void FindTables() {
    for (size_t i = 0; i < ops_.size(); ++i) {
      const LoopOp& op = ops_[i];
      if (!IsElement(i) || plan_.lanes * 4 != vector_bytes_ || result_.groups > 1) continue;
      if (IsPackedLoad(op) && 1 << BitWidth(op.dtype) <= 2 * plan_.lanes) {
        result_.table_of[i] = static_cast<int>(i);
      } else if (IsLaneWise(op)) {
        result_.table_of[i] = TableOfOperands(op);
      }
    }
  }
  int TableOfOperands(const LoopOp& op) const {
    int load = -1;
    for (int32_t operand : op.operands) {
      if (!plan_.varies[operand]) continue;
      const int other = result_.table_of[operand];
      if (other < 0 || (load >= 0 && load != other)) return -1;
      load = other;
    }
    return load;
  }

  // Two vectors take three instructions more than the few that they replace.
  bool IsWorthTable(int id) const {
    if (1 << BitWidth(ops_[result_.table_of[id]].dtype) <= plan_.lanes) return true;
    std::vector<bool> needed(ops_.size(), false);
    needed[id] = true;
    int count = 0;
    for (int i = id; i >= 0; --i) {
      if (!needed[i] || !plan_.varies[i]) continue;
      const bool rounds = IsFloat(ops_[i].dtype) && BitWidth(ops_[i].dtype) < 32;
      count += rounds ? kRoundingCost : 1;
      for (int32_t operand : ops_[i].operands) needed[operand] = true;
    }
    return count > kDirectly;
  }

  static bool FitsWords(DType dtype) { return BitWidth(dtype) == 32; }

  // Decides how the loop gets the value of `id`; false: not at all.
  bool Take(int id) {
    if (!plan_.varies[id] || result_.in_loop[id] || Contains(result_.shared, id) ||
        Contains(result_.tables, id)) {
      return true;
    }
    const LoopOp& op = ops_[id];
    if (steady_[id] && !IsPackedLoad(op)) {
      if (!FitsWords(op.dtype)) return false;
      result_.shared.push_back(id);
      NeedForShared(id);
      return true;
    }
    if (result_.table_of[id] >= 0 && FitsWords(op.dtype) && IsWorthTable(id)) {
      result_.tables.push_back(id);
      AddLoad(result_.table_of[id]);
      return true;
    }
    result_.in_loop[id] = true;
    if (IsPackedLoad(op)) {
      AddLoad(id);
      return true;
    }
    if (!IsLaneWise(op)) return false;
    return TakeOperands(op);
  }
  bool TakeOperands(const LoopOp& op) {
    return std::all_of(op.operands.begin(), op.operands.end(),
                       [&](int32_t operand) { return Take(operand); });
  }

  void AddLoad(int id) {
    if (!Contains(result_.loads, id)) result_.loads.push_back(id);
  }

  void NeedForShared(int id) {
    if (result_.for_shared[id]) return;
    result_.for_shared[id] = true;
    for (int32_t operand : ops_[id].operands) NeedForShared(operand);
  }

  static bool Contains(const std::vector<int>& ids, int id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  }

  const KernelSpec& spec_;
  const SpecStage& stage_;
  const StagePlan& plan_;
  const int vector_bytes_;
  const std::vector<LoopOp>& ops_;
  const Expr axis_;
  std::vector<bool> steady_;
  OctetPlan result_;
};

}  // namespace

OctetPlan PlanOctets(const KernelSpec& spec, const SpecStage& stage, const StagePlan& plan,
                     int vector_bytes) {
  const bool fits = plan.shape == StageShape::kRows && (plan.lanes == 8 || plan.lanes == 16) &&
                    plan.lanes * 4 <= vector_bytes && ExpectedElements(spec, stage) >= kFewElements;
  return fits ? Planner(spec, stage, plan, vector_bytes).Run() : OctetPlan();
}

bool IsMultipleOfEight(const Expr& e, const Expr& axis) {
  if (e == axis) return true;
  if (std::optional<int64_t> value = e.AsInt()) return *value % 8 == 0;
  const auto is_multiple = [&](const Expr& part) { return IsMultipleOfEight(part, axis); };
  if (e.kind() == symbolic::ExprKind::kAdd) {
    return std::all_of(e.operands().begin(), e.operands().end(), is_multiple);
  }
  if (e.kind() == symbolic::ExprKind::kMul) {
    return std::any_of(e.operands().begin(), e.operands().end(), is_multiple);
  }
  return false;
}

}  // namespace lathe::cpu
