#include <cmath>
#include <limits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/float_values.h"
#include "symbolic/simplify/rule.h"
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

double RealOf(const Expr& e) { return *e.AsFloat(); }
bool IsReal(const Expr& e) { return e.AsFloat().has_value(); }

std::optional<Expr> RoundInteger(const RuleInput& in) {
  if (!IsRounding(in.kind) || in.x[0].type() == ExprType::kFloat) return std::nullopt;
  return in.x[0];
}

std::optional<Expr> RoundNumber(const RuleInput& in) {
  if (!IsRounding(in.kind) || !IsReal(in.x[0])) return std::nullopt;
  const std::optional<int64_t> rounded = RoundToInteger(in.kind, RealOf(in.x[0]));
  return rounded ? Expr(*rounded) : Expr::Overflow();
}

std::optional<Expr> DivideByZero(const RuleInput& in) {
  if (in.kind != ExprKind::kTrueDiv || !IsReal(in.x[1]) || RealOf(in.x[1]) != 0) {
    return std::nullopt;
  }
  return Expr::Overflow();
}

std::optional<Expr> DivideByOne(const RuleInput& in) {
  if (in.kind != ExprKind::kTrueDiv || !IsReal(in.x[1]) || RealOf(in.x[1]) != 1) {
    return std::nullopt;
  }
  return AsFloatExpr(in.context, in.x[0]);
}

std::optional<Expr> DivideByItself(const RuleInput& in) {
  if (in.kind != ExprKind::kTrueDiv || in.x[0] != in.x[1]) return std::nullopt;
  if (in.x[0].type() != ExprType::kInt || IsInfinite(in.x[0])) return std::nullopt;
  return Expr::Float(1);
}

// Integers stay integers under a true division: their quotient is rounded once.
std::optional<Expr> DivideNumbers(const RuleInput& in) {
  if (in.kind != ExprKind::kTrueDiv || !IsReal(in.x[0]) || !IsReal(in.x[1])) return std::nullopt;
  const std::optional<int64_t> a = in.x[0].AsInt(), b = in.x[1].AsInt();
  return Expr::Float(a && b ? DivideIntegers(*a, *b) : RealOf(in.x[0]) / RealOf(in.x[1]));
}

std::optional<Expr> OfNumbers(const RuleInput& in) {
  double values[2] = {0, 0};
  if (IsRounding(in.kind) || in.kind == ExprKind::kTrueDiv) return std::nullopt;
  for (size_t i = 0; i < in.x.size(); ++i) {
    if (!IsReal(in.x[i])) return std::nullopt;
    values[i] = RealOf(in.x[i]);
  }
  const std::optional<double> folded = FoldFloat(in.kind, values);
  return folded ? Expr::Float(*folded) : Expr::Overflow();
}

std::optional<Expr> TimesOne(const RuleInput& in) {
  if (in.kind != ExprKind::kFloatMul || in.x[0].AsFloat() != 1.0) return std::nullopt;
  return in.x[1];
}

// x * 0, x + 0 and x - x stay: NaN, infinities and -0.0 are kept.
constexpr Rule kRules[] = {
    {"float.round_integer", "floor(n) = ceil(n) = trunc(n) = round(n) = n", "n is an integer",
     RoundInteger},
    {"float.round_number", "floor(1.5) = 1, overflow past 64 bits", "constant", RoundNumber},
    {"float.divide_by_zero", "x / 0 = overflow", "always", DivideByZero},
    {"float.divide_by_one", "x / 1 = float(x)", "always", DivideByOne},
    {"float.divide_by_itself", "n / n = 1.0", "n is an integer", DivideByItself},
    {"float.divide_numbers", "c / d = the quotient, rounded once", "c, d constant, d != 0",
     DivideNumbers},
    {"float.of_numbers", "c + d = its value, and so on", "c, d constant", OfNumbers},
    {"float.times_one", "1.0 * x = x", "always", TimesOne},
};

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

absl::Span<const Rule> FloatRules() { return kRules; }

Expr SimplifyFloat(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands) {
  for (const Expr& e : operands) {
    if (e.IsOverflow()) return e;
  }
  if (kind == ExprKind::kToFloat) return AsFloatExpr(context, operands[0]);
  const bool keeps_integers = IsRounding(kind) || kind == ExprKind::kTrueDiv;
  absl::InlinedVector<Expr, 2> list;
  for (const Expr& e : operands) {
    const bool keeps = keeps_integers && !(kind == ExprKind::kTrueDiv && IsInfinite(e));
    list.push_back(keeps ? AsNumber(context, e) : AsFloatExpr(context, e));
  }
  const bool commutes = kind == ExprKind::kFloatAdd || kind == ExprKind::kFloatMul;
  if (commutes && Compare(list[0], list[1]) > 0) std::swap(list[0], list[1]);  // 1.0 comes first
  if (const auto e = ApplyRules(kRules, {context, kind, list})) return *e;
  return ContextAccess::Intern(context, kind, list);
}

}  // namespace lathe::symbolic
