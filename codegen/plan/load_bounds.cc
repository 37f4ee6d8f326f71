#include "codegen/plan/load_bounds.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "ir/loops/affine_index.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

class Bounds {
 public:
  Bounds(const ScheduledKernel& kernel, const ShapeEnv& shapes)
      : kernel_(kernel), shapes_(shapes), context_(shapes.context()) {
    for (size_t k = 0; k < kernel.symbols.size(); ++k) {
      sizes_[kernel.spec.symbols[k]] = kernel.symbols[k];
    }
    for (const SpecAxis& axis : kernel.spec.axes) extents_.push_back(InProgram(axis.extent));
  }

  std::vector<BoundsCondition> Run() {
    for (const SpecStage& stage : kernel_.spec.stages) {
      for (const LoopOp& op : stage.body.ops) {
        if (op.kind == OpKind::kLoad && op.mask == kNoValue) CheckLoad(stage, op);
      }
    }
    return std::move(result_);
  }

 private:
  struct Interval {
    Expr lowest, highest;
  };

  Expr InProgram(const Expr& e) const { return symbolic::Substitute(e, sizes_, context_); }

  // nullopt when the index is not affine in the axes.
  std::optional<Interval> IntervalOf(const Expr& index) const {
    Interval interval{index, index};
    for (size_t k = 0; k < extents_.size(); ++k) {
      const Expr& axis = kernel_.spec.axes[k].symbol;
      if (!UsesSymbol(index, axis)) continue;
      const std::optional<Expr> step = AffineCoefficient(index, axis, context_);
      if (!step.has_value()) return std::nullopt;
      for (const SpecAxis& other : kernel_.spec.axes) {
        if (UsesSymbol(*step, other.symbol)) return std::nullopt;
      }
      const bool up = shapes_.IsKnownTrue(symbolic::Ge(*step, 0));
      if (!up && !shapes_.IsKnownTrue(symbolic::Le(*step, 0))) return std::nullopt;
      const auto at = [&](const Expr& e, const Expr& value) {
        return symbolic::Substitute(e, {{axis, value}}, context_);
      };
      interval.lowest = at(interval.lowest, up ? Expr(0) : extents_[k] - 1);
      interval.highest = at(interval.highest, up ? extents_[k] - 1 : Expr(0));
    }
    return interval;
  }

  void CheckLoad(const SpecStage& stage, const LoopOp& op) {
    const Value* buffer = kernel_.buffers[op.buffer];
    if (!buffer->type.is_tensor()) return;
    const std::optional<Interval> interval = IntervalOf(InProgram(op.index));
    if (!interval.has_value()) return;
    const TensorType& type = buffer->type.tensor();
    Expr last = 0;
    for (int d = 0; d < type.rank(); ++d) {
      last = last + (type.sizes[d] - 1) * type.strides[d];
    }
    Expr runs = 1;
    for (size_t k = 0; k < extents_.size(); ++k) {
      const int axis = static_cast<int>(k);
      const auto among = [axis](const std::vector<int>& axes) {
        return std::find(axes.begin(), axes.end(), axis) != axes.end();
      };
      if (among(kernel_.spec.outer) || among(stage.axes)) runs = runs * extents_[k];
    }
    Require(buffer, runs, symbolic::Le(interval->highest, last));
    Require(buffer, runs, symbolic::Ge(interval->lowest, 0));
  }

  // A loop that never runs reads nothing.
  void Require(const Value* buffer, const Expr& runs, const Expr& condition) {
    if (shapes_.IsKnownTrue(condition)) return;
    const Expr whole = symbolic::Or(symbolic::Eq(runs, 0), condition);
    for (const BoundsCondition& known : result_) {
      if (known.condition == whole) return;
    }
    if (!shapes_.IsKnownTrue(whole)) result_.push_back({buffer, whole});
  }

  const ScheduledKernel& kernel_;
  const ShapeEnv& shapes_;
  ExprContext& context_;
  absl::flat_hash_map<Expr, Expr> sizes_;
  std::vector<Expr> extents_;
  std::vector<BoundsCondition> result_;
};

}  // namespace

std::vector<BoundsCondition> UnprovedBounds(const ScheduledKernel& kernel, const ShapeEnv& shapes) {
  return Bounds(kernel, shapes).Run();
}

}  // namespace lathe
