#include "codegen/cpu/stage_plan.h"

#include <algorithm>

#include "codegen/cpu/expression_text.h"
#include "ir/loops/affine_index.h"
#include "symbolic/evaluate.h"

namespace lathe::cpu {
namespace {

bool IsComparison(OpKind kind) {
  return kind == OpKind::kEq || kind == OpKind::kNe || kind == OpKind::kLt || kind == OpKind::kLe ||
         kind == OpKind::kGt || kind == OpKind::kGe;
}

int LaneBytes(DType dtype) { return std::max(1, BitWidth(dtype) / 8); }

class Planner {
 public:
  Planner(const KernelSpec& spec, const SpecStage& stage)
      : spec_(spec), stage_(stage), ops_(stage.body.ops) {}

  StagePlan Plan(int vector_bytes) {
    plan_.phases = StagePhases(spec_, stage_);
    ChooseShape();
    for (const LoopOp& op : ops_) {
      if (op.kind == OpKind::kStore) stored_.insert(op.buffer);
    }
    for (size_t i = 0; i < ops_.size(); ++i) {
      plan_.varies.push_back(plan_.vector_axis >= 0 && Varies(ops_[i]));
      if (ops_[i].kind == OpKind::kIndirect && plan_.varies[i]) {
        plan_.varying_symbols.insert(ops_[i].symbol);
      }
    }
    FindNarrowComparisons();
    ChooseLanes(vector_bytes);
    return std::move(plan_);
  }

 private:
  void ChooseShape() {
    if (stage_.axes.empty()) return;
    plan_.vector_axis = stage_.axes.back();
    const bool reduces = Reduces();
    const bool last_reduces = spec_.axes[plan_.vector_axis].kind == AxisKind::kReduce;
    plan_.shape = !reduces       ? StageShape::kMap
                  : last_reduces ? StageShape::kRows
                                 : StageShape::kColumns;
  }

  // A stage over reduce axes that only maps elements, as the last pass over a row of softmax does,
  // needs none of a reduction's loops.
  bool Reduces() const {
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (ops_[i].kind == OpKind::kReduce || plan_.phases[i] == OpPhase::kReduced) return true;
    }
    return false;
  }

  const Expr& axis() const { return spec_.axes[plan_.vector_axis].symbol; }

  bool IndexVaries(const Expr& e) const {
    if (e.is_const()) return false;
    for (const Expr& symbol : symbolic::FreeSymbols(e)) {
      if (symbol == axis() || plan_.varying_symbols.contains(symbol)) return true;
    }
    return false;
  }

  bool Varies(const LoopOp& op) const {
    for (int32_t operand : op.operands) {
      if (plan_.varies[operand]) return true;
    }
    if (op.mask != kNoValue && plan_.varies[op.mask]) return true;
    switch (op.kind) {
      case OpKind::kStore:
      case OpKind::kStoreLocal:
      case OpKind::kReduce:
        return true;
      case OpKind::kLoad:
        return stored_.contains(op.buffer) || IndexVaries(op.index);
      case OpKind::kLoadLocal: {
        const std::vector<int>& axes = spec_.locals[op.buffer].axes;
        return std::find(axes.begin(), axes.end(), plan_.vector_axis) != axes.end() ||
               IsStoredHere(op.buffer);
      }
      default:
        return IndexVaries(op.index);
    }
  }

  bool IsStoredHere(BufferId local) const {
    return std::any_of(ops_.begin(), ops_.end(), [&](const LoopOp& op) {
      return op.kind == OpKind::kStoreLocal && op.buffer == local;
    });
  }

  // An i64 index expression or constant that grows by a small constant from lane to lane.
  bool IsSmallRamp(int32_t id) const {
    const LoopOp& op = ops_[id];
    if (op.dtype != DType::kI64) return false;
    if (op.kind == OpKind::kConstant) return true;
    if (op.kind != OpKind::kIndexExpr || op.index.type() != symbolic::ExprType::kInt) return false;
    for (const Expr& symbol : plan_.varying_symbols) {
      if (UsesSymbol(op.index, symbol)) return false;
    }
    const std::optional<Expr> stride = AffineCoefficient(op.index, axis());
    const std::optional<int64_t> value = stride ? stride->AsInt() : std::nullopt;
    return value && *value >= -(1 << 20) && *value <= (1 << 20);
  }

  void FindNarrowComparisons() {
    plan_.narrow.assign(ops_.size(), false);
    plan_.unused.assign(ops_.size(), false);
    std::vector<bool> needed(ops_.size(), false);
    for (size_t i = 0; i < ops_.size(); ++i) {
      const LoopOp& op = ops_[i];
      plan_.narrow[i] = plan_.varies[i] && IsComparison(op.kind) && IsSmallRamp(op.operands[0]) &&
                        IsSmallRamp(op.operands[1]);
      if (!plan_.narrow[i]) {
        for (int32_t operand : op.operands) needed[operand] = true;
      }
      if (op.mask != kNoValue) needed[op.mask] = true;
    }
    for (size_t i = 0; i < ops_.size(); ++i) {
      const OpKind kind = ops_[i].kind;
      plan_.unused[i] = !needed[i] && (kind == OpKind::kIndexExpr || kind == OpKind::kConstant);
    }
  }

  void ChooseLanes(int vector_bytes) {
    int widest = 1;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (!plan_.varies[i] || plan_.unused[i]) continue;
      const LoopOp& op = ops_[i];
      widest = std::max(widest, plan_.narrow[i] ? 4 : LaneBytes(op.dtype));
      if (!plan_.narrow[i]) {
        for (int32_t k : op.operands) widest = std::max(widest, LaneBytes(ops_[k].dtype));
      }
      const DType operand = op.operands.empty() ? op.dtype : ops_[op.operands[0]].dtype;
      plan_.weight += VectorMathName(op.kind, operand).empty() ? 1 : 30;
    }
    // Fewer than 4 lanes gain nothing; with more than kLanes the order of sums would change.
    if (plan_.vector_axis >= 0) plan_.lanes = std::clamp(vector_bytes / widest, 4, kLanes);
  }

  const KernelSpec& spec_;
  const SpecStage& stage_;
  const std::vector<LoopOp>& ops_;
  absl::flat_hash_set<BufferId> stored_;
  StagePlan plan_;
};

}  // namespace

StagePlan PlanStage(const KernelSpec& spec, const SpecStage& stage, int vector_bytes) {
  return Planner(spec, stage).Plan(vector_bytes);
}

absl::string_view VectorMathName(OpKind kind, DType operand) {
  if (!IsFloat(operand)) return "";
  switch (kind) {
    case OpKind::kExp:
      return "Exp";
    case OpKind::kExp2:
      return "Exp2";
    case OpKind::kExpm1:
      return "Expm1";
    case OpKind::kLog:
      return "Log";
    case OpKind::kLog2:
      return "Log2";
    case OpKind::kLog10:
      return "Log10";
    case OpKind::kLog1p:
      return "Log1p";
    case OpKind::kSin:
      return "Sin";
    case OpKind::kCos:
      return "Cos";
    case OpKind::kTan:
      return "Tan";
    case OpKind::kAsin:
      return "Asin";
    case OpKind::kAcos:
      return "Acos";
    case OpKind::kAtan:
      return "Atan";
    case OpKind::kSinh:
      return "Sinh";
    case OpKind::kCosh:
      return "Cosh";
    case OpKind::kTanh:
      return "Tanh";
    case OpKind::kAsinh:
      return "Asinh";
    case OpKind::kAcosh:
      return "Acosh";
    case OpKind::kAtanh:
      return "Atanh";
    case OpKind::kSigmoid:
      return "Sigmoid";
    case OpKind::kErf:
      return "Erf";
    case OpKind::kErfc:
      return "Erfc";
    case OpKind::kFloorDiv:
      return "FloorDivide";
    case OpKind::kTruncDiv:
      return "TruncDivide";
    case OpKind::kRemainder:
      return "Remainder";
    case OpKind::kFmod:
      return "Fmod";
    case OpKind::kPow:
      return "Pow";
    case OpKind::kAtan2:
      return "Atan2";
    case OpKind::kHypot:
      return "Hypot";
    case OpKind::kNextAfter:
      return "NextAfter";
    default:
      return "";
  }
}

}  // namespace lathe::cpu
