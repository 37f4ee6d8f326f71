#include "codegen/plan/index_bounds.h"

#include <algorithm>
#include <utility>

#include "ir/loops/affine_index.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

using symbolic::ExprKind;

class Finder {
 public:
  Finder(const std::vector<IndexVariable>& variables, const ShapeEnv& shapes)
      : variables_(variables), shapes_(shapes), context_(shapes.context()) {}

  std::optional<Expr> Bound(const Expr& whole, bool upper) const {
    const Expr e = WithoutLinear(whole, upper);
    if (!HasVariables(e)) return e;
    switch (e.kind()) {
      case ExprKind::kAdd:
        return BoundOfSum(e, upper);
      case ExprKind::kMul:
        return BoundOfProduct(e, upper);
      case ExprKind::kFloorDiv:
        return BoundOfQuotient(e, upper);
      case ExprKind::kMod:
        return BoundOfRemainder(e, upper);
      case ExprKind::kMin:
      case ExprKind::kMax:
        return Combined(e, e.kind(), 0, upper);
      case ExprKind::kWhere:
        return Combined(e, upper ? ExprKind::kMax : ExprKind::kMin, 1, upper);
      case ExprKind::kSymbol:
        return BoundOfVariable(e, upper);
      default:
        return std::nullopt;
    }
  }

 private:
  bool HasVariables(const Expr& e) const {
    return std::any_of(variables_.begin(), variables_.end(),
                       [&](const IndexVariable& v) { return UsesSymbol(e, v.symbol); });
  }
  bool IsAtLeast(const Expr& e, const Expr& least) const {
    return shapes_.IsKnownTrue(symbolic::Ge(e, least));
  }
  bool IsNonNegative(const Expr& e) const {
    const std::optional<Expr> least = Bound(e, false);
    return least.has_value() && IsAtLeast(*least, 0);
  }

  // Variables that occur linearly are replaced by the end of their range, all their occurrences at
  // once. A coefficient like s1 - 2 may have either sign.
  Expr WithoutLinear(Expr e, bool upper) const {
    for (const IndexVariable& v : variables_) {
      if (e.is_symbol() || !UsesSymbol(e, v.symbol)) continue;
      const std::optional<Expr> step = AffineCoefficient(e, v.symbol);
      if (!step.has_value() || HasVariables(*step)) continue;
      const Expr &there = upper ? v.greatest : v.least, &back = upper ? v.least : v.greatest;
      const Expr end = IsAtLeast(*step, 0) ? there
                       : shapes_.IsKnownTrue(symbolic::Le(*step, 0))
                           ? back
                           : symbolic::Where(symbolic::Ge(*step, 0), there, back);
      e = symbolic::Substitute(e, {{v.symbol, end}}, context_);
    }
    return e;
  }

  std::optional<Expr> BoundOfVariable(const Expr& symbol, bool upper) const {
    for (const IndexVariable& v : variables_) {
      if (v.symbol == symbol) return upper ? v.greatest : v.least;
    }
    return std::nullopt;
  }

  std::optional<Expr> BoundOfSum(const Expr& e, bool upper) const {
    std::vector<Expr> terms;
    for (const Expr& operand : e.operands()) {
      const std::optional<Expr> bound = Bound(operand, upper);
      if (!bound.has_value()) return std::nullopt;
      terms.push_back(*bound);
    }
    return symbolic::Sum(terms);
  }

  // Of factors that are all non-negative, and one constant.
  std::optional<Expr> BoundOfProduct(const Expr& e, bool upper) const {
    bool is_negative = false;
    for (const Expr& operand : e.operands()) {
      const std::optional<int64_t> constant = operand.AsInt();
      if (constant.has_value() && *constant < 0) is_negative = !is_negative;
    }
    std::vector<Expr> factors;
    for (const Expr& operand : e.operands()) {
      const std::optional<int64_t> constant = operand.AsInt();
      if (!constant.has_value() && !IsNonNegative(operand)) return std::nullopt;
      const std::optional<Expr> bound = Bound(operand, upper != is_negative);
      if (!bound.has_value()) return std::nullopt;
      factors.push_back(*bound);
    }
    return symbolic::Product(factors);
  }

  Expr Divisor(const Expr& e) const { return IsAtLeast(e, 1) ? e : symbolic::Max(e, 1); }

  std::optional<Expr> BoundOfQuotient(const Expr& e, bool upper) const {
    const Expr &a = e.operands()[0], &b = e.operands()[1];
    const std::optional<Expr> bound = Bound(a, upper);
    if (!bound.has_value() || HasVariables(b) || !IsAtLeast(b, 0)) return std::nullopt;
    return symbolic::FloorDiv(*bound, Divisor(b));
  }

  std::optional<Expr> BoundOfRemainder(const Expr& e, bool upper) const {
    const Expr &a = e.operands()[0], &b = e.operands()[1];
    if (HasVariables(b) || !IsAtLeast(b, 0)) return std::nullopt;
    if (!upper) return Expr(0);
    const std::optional<Expr> most = Bound(a, true);
    if (!most.has_value() || !IsNonNegative(a)) return Divisor(b) - 1;
    return symbolic::Min(*most, Divisor(b) - 1);
  }

  std::optional<Expr> Combined(const Expr& e, ExprKind kind, size_t first, bool upper) const {
    std::optional<Expr> result;
    for (size_t k = first; k < e.operands().size(); ++k) {
      const std::optional<Expr> bound = Bound(e.operands()[k], upper);
      if (!bound.has_value()) return std::nullopt;
      if (!result.has_value()) {
        result = bound;
      } else {
        result = kind == ExprKind::kMin ? symbolic::Min(*result, *bound)
                                        : symbolic::Max(*result, *bound);
      }
    }
    return result;
  }

  const std::vector<IndexVariable>& variables_;
  const ShapeEnv& shapes_;
  ExprContext& context_;
};

}  // namespace

std::optional<IndexInterval> IntervalOf(const Expr& index,
                                        const std::vector<IndexVariable>& variables,
                                        const ShapeEnv& shapes) {
  const Finder finder(variables, shapes);
  const std::optional<Expr> least = finder.Bound(index, false);
  const std::optional<Expr> greatest = finder.Bound(index, true);
  if (!least.has_value() || !greatest.has_value()) return std::nullopt;
  return IndexInterval{*least, *greatest};
}

}  // namespace lathe
