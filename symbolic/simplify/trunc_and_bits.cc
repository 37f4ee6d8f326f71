#include <algorithm>

#include "symbolic/expr_node.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

bool AnyOf(const Expr& a, const Expr& b, bool (*is)(const Expr&)) { return is(a) || is(b); }

bool IsUndefinedOperand(const Expr& e) {
  return e.IsOverflow() || IsInfinite(e) || e.type() == ExprType::kFloat;
}

bool KnownNonNegative(const Expr& e) { return IntrinsicRange(e).lower >= 0; }

Expr Fold(ExprKind kind, int64_t a, int64_t b) {
  switch (kind) {
    case ExprKind::kBitAnd:
      return a & b;
    case ExprKind::kBitOr:
      return a | b;
    default:
      return a ^ b;
  }
}

// One operand is the constant `c`.
std::optional<Expr> WithConstant(ExprContext* context, ExprKind kind, const Expr& x, int64_t c) {
  if (c == 0) return kind == ExprKind::kBitAnd ? Expr(0) : x;
  if (kind == ExprKind::kBitAnd && c == -1) return x;
  if (kind == ExprKind::kBitOr && c == -1) return Expr(-1);
  // x & (2^k - 1) = x % 2^k, two's complement being what it is
  if (kind == ExprKind::kBitAnd && c > 0 && c < INT64_MAX && (c & (c + 1)) == 0) {
    return SimplifyMod(context, x, c + 1);
  }
  return std::nullopt;
}

Expr SimplifyShift(ExprContext* context, ExprKind kind, const Expr& a, const Expr& b) {
  if (!b.is_const()) {
    if (a.is_const() && *a.AsInt() == 0) return 0;
    return ContextAccess::Intern(context, kind, {a, b});
  }
  const int64_t k = *b.AsInt();
  if (k < 0) return Expr::Overflow();
  if (kind == ExprKind::kShiftRight) {
    if (k < 63) return SimplifyFloorDiv(context, a, int64_t{1} << k);
    if (a.is_const()) return *a.AsInt() < 0 ? -1 : 0;
    return ContextAccess::Intern(context, kind, {a, b});
  }
  if (k < 63) return SimplifyProduct(context, {int64_t{1} << k, a});
  if (a.is_const() && *a.AsInt() == 0) return 0;
  if (a.is_const() && *a.AsInt() == -1 && k == 63) return INT64_MIN;
  return Expr::Overflow();
}

}  // namespace

Expr SimplifyTruncDiv(ExprContext* context, const Expr& x, const Expr& y) {
  if (AnyOf(x, y, IsUndefinedOperand)) return Expr::Overflow();
  const Expr a = AsNumber(context, x), b = AsNumber(context, y);
  if (b.is_const()) {
    const int64_t d = *b.AsInt();
    if (d == 0) return Expr::Overflow();
    if (d == 1) return a;
    if (d == -1) return SimplifyProduct(context, {-1, a});
    if (a.is_const()) return *a.AsInt() / d;
  }
  if (a.is_const() && *a.AsInt() == 0) return 0;
  if (KnownNonNegative(a) && KnownNonNegative(b)) return SimplifyFloorDiv(context, a, b);
  return ContextAccess::Intern(context, ExprKind::kTruncDiv, {a, b});
}

Expr SimplifyTruncMod(ExprContext* context, const Expr& x, const Expr& y) {
  if (AnyOf(x, y, IsUndefinedOperand)) return Expr::Overflow();
  const Expr a = AsNumber(context, x);
  Expr b = AsNumber(context, y);
  if (b.is_const()) {
    const int64_t d = *b.AsInt();
    if (d == 0) return Expr::Overflow();
    if (d == 1 || d == -1) return 0;
    if (a.is_const()) return *a.AsInt() % d;
    if (d < 0 && d != INT64_MIN) b = -d;  // the sign is that of a
  }
  if (a.is_const() && *a.AsInt() == 0) return 0;
  if (KnownNonNegative(a) && KnownNonNegative(b)) return SimplifyMod(context, a, b);
  return ContextAccess::Intern(context, ExprKind::kTruncMod, {a, b});
}

Expr SimplifyBits(ExprContext* context, ExprKind kind, const Expr& x, const Expr& y) {
  if (AnyOf(x, y, IsUndefinedOperand)) return Expr::Overflow();
  Expr a = AsNumber(context, x), b = AsNumber(context, y);
  if (kind == ExprKind::kShiftLeft || kind == ExprKind::kShiftRight) {
    return SimplifyShift(context, kind, a, b);
  }
  if (a.is_const() && b.is_const()) return Fold(kind, *a.AsInt(), *b.AsInt());
  if (a == b) return kind == ExprKind::kBitXor ? Expr(0) : a;
  if (Compare(a, b) > 0) std::swap(a, b);  // constants come last
  if (b.is_const()) {
    if (const std::optional<Expr> e = WithConstant(context, kind, a, *b.AsInt())) return *e;
  }
  return ContextAccess::Intern(context, kind, {a, b});
}

}  // namespace lathe::symbolic
