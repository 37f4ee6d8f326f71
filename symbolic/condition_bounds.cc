#include "symbolic/condition_bounds.h"

namespace lathe::symbolic {
namespace {

constexpr size_t kMostAlternatives = 4;  // of a condition "a or b"

// What is >= 0 when `condition` holds.
std::vector<Polynomial> Bounds(Knowledge& k, const Expr& condition) {
  const bool none =
      condition.kind() == ExprKind::kNot && condition.operands()[0].kind() == ExprKind::kOr;
  if (condition.kind() == ExprKind::kAnd || none) {
    std::vector<Polynomial> all;
    for (const Expr& part : none ? condition.operands()[0].operands() : condition.operands()) {
      const std::vector<Polynomial> some = Bounds(k, none ? Not(part) : part);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  if (condition.operands().size() != 2) return {};
  const Expr& a = condition.operands()[0];
  const Expr& b = condition.operands()[1];
  if (a.type() != ExprType::kInt || b.type() != ExprType::kInt) return {};
  const Polynomial p = Difference(b, a), negated = Scaled(p, -1);
  Polynomial one;
  one.constant = 1;
  switch (condition.kind()) {
    case ExprKind::kEq:
      return {p, negated};
    case ExprKind::kLt:
      return {AddScaled(p, one, -1)};
    case ExprKind::kLe:
      return {p};
    case ExprKind::kNe:  // not 0, and on one side of it
      if (k.RangeOf(p).lower >= 0) return {AddScaled(p, one, -1)};
      if (k.RangeOf(p).upper <= 0) return {AddScaled(negated, one, -1)};
      return {};
    default:
      return {};
  }
}

}  // namespace

std::vector<std::vector<Polynomial>> AlternativeBounds(Knowledge& k, const Expr& condition) {
  const absl::Span<const Expr> parts = condition.operands();
  std::vector<std::vector<Polynomial>> result;
  if (condition.kind() == ExprKind::kOr && parts.size() <= kMostAlternatives) {
    for (const Expr& part : parts) result.push_back(Bounds(k, part));
    return result;
  }
  const bool none = condition.kind() == ExprKind::kNot && parts[0].kind() == ExprKind::kAnd &&
                    parts[0].operands().size() <= kMostAlternatives;
  if (none) {
    for (const Expr& part : parts[0].operands()) result.push_back(Bounds(k, Not(part)));
    return result;
  }
  return {Bounds(k, condition)};
}

}  // namespace lathe::symbolic
