#include "codegen/plan/load_bounds.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "codegen/plan/index_bounds.h"
#include "codegen/plan/mask_bounds.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using Replacements = absl::flat_hash_map<Expr, Expr>;

// s1 -> s0 for s0 == s1.
Replacements EqualSymbols(const std::vector<Expr>& conditions, ExprContext& context) {
  Replacements result;
  for (const Expr& condition : conditions) {
    const Expr e = symbolic::Substitute(condition, result, context);
    if (e.kind() != symbolic::ExprKind::kEq) continue;
    Expr a = e.operands()[0], b = e.operands()[1];
    if (!b.is_symbol()) std::swap(a, b);
    if (!b.is_symbol() || !(a.is_symbol() || a.is_const())) continue;
    for (auto& [symbol, to] : result) to = symbolic::Substitute(to, {{b, a}}, context);
    result.emplace(b, a);
  }
  return result;
}

class Bounds {
 public:
  Bounds(const ScheduledKernel& kernel, const ShapeEnv& shapes, const std::vector<Expr>& assumed)
      : kernel_(kernel), shapes_(shapes), context_(shapes.context()), assumed_(assumed) {
    for (size_t k = 0; k < kernel.symbols.size(); ++k) {
      sizes_[kernel.spec.symbols[k]] = kernel.symbols[k];
    }
    for (const SpecAxis& axis : kernel.spec.axes) {
      const Expr extent = InProgram(axis.extent);
      extents_.push_back(extent);
      axes_.push_back({axis.symbol, 0, extent - 1});
    }
  }

  std::vector<BoundsCondition> Run() {
    for (const SpecStage& stage : kernel_.spec.stages) {
      std::vector<IndexVariable> variables = axes_;
      for (const LoopOp& op : stage.body.ops) {
        // An index from data is checked where it comes from.
        if (op.kind == OpKind::kIndirect) {
          variables.push_back({op.symbol, 0, InProgram(op.index) - 1});
        } else if (op.kind == OpKind::kLoad || op.kind == OpKind::kStore) {
          CheckAccess(stage, op, variables);
        }
      }
    }
    return std::move(result_);
  }

 private:
  Expr InProgram(const Expr& e) const { return symbolic::Substitute(e, sizes_, context_); }

  void CheckAccess(const SpecStage& stage, const LoopOp& op,
                   const std::vector<IndexVariable>& variables) {
    const Value* buffer = kernel_.buffers[op.buffer];
    if (!buffer->type.is_tensor()) return;
    const Expr index = InProgram(op.index), last = LastElement(buffer->type.tensor());
    const std::optional<IndexInterval> whole = IntervalOf(index, variables, shapes_);
    if (whole.has_value() && IsInside(*whole, last)) return;
    Expr never = symbolic::Eq(Runs(stage), 0);
    // An index that no rule bounds is left alone.
    if (op.mask == kNoValue) {
      if (whole.has_value()) RequireInside(buffer, never, *whole, *whole, last);
      return;
    }
    const MaskedIndex masked = ApplyMask(stage.body, op.mask, index, variables, shapes_,
                                         [this](const Expr& e) { return InProgram(e); });
    const std::optional<IndexInterval> part = IntervalOf(masked.index, masked.variables, shapes_);
    // A mask that says more than is understood here checks itself.
    if (!part.has_value() || !masked.is_understood) return;
    // Of constant sizes the type rules know all; here a mask may say more than its intervals.
    const bool is_constant = symbolic::FreeSymbols(part->greatest).empty() &&
                             symbolic::FreeSymbols(part->least).empty() &&
                             symbolic::FreeSymbols(last).empty();
    if (is_constant) return;
    for (const Expr& empty : masked.empty) never = symbolic::Or(never, empty);
    RequireInside(buffer, never, whole.value_or(*part), *part, last);
  }

  // Neither interval is too narrow: each end may be taken from either.
  void RequireInside(const Value* buffer, const Expr& never, const IndexInterval& a,
                     const IndexInterval& b, const Expr& last) {
    const auto below = [&](const IndexInterval& i) { return symbolic::Le(i.greatest, last); };
    const auto above = [&](const IndexInterval& i) { return symbolic::Ge(i.least, 0); };
    Require(buffer, never, below(a), below(b));
    Require(buffer, never, above(a), above(b));
  }

  static Expr LastElement(const TensorType& type) {
    std::vector<Expr> terms;
    for (int d = 0; d < type.rank(); ++d) {
      terms.push_back((type.sizes[d] - 1) * type.strides[d]);
    }
    return symbolic::Sum(terms);
  }

  bool IsInside(const IndexInterval& interval, const Expr& last) const {
    return shapes_.IsKnownTrue(symbolic::Le(interval.greatest, last)) &&
           shapes_.IsKnownTrue(symbolic::Ge(interval.least, 0));
  }

  // How often the stage's body runs.
  Expr Runs(const SpecStage& stage) const {
    std::vector<Expr> runs;
    for (size_t k = 0; k < extents_.size(); ++k) {
      const int axis = static_cast<int>(k);
      const auto among = [axis](const std::vector<int>& axes) {
        return std::find(axes.begin(), axes.end(), axis) != axes.end();
      };
      if (among(kernel_.spec.outer) || among(stage.axes)) runs.push_back(extents_[k]);
    }
    return symbolic::Product(runs);
  }

  // A loop that never runs touches nothing.
  void Require(const Value* buffer, const Expr& never, const Expr& one, const Expr& other) {
    if (shapes_.IsKnownTrue(one) || shapes_.IsKnownTrue(other)) return;
    const Expr condition = one == other ? one : symbolic::Or(one, other);
    const Expr whole = symbolic::Or(never, condition);
    for (const BoundsCondition& known : result_) {
      if (known.condition == whole) return;
    }
    if (IsImplied(condition) || IsImplied(whole)) return;
    result_.push_back({buffer, whole});
  }

  // Most kernels never ask.
  bool IsImplied(const Expr& condition) {
    if (!equal_.has_value()) equal_ = EqualSymbols(assumed_, context_);
    return shapes_.IsKnownTrue(symbolic::Substitute(condition, *equal_, context_));
  }

  const ScheduledKernel& kernel_;
  const ShapeEnv& shapes_;
  ExprContext& context_;
  const std::vector<Expr>& assumed_;
  std::optional<Replacements> equal_;
  Replacements sizes_;
  std::vector<Expr> extents_;
  std::vector<IndexVariable> axes_;
  std::vector<BoundsCondition> result_;
};

}  // namespace

std::vector<BoundsCondition> UnprovedBounds(const ScheduledKernel& kernel, const ShapeEnv& shapes,
                                            const std::vector<Expr>& assumed) {
  return Bounds(kernel, shapes, assumed).Run();
}

std::vector<BoundsCondition> KnownBounds::Of(const ScheduledKernel& kernel, int32_t number,
                                             const ShapeEnv& shapes,
                                             const std::vector<Expr>& assumed) {
  words_.clear();
  words_.Add(static_cast<uint64_t>(number));
  words_.Add(static_cast<uint64_t>(shapes.version()));
  words_.Add(assumed.size());
  for (const Expr& symbol : kernel.symbols) words_.Add(symbol);
  for (const Value* buffer : kernel.buffers) words_.Add(buffer->type);
  const size_t place = classes_.Of(words_);
  if (place < known_.size()) {
    std::vector<BoundsCondition> result;
    for (const auto& [k, condition] : known_[place]) {
      result.push_back({kernel.buffers[k], condition});
    }
    return result;
  }
  std::vector<BoundsCondition> result = UnprovedBounds(kernel, shapes, assumed);
  Known& known = known_.emplace_back();
  for (const BoundsCondition& bounds : result) {
    const auto at = std::find(kernel.buffers.begin(), kernel.buffers.end(), bounds.buffer);
    known.push_back({at - kernel.buffers.begin(), bounds.condition});
  }
  return result;
}

}  // namespace lathe
