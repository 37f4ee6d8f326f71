#include <algorithm>
#include <cmath>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rule.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

using Operands = absl::InlinedVector<Expr, 6>;

// Pairs are compared with each other up to this many operands.
constexpr size_t kLargestPairwise = 8;

ExprKind Other(ExprKind kind) { return kind == ExprKind::kMin ? ExprKind::kMax : ExprKind::kMin; }

// Rows of a pair say what is left of {a, b}: b, when a is not needed beside it.
std::optional<Expr> ByBounds(const RuleInput& in) {
  const Range x = IntrinsicRange(in.x[0]), y = IntrinsicRange(in.x[1]);
  const bool bounded = in.kind == ExprKind::kMin ? x.lower != Range::kMin && x.lower >= y.upper
                                                 : x.upper != Range::kMax && x.upper <= y.lower;
  if (!bounded) return std::nullopt;
  return in.x[1];
}

std::optional<Expr> Absorption(const RuleInput& in) {
  if (in.x[0].kind() != Other(in.kind)) return std::nullopt;
  for (const Expr& inner : in.x[0].operands()) {
    if (inner == in.x[1]) return in.x[1];
  }
  return std::nullopt;
}

std::optional<Expr> ConstantApart(const RuleInput& in) {
  if (in.x[0].is_const() || in.x[1].is_const() || in.x[1].kind() == Other(in.kind)) {
    return std::nullopt;
  }
  const std::optional<int64_t> difference = ConstantDifference(in.x[1], in.x[0]);
  if (!difference) return std::nullopt;
  const bool above = in.kind == ExprKind::kMin ? *difference >= 0 : *difference <= 0;
  return above ? std::optional<Expr>(in.x[1]) : std::nullopt;
}

constexpr Rule kRules[] = {
    {"min_max.by_bounds", "min(x, y) = y", "x >= y by bounds (<= for max)", ByBounds},
    {"min_max.absorption", "min(max(x, y, ...), y) = y, max(min(x, y, ...), y) = y", "always",
     Absorption},
    {"min_max.constant_apart", "min(y + c, y) = y, max(y - c, y) = y", "c >= 0 constant",
     ConstantApart},
};

void DropDominated(ExprContext* context, ExprKind kind, Operands& list) {
  if (list.size() > kLargestPairwise) return;
  for (size_t i = 0; i < list.size();) {
    bool drop = false;
    for (size_t j = 0; j < list.size() && !drop; ++j) {
      const Expr pair[] = {list[i], list[j]};
      drop = i != j && ApplyRules(kRules, {context, kind, pair}).has_value();
    }
    if (drop) {
      list.erase(list.begin() + static_cast<int64_t>(i));
    } else {
      ++i;
    }
  }
}

Expr FloatMinMax(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands) {
  Operands list;
  for (const Expr& e : operands) list.push_back(AsFloatExpr(context, e));
  Operands rest;
  std::optional<double> constant;
  for (const Expr& e : list) {
    const std::optional<double> v = e.AsFloat();
    if (!v || std::isnan(*v)) {
      rest.push_back(e);
    } else if (!constant || (kind == ExprKind::kMin ? *v < *constant : *v > *constant)) {
      constant = v;
    }
  }
  if (constant) rest.push_back(Expr::Float(*constant));
  if (rest.size() == 1) return rest[0];
  return ContextAccess::Intern(context, kind, rest);
}

// Flattens into `list` and folds constants; false when the result is Overflow.
bool Gather(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands, Operands& list) {
  std::optional<int64_t> constant;
  const auto take = [&](const Expr& e) {
    if (e.IsOverflow()) return false;
    if (!e.is_const()) {
      list.push_back(e);
      return true;
    }
    const int64_t v = *e.AsInt();
    constant = !constant                ? v
               : kind == ExprKind::kMin ? std::min(*constant, v)
                                        : std::max(*constant, v);
    return true;
  };
  for (const Expr& operand : operands) {
    const Expr e = AsNumber(context, operand);
    if (e.kind() == kind && e.operands().size() <= kLargestFlattened) {
      for (const Expr& inner : e.operands()) {
        if (!take(inner)) return false;
      }
    } else if (!take(e)) {
      return false;
    }
  }
  if (constant) list.push_back(*constant);
  return true;
}

}  // namespace

absl::Span<const Rule> MinMaxRules() { return kRules; }

Expr SimplifyMinMax(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands) {
  if (operands.empty()) {
    return kind == ExprKind::kMin ? Expr::Infinity() : Expr::NegInfinity();
  }
  for (const Expr& e : operands) {
    if (e.IsOverflow()) return e;
    if (e.type() == ExprType::kFloat) return FloatMinMax(context, kind, operands);
  }
  Operands list;
  if (!Gather(context, kind, operands, list)) return Expr::Overflow();
  const Expr neutral = kind == ExprKind::kMin ? Expr::Infinity() : Expr::NegInfinity();
  const Expr absorbing = kind == ExprKind::kMin ? Expr::NegInfinity() : Expr::Infinity();
  Operands finite;
  for (const Expr& e : list) {
    if (e == absorbing) return absorbing;
    if (e != neutral) finite.push_back(e);
  }
  if (finite.empty()) return neutral;
  std::sort(finite.begin(), finite.end(),
            [](const Expr& a, const Expr& b) { return Compare(a, b) < 0; });
  finite.erase(std::unique(finite.begin(), finite.end()), finite.end());
  DropDominated(context, kind, finite);
  if (finite.size() == 1) return finite[0];
  return ContextAccess::Intern(context, kind, finite);
}

}  // namespace lathe::symbolic
