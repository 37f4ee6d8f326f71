#include <optional>

#include "dtypes/base/check.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

size_t OperandCount(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAbs:
    case ExprKind::kNot:
    case ExprKind::kToFloat:
    case ExprKind::kFloor:
    case ExprKind::kCeil:
    case ExprKind::kTrunc:
    case ExprKind::kRound:
    case ExprKind::kSqrt:
    case ExprKind::kLog2:
      return 1;
    case ExprKind::kWhere:
      return 3;
    default:
      return 2;
  }
}

bool IsNary(ExprKind kind) {
  return kind == ExprKind::kAdd || kind == ExprKind::kMul || kind == ExprKind::kMin ||
         kind == ExprKind::kMax || kind == ExprKind::kAnd || kind == ExprKind::kOr;
}

Expr Memoised(ExprContext* context, uint8_t operation, const Expr& a, const Expr& b,
              Expr (*make)(ExprContext*, ExprKind, absl::Span<const Expr>)) {
  if (context == nullptr) return make(context, static_cast<ExprKind>(operation), {a, b});
  if (const auto known = ContextAccess::FindMemo(context, operation, a, b)) return *known;
  const Expr result = make(context, static_cast<ExprKind>(operation), {a, b});
  ContextAccess::StoreMemo(context, operation, a, b, result);
  return result;
}

Expr Dispatch(ExprContext* context, ExprKind kind, absl::Span<const Expr> x) {
  switch (kind) {
    case ExprKind::kAdd:
      return SimplifySum(context, x);
    case ExprKind::kMul:
      return SimplifyProduct(context, x);
    case ExprKind::kFloorDiv:
      return SimplifyFloorDiv(context, x[0], x[1]);
    case ExprKind::kMod:
      return SimplifyMod(context, x[0], x[1]);
    case ExprKind::kTruncDiv:
      return SimplifyTruncDiv(context, x[0], x[1]);
    case ExprKind::kTruncMod:
      return SimplifyTruncMod(context, x[0], x[1]);
    case ExprKind::kPow:
      return SimplifyPow(context, x[0], x[1]);
    case ExprKind::kShiftLeft:
    case ExprKind::kShiftRight:
    case ExprKind::kBitAnd:
    case ExprKind::kBitOr:
    case ExprKind::kBitXor:
      return SimplifyBits(context, kind, x[0], x[1]);
    case ExprKind::kMin:
    case ExprKind::kMax:
      return SimplifyMinMax(context, kind, x);
    case ExprKind::kAbs:
      return SimplifyAbs(context, x[0]);
    case ExprKind::kWhere:
      return SimplifyWhere(context, x[0], x[1], x[2]);
    case ExprKind::kEq:
    case ExprKind::kNe:
    case ExprKind::kLt:
    case ExprKind::kLe:
      return SimplifyComparison(context, kind, x[0], x[1]);
    case ExprKind::kAnd:
    case ExprKind::kOr:
      return SimplifyAndOr(context, kind, x);
    case ExprKind::kNot:
      return SimplifyNot(context, x[0]);
    default:
      return SimplifyFloat(context, kind, x);
  }
}

Expr Binary(ExprKind kind, const Expr& a, const Expr& b) {
  ExprContext* context = ContextAccess::ContextOf({a, b});
  return Memoised(context, static_cast<uint8_t>(kind), a, b, Dispatch);
}

// A bound of a symbol, or of a sum or product of symbols, stands as it is: "s0 + s1 <= 7". Nothing
// is looked up for it.
std::optional<Expr> PlainBound(ExprKind kind, const Expr& a, const Expr& b) {
  const bool first = b.is_const();
  const Expr &x = first ? a : b, &c = first ? b : a;
  if (x.is_const() || !c.is_const() || !(x.is_symbol() || x.node()->plain)) return std::nullopt;
  if (kind != ExprKind::kLt) {
    const bool swap = kind != ExprKind::kLe && !first;
    return ContextAccess::Intern(x.node()->context, kind, {swap ? b : a, swap ? a : b});
  }
  const int64_t v = *c.AsInt();
  if (v == (first ? INT64_MIN : INT64_MAX)) return std::nullopt;
  return first ? ContextAccess::Intern(x.node()->context, ExprKind::kLe, {a, Expr(v - 1)})
               : ContextAccess::Intern(x.node()->context, ExprKind::kLe, {Expr(v + 1), b});
}

Expr Comparison(ExprKind kind, const Expr& a, const Expr& b) {
  if (const std::optional<Expr> bound = PlainBound(kind, a, b)) return *bound;
  return Binary(kind, a, b);
}

Expr Unary(ExprKind kind, const Expr& a) {
  return Dispatch(ContextAccess::ContextOf({a}), kind, {a});
}

Expr Difference(ExprContext* context, ExprKind, absl::Span<const Expr> x) {
  return SimplifyDifference(context, x[0], x[1]);
}

}  // namespace

Expr Simplified(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands) {
  const bool is_leaf = kind <= ExprKind::kOverflow;
  LATHE_CHECK(!is_leaf && (IsNary(kind) || operands.size() == OperandCount(kind)))
      << "wrong number of operands: " << operands.size();
  if (operands.size() == 2) {
    return Memoised(context, static_cast<uint8_t>(kind), operands[0], operands[1], Dispatch);
  }
  return Dispatch(context, kind, operands);
}

Expr operator+(const Expr& a, const Expr& b) {
  if (a.is_const() && *a.AsInt() == 0 && b.type() != ExprType::kBool) return b;
  if (b.is_const() && *b.AsInt() == 0 && a.type() != ExprType::kBool) return a;
  if (const std::optional<Expr> sum = SumOfPlainTerms(a, b)) return *sum;
  return Binary(ExprKind::kAdd, a, b);
}
Expr operator-(const Expr& a, const Expr& b) {
  if (b.is_const() && *b.AsInt() == 0 && a.type() != ExprType::kBool) return a;
  return Memoised(ContextAccess::ContextOf({a, b}), kDifferenceMemo, a, b, Difference);
}
Expr operator-(const Expr& a) {
  return a.type() == ExprType::kFloat ? Expr::Float(-1) * a : Expr(-1) * a;
}
Expr operator*(const Expr& a, const Expr& b) {
  if (a.is_const() && *a.AsInt() == 1 && b.type() != ExprType::kBool) return b;
  if (b.is_const() && *b.AsInt() == 1 && a.type() != ExprType::kBool) return a;
  if (const std::optional<Expr> product = ScaledPlainTerm(a, b)) return *product;
  return Binary(ExprKind::kMul, a, b);
}
Expr operator/(const Expr& a, const Expr& b) { return Binary(ExprKind::kFloorDiv, a, b); }
Expr operator%(const Expr& a, const Expr& b) { return Binary(ExprKind::kMod, a, b); }
Expr FloorDiv(const Expr& a, const Expr& b) { return Binary(ExprKind::kFloorDiv, a, b); }
Expr Mod(const Expr& a, const Expr& b) { return Binary(ExprKind::kMod, a, b); }
Expr CeilDiv(const Expr& a, const Expr& b) { return -FloorDiv(-a, b); }
Expr TruncDiv(const Expr& a, const Expr& b) { return Binary(ExprKind::kTruncDiv, a, b); }
Expr TruncMod(const Expr& a, const Expr& b) { return Binary(ExprKind::kTruncMod, a, b); }
Expr Pow(const Expr& a, const Expr& b) { return Binary(ExprKind::kPow, a, b); }
Expr ShiftLeft(const Expr& a, const Expr& b) { return Binary(ExprKind::kShiftLeft, a, b); }
Expr ShiftRight(const Expr& a, const Expr& b) { return Binary(ExprKind::kShiftRight, a, b); }
Expr BitAnd(const Expr& a, const Expr& b) { return Binary(ExprKind::kBitAnd, a, b); }
Expr BitOr(const Expr& a, const Expr& b) { return Binary(ExprKind::kBitOr, a, b); }
Expr BitXor(const Expr& a, const Expr& b) { return Binary(ExprKind::kBitXor, a, b); }
Expr Min(const Expr& a, const Expr& b) { return Binary(ExprKind::kMin, a, b); }
Expr Max(const Expr& a, const Expr& b) { return Binary(ExprKind::kMax, a, b); }
Expr Abs(const Expr& a) { return Unary(ExprKind::kAbs, a); }
Expr Where(const Expr& condition, const Expr& then_value, const Expr& else_value) {
  const Expr operands[] = {condition, then_value, else_value};
  return Dispatch(ContextAccess::ContextOf(operands), ExprKind::kWhere, operands);
}
Expr ModularIndexing(const Expr& x, const Expr& divisor, const Expr& modulus) {
  return Mod(FloorDiv(x, divisor), modulus);
}
Expr Eq(const Expr& a, const Expr& b) { return Comparison(ExprKind::kEq, a, b); }
Expr Ne(const Expr& a, const Expr& b) { return Comparison(ExprKind::kNe, a, b); }
Expr Lt(const Expr& a, const Expr& b) { return Comparison(ExprKind::kLt, a, b); }
Expr Le(const Expr& a, const Expr& b) { return Comparison(ExprKind::kLe, a, b); }
Expr Gt(const Expr& a, const Expr& b) { return Lt(b, a); }
Expr Ge(const Expr& a, const Expr& b) { return Le(b, a); }
Expr And(const Expr& a, const Expr& b) { return Binary(ExprKind::kAnd, a, b); }
Expr Or(const Expr& a, const Expr& b) { return Binary(ExprKind::kOr, a, b); }
Expr Not(const Expr& a) { return Unary(ExprKind::kNot, a); }
Expr TrueDiv(const Expr& a, const Expr& b) { return Binary(ExprKind::kTrueDiv, a, b); }
Expr ToFloat(const Expr& a) { return Unary(ExprKind::kToFloat, a); }
Expr Sum(absl::Span<const Expr> terms) {
  return SimplifySum(ContextAccess::ContextOf(terms), terms);
}
Expr Product(absl::Span<const Expr> factors) {
  return SimplifyProduct(ContextAccess::ContextOf(factors), factors);
}

}  // namespace lathe::symbolic
