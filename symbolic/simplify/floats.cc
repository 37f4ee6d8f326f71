#include <cmath>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/float_values.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

std::optional<double> FoldFloat(ExprKind kind, const double* v) {
  switch (kind) {
    case ExprKind::kFloatAdd:
      return v[0] + v[1];
    case ExprKind::kFloatMul:
      return v[0] * v[1];
    case ExprKind::kFloatPow:
      return std::pow(v[0], v[1]);
    case ExprKind::kSqrt:
      return std::sqrt(v[0]);
    case ExprKind::kLog2:
      return std::log2(v[0]);
    case ExprKind::kTrueDiv:
      return v[1] == 0 ? std::nullopt : std::optional<double>(v[0] / v[1]);
    default:
      return std::nullopt;
  }
}

bool IsRounding(ExprKind kind) {
  return kind == ExprKind::kFloor || kind == ExprKind::kCeil || kind == ExprKind::kTrunc ||
         kind == ExprKind::kRound;
}

Expr SimplifyRounding(ExprContext* context, ExprKind kind, const Expr& a) {
  if (a.type() != ExprType::kFloat) return AsNumber(context, a);
  if (const std::optional<double> v = a.AsFloat()) {
    const std::optional<int64_t> rounded = RoundToInteger(kind, *v);
    return rounded ? Expr(*rounded) : Expr::Overflow();
  }
  return ContextAccess::Intern(context, kind, {a});
}

// Integers stay integers under a true division: their quotient is rounded once.
Expr SimplifyTrueDiv(ExprContext* context, const Expr& a, const Expr& b) {
  const std::optional<double> divisor = b.AsFloat();
  if (divisor && *divisor == 0) return Expr::Overflow();
  if (divisor && *divisor == 1) return AsFloatExpr(context, a);
  const std::optional<int64_t> x = a.AsInt(), y = b.AsInt();
  if (x && y) return Expr::Float(DivideIntegers(*x, *y));
  if (a.AsFloat() && divisor) return Expr::Float(*a.AsFloat() / *divisor);
  return ContextAccess::Intern(context, ExprKind::kTrueDiv, {a, b});
}

}  // namespace

Expr AsFloatExpr(ExprContext* context, const Expr& x) {
  if (x.type() == ExprType::kFloat || x.IsOverflow()) return x;
  const Expr e = AsNumber(context, x);
  if (e.is_const()) return Expr::Float(static_cast<double>(*e.AsInt()));
  if (e.kind() == ExprKind::kInfinity) {
    return Expr::Float(std::numeric_limits<double>::infinity());
  }
  if (e.kind() == ExprKind::kNegInfinity) {
    return Expr::Float(-std::numeric_limits<double>::infinity());
  }
  return ContextAccess::Intern(context, ExprKind::kToFloat, {e});
}

Expr SimplifyFloat(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands) {
  for (const Expr& e : operands) {
    if (e.IsOverflow()) return e;
  }
  if (kind == ExprKind::kToFloat) return AsFloatExpr(context, operands[0]);
  if (IsRounding(kind)) return SimplifyRounding(context, kind, operands[0]);
  if (kind == ExprKind::kTrueDiv) {
    absl::InlinedVector<Expr, 2> list;
    for (const Expr& e : operands) {
      list.push_back(IsInfinite(e) ? AsFloatExpr(context, e) : AsNumber(context, e));
    }
    return SimplifyTrueDiv(context, list[0], list[1]);
  }
  absl::InlinedVector<Expr, 2> list;
  double values[2] = {0, 0};
  bool all_constant = true;
  for (const Expr& e : operands) {
    list.push_back(AsFloatExpr(context, e));
    const std::optional<double> v = list.back().AsFloat();
    all_constant &= v.has_value();
    values[list.size() - 1] = v.value_or(0);
  }
  if (all_constant) {
    const std::optional<double> folded = FoldFloat(kind, values);
    return folded ? Expr::Float(*folded) : Expr::Overflow();
  }
  const bool commutes = kind == ExprKind::kFloatAdd || kind == ExprKind::kFloatMul;
  if (commutes && Compare(list[0], list[1]) > 0) std::swap(list[0], list[1]);
  if (kind == ExprKind::kFloatMul && list[0].AsFloat() == 1.0) return list[1];  // sorted first
  return ContextAccess::Intern(context, kind, list);
}

}  // namespace lathe::symbolic
