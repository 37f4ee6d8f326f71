#include "codegen/plan/mask_bounds.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ir/loops/affine_index.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

// sum is at least `least` and at most `greatest`; the sum has variables, the limits have none.
struct Limits {
  Expr sum;
  std::optional<Expr> least, greatest;
};

class Narrower {
 public:
  Narrower(const LoopBody& body, Expr index, std::vector<IndexVariable> variables,
           const ShapeEnv& shapes, const std::function<Expr(const Expr&)>& in_program)
      : body_(body), shapes_(shapes), in_program_(in_program) {
    out_.index = index;
    out_.variables = std::move(variables);
  }

  MaskedIndex Run(int32_t mask) {
    Collect(mask);
    for (Limits& limits : limits_) {
      ClearQuotient(limits);
      if (!NarrowVariable(limits)) NarrowSum(limits);
    }
    return std::move(out_);
  }

 private:
  void Collect(int32_t id) {
    const LoopOp& op = body_.ops[id];
    switch (op.kind) {
      case OpKind::kAnd:
        Collect(op.operands[0]);
        Collect(op.operands[1]);
        return;
      case OpKind::kLe:
        return AddAtMost(op.operands[0], op.operands[1], 0);
      case OpKind::kLt:
        return AddAtMost(op.operands[0], op.operands[1], 1);
      case OpKind::kGe:
        return AddAtMost(op.operands[1], op.operands[0], 0);
      case OpKind::kGt:
        return AddAtMost(op.operands[1], op.operands[0], 1);
      case OpKind::kEq:
        AddAtMost(op.operands[0], op.operands[1], 0);
        return AddAtMost(op.operands[1], op.operands[0], 0);
      default:
        out_.is_understood = false;
    }
  }

  std::optional<Expr> PositionOf(int32_t id) const {
    const LoopOp& op = body_.ops[id];
    if (op.kind == OpKind::kIndexExpr) return in_program_(op.index);
    if (op.kind == OpKind::kConstant && op.constant.is_int()) return Expr(op.constant.ToInt());
    return std::nullopt;
  }

  // a + gap <= b.
  void AddAtMost(int32_t a, int32_t b, int64_t gap) {
    const std::optional<Expr> x = PositionOf(a), y = PositionOf(b);
    if (!x.has_value() || !y.has_value()) {
      out_.is_understood = false;
      return;
    }
    const Expr slack = *y - *x - gap;  // >= 0
    std::vector<Expr> moving, fixed;
    if (slack.kind() == symbolic::ExprKind::kAdd) {
      for (const Expr& term : slack.operands()) (IsMoving(term) ? moving : fixed).push_back(term);
    } else {
      (IsMoving(slack) ? moving : fixed).push_back(slack);
    }
    if (moving.empty()) return;  // the same for the whole loop
    const Expr sum = symbolic::Sum(moving), rest = symbolic::Sum(fixed);
    for (Limits& limits : limits_) {
      if (limits.sum == sum) return Raise(&limits.least, -rest);
      if (limits.sum == -sum) return Lower(&limits.greatest, rest);
    }
    limits_.push_back({sum, -rest, std::nullopt});
  }

  bool IsMoving(const Expr& e) const {
    return std::any_of(out_.variables.begin(), out_.variables.end(),
                       [&](const IndexVariable& v) { return UsesSymbol(e, v.symbol); });
  }

  void Raise(std::optional<Expr>* least, const Expr& to) const {
    *least = !least->has_value() || shapes_.IsKnownTrue(symbolic::Le(**least, to))
                 ? to
                 : symbolic::Max(**least, to);
  }
  void Lower(std::optional<Expr>* greatest, const Expr& to) const {
    *greatest = !greatest->has_value() || shapes_.IsKnownTrue(symbolic::Ge(**greatest, to))
                    ? to
                    : symbolic::Min(**greatest, to);
  }

  // a + x//d <= n is d*a + x <= d*n + d - 1, and a + x//d >= n is d*a + x >= d*n.
  static void ClearQuotient(Limits& limits) {
    for (const bool negated : {false, true}) {
      const Expr sum = negated ? -limits.sum : limits.sum;
      if (sum.kind() != symbolic::ExprKind::kAdd) continue;
      for (const Expr& term : sum.operands()) {
        if (term.kind() != symbolic::ExprKind::kFloorDiv) continue;
        const std::optional<int64_t> d = term.operands()[1].AsInt();
        if (!d.has_value() || *d < 1) continue;
        if (negated) {
          std::swap(limits.least, limits.greatest);
          if (limits.least.has_value()) limits.least = -*limits.least;
          if (limits.greatest.has_value()) limits.greatest = -*limits.greatest;
        }
        limits.sum = (sum - term) * *d + term.operands()[0];
        if (limits.least.has_value()) limits.least = *limits.least * *d;
        if (limits.greatest.has_value()) limits.greatest = *limits.greatest * *d + (*d - 1);
        return;
      }
    }
  }

  // The coefficient of `symbol` in `sum` if it is a constant other than 0.
  std::optional<int64_t> Factor(const Expr& sum, const Expr& symbol) const {
    const std::optional<Expr> factor = AffineCoefficient(sum, symbol);
    const std::optional<int64_t> value = factor.has_value() ? factor->AsInt() : std::nullopt;
    return value == 0 ? std::nullopt : value;
  }

  void Note(const Expr& least, const Expr& greatest) {
    const Expr empty = symbolic::Gt(least, greatest);
    if (!shapes_.IsKnownFalse(empty)) out_.empty.push_back(empty);
  }

  // A constant times one variable.
  bool NarrowVariable(const Limits& limits) {
    for (IndexVariable& v : out_.variables) {
      const std::optional<int64_t> factor = Factor(limits.sum, v.symbol);
      if (!factor.has_value() || !(limits.sum == v.symbol * *factor)) continue;
      std::optional<Expr> least = limits.least, greatest = limits.greatest;
      if (*factor < 0) {
        std::swap(least, greatest);
        if (least.has_value()) least = -*least;
        if (greatest.has_value()) greatest = -*greatest;
      }
      const int64_t step = *factor < 0 ? -*factor : *factor;
      std::optional<Expr> from = v.least, to = v.greatest;
      if (least.has_value()) Raise(&from, symbolic::CeilDiv(*least, step));
      if (greatest.has_value()) Lower(&to, symbolic::FloorDiv(*greatest, step));
      v.least = *from;
      v.greatest = *to;
      Note(v.least, v.greatest);
      return true;
    }
    return false;
  }

  // A sum of several variables that the index holds as a whole becomes one variable.
  void NarrowSum(const Limits& limits) {
    for (const IndexVariable& v : out_.variables) {
      const std::optional<int64_t> factor = Factor(limits.sum, v.symbol);
      const std::optional<Expr> step = AffineCoefficient(out_.index, v.symbol);
      if (!factor.has_value() || !step.has_value() || *step == Expr(0)) continue;
      const bool is_unit = *factor == 1 || *factor == -1;
      const Expr times = is_unit ? *step * *factor : symbolic::FloorDiv(*step, *factor);
      if (!(times * *factor == *step)) continue;
      const Expr rest = out_.index - times * limits.sum;
      if (UsesSymbol(rest, v.symbol)) continue;
      const std::optional<IndexInterval> range = IntervalOf(limits.sum, out_.variables, shapes_);
      if (!range.has_value()) continue;
      std::optional<Expr> least = range->least, greatest = range->greatest;
      if (limits.least.has_value()) Raise(&least, *limits.least);
      if (limits.greatest.has_value()) Lower(&greatest, *limits.greatest);
      const Expr whole = shapes_.context().Symbol(absl::StrCat("$sum", out_.variables.size()),
                                                  symbolic::SymbolKind::kIndex);
      Note(*least, *greatest);
      out_.index = rest + times * whole;
      out_.variables.push_back({whole, *least, *greatest});
      return;
    }
    out_.is_understood = false;
  }

  const LoopBody& body_;
  const ShapeEnv& shapes_;
  const std::function<Expr(const Expr&)>& in_program_;
  std::vector<Limits> limits_;
  MaskedIndex out_;
};

}  // namespace

MaskedIndex ApplyMask(const LoopBody& body, int32_t mask, Expr index,
                      std::vector<IndexVariable> variables, const ShapeEnv& shapes,
                      const std::function<Expr(const Expr&)>& in_program) {
  return Narrower(body, std::move(index), std::move(variables), shapes, in_program).Run(mask);
}

}  // namespace lathe
