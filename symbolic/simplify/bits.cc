// Bitwise operations and shifts, on two's complement of any width.

#include <algorithm>
#include <utility>

#include "symbolic/expr_node.h"
#include "symbolic/simplify/rule.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

bool IsUndefinedOperand(const Expr& e) {
  return e.IsOverflow() || IsInfinite(e) || e.type() == ExprType::kFloat;
}

std::optional<Expr> OfNumbers(const RuleInput& in) {
  if (!in.x[0].is_const() || !in.x[1].is_const()) return std::nullopt;
  const int64_t a = *in.x[0].AsInt(), b = *in.x[1].AsInt();
  return in.kind == ExprKind::kBitAnd ? a & b : in.kind == ExprKind::kBitOr ? a | b : a ^ b;
}
std::optional<Expr> OfEqual(const RuleInput& in) {
  if (in.x[0] != in.x[1]) return std::nullopt;
  return in.kind == ExprKind::kBitXor ? Expr(0) : in.x[0];
}
std::optional<Expr> WithZero(const RuleInput& in) {
  if (in.x[1] != 0) return std::nullopt;
  return in.kind == ExprKind::kBitAnd ? Expr(0) : in.x[0];
}
std::optional<Expr> WithAllOnes(const RuleInput& in) {
  if (in.x[1] != -1 || in.kind == ExprKind::kBitXor) return std::nullopt;
  return in.kind == ExprKind::kBitAnd ? in.x[0] : Expr(-1);
}
std::optional<Expr> LowMask(const RuleInput& in) {
  const std::optional<int64_t> c = in.x[1].AsInt();
  if (in.kind != ExprKind::kBitAnd || !c || *c <= 0 || *c == INT64_MAX) return std::nullopt;
  if ((*c & (*c + 1)) != 0) return std::nullopt;
  return SimplifyMod(in.context, in.x[0], *c + 1);
}
std::optional<Expr> HighMask(const RuleInput& in) {
  const std::optional<int64_t> c = in.x[1].AsInt();
  if (in.kind != ExprKind::kBitAnd || !c || *c >= -1 || *c == INT64_MIN) return std::nullopt;
  const int64_t power = -*c;
  if ((power & (power - 1)) != 0) return std::nullopt;
  return SimplifyProduct(in.context, {power, SimplifyFloorDiv(in.context, in.x[0], power)});
}

std::optional<Expr> Complement(const RuleInput& in) {
  if (in.x[1] != -1 || in.kind != ExprKind::kBitXor) return std::nullopt;
  return Expr(-1) - in.x[0];
}

// One operand is the same operation, or the dual one, of the other.
std::optional<Expr> OfInner(const RuleInput& in) {
  for (const size_t i : {0u, 1u}) {
    const Expr &inner = in.x[i], &other = in.x[1 - i];
    const absl::Span<const Expr> y = inner.operands();
    if (y.size() != 2 || (y[0] != other && y[1] != other)) continue;
    const ExprKind dual = in.kind == ExprKind::kBitAnd ? ExprKind::kBitOr : ExprKind::kBitAnd;
    if (in.kind == ExprKind::kBitXor) {
      if (inner.kind() == in.kind) return y[0] == other ? y[1] : y[0];
    } else if (inner.kind() == in.kind) {
      return inner;
    } else if (inner.kind() == dual) {
      return other;
    }
  }
  return std::nullopt;
}

constexpr Rule kBitRules[] = {
    {"bits.of_numbers", "c & d = its value, and so on", "c, d constant", OfNumbers},
    {"bits.of_equal", "x & x = x | x = x, x ^ x = 0", "always", OfEqual},
    {"bits.with_zero", "x & 0 = 0, x | 0 = x ^ 0 = x", "always", WithZero},
    {"bits.with_all_ones", "x & -1 = x, x | -1 = -1", "always", WithAllOnes},
    {"bits.complement", "x ^ -1 = -x - 1", "always", Complement},
    {"bits.of_inner", "(x ^ y) ^ y = x, (x & y) & y = x & y, (x & y) | y = y", "always", OfInner},
    {"bits.low_mask", "x & (2**k - 1) = x % 2**k", "k >= 1 constant", LowMask},
    {"bits.high_mask", "x & -2**k = 2**k*(x//2**k)", "1 <= k <= 62 constant", HighMask},
};

std::optional<Expr> ShiftOfZero(const RuleInput& in) {
  if (in.x[0] != 0) return std::nullopt;
  if (in.x[1].is_const() && *in.x[1].AsInt() < 0) return std::nullopt;
  return 0;
}
std::optional<Expr> ShiftByNegative(const RuleInput& in) {
  if (!in.x[1].is_const() || *in.x[1].AsInt() >= 0) return std::nullopt;
  return Expr::Overflow();
}
std::optional<Expr> RightIsQuotient(const RuleInput& in) {
  const std::optional<int64_t> k = in.x[1].AsInt();
  if (in.kind != ExprKind::kShiftRight || !k || *k < 0 || *k > 62) return std::nullopt;
  return SimplifyFloorDiv(in.context, in.x[0], int64_t{1} << *k);
}
std::optional<Expr> NumberFarRight(const RuleInput& in) {
  const std::optional<int64_t> v = in.x[0].AsInt(), k = in.x[1].AsInt();
  if (in.kind != ExprKind::kShiftRight || !v || !k || *k < 63) return std::nullopt;
  return *v < 0 ? -1 : 0;
}
std::optional<Expr> LeftIsProduct(const RuleInput& in) {
  const std::optional<int64_t> k = in.x[1].AsInt();
  if (in.kind != ExprKind::kShiftLeft || !k || *k < 0 || *k > 62) return std::nullopt;
  return SimplifyProduct(in.context, {int64_t{1} << *k, in.x[0]});
}
std::optional<Expr> NumberFarLeft(const RuleInput& in) {
  const std::optional<int64_t> v = in.x[0].AsInt(), k = in.x[1].AsInt();
  if (in.kind != ExprKind::kShiftLeft || !v || !k || *k < 63) return std::nullopt;
  return *k == 63 && *v == -1 ? Expr(INT64_MIN) : Expr::Overflow();  // 0 has its own row
}

constexpr Rule kShiftRules[] = {
    {"shift.of_zero", "0 << y = 0 >> y = 0", "y >= 0, elsewhere undefined", ShiftOfZero},
    {"shift.by_negative", "x << -k = x >> -k = overflow", "k > 0 constant", ShiftByNegative},
    {"shift.right_is_quotient", "x >> k = x//2**k", "0 <= k <= 62 constant", RightIsQuotient},
    {"shift.number_far_right", "c >> k = 0, or -1 for c < 0", "c constant, k >= 63 constant",
     NumberFarRight},
    {"shift.left_is_product", "x << k = 2**k*x", "0 <= k <= 62 constant", LeftIsProduct},
    {"shift.number_far_left", "c << k = overflow, -1 << 63 = -2**63",
     "c constant but 0, k >= 63 constant", NumberFarLeft},
};

}  // namespace

absl::Span<const Rule> BitRules() { return kBitRules; }
absl::Span<const Rule> ShiftRules() { return kShiftRules; }

Expr SimplifyBits(ExprContext* context, ExprKind kind, const Expr& x, const Expr& y) {
  if (IsUndefinedOperand(x) || IsUndefinedOperand(y)) return Expr::Overflow();
  Expr operands[] = {AsNumber(context, x), AsNumber(context, y)};
  const bool shifts = kind == ExprKind::kShiftLeft || kind == ExprKind::kShiftRight;
  // Constants come last.
  if (!shifts && Compare(operands[0], operands[1]) > 0) std::swap(operands[0], operands[1]);
  const absl::Span<const Rule> rules = shifts ? ShiftRules() : BitRules();
  if (const auto e = ApplyRules(rules, {context, kind, operands})) return *e;
  return ContextAccess::Intern(context, kind, operands);
}

}  // namespace lathe::symbolic
