#include <algorithm>
#include <cmath>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

using Operands = absl::InlinedVector<Expr, 6>;

// Pairs are compared with each other up to this many operands.
constexpr size_t kLargestPairwise = 8;

ExprKind Other(ExprKind kind) { return kind == ExprKind::kMin ? ExprKind::kMax : ExprKind::kMin; }

// True when `a` may be dropped beside `b`: a >= b for a minimum, a <= b for a maximum.
bool IsDominated(ExprKind kind, const Expr& a, const Expr& b) {
  const Range x = IntrinsicRange(a), y = IntrinsicRange(b);
  const bool bounded = kind == ExprKind::kMin ? x.lower != Range::kMin && x.lower >= y.upper
                                              : x.upper != Range::kMax && x.upper <= y.lower;
  if (bounded) return true;
  if (b.kind() == Other(kind)) return false;
  // min(max(a, b), b) = b
  if (a.kind() == Other(kind)) {
    for (const Expr& inner : a.operands()) {
      if (inner == b) return true;
    }
  }
  if (a.is_const() || b.is_const()) return false;
  const std::optional<int64_t> difference = ConstantDifference(b, a);
  return difference && (kind == ExprKind::kMin ? *difference >= 0 : *difference <= 0);
}

void DropDominated(ExprKind kind, Operands& list) {
  if (list.size() > kLargestPairwise) return;
  for (size_t i = 0; i < list.size();) {
    bool drop = false;
    for (size_t j = 0; j < list.size() && !drop; ++j) {
      drop = i != j && IsDominated(kind, list[i], list[j]);
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
  DropDominated(kind, finite);
  if (finite.size() == 1) return finite[0];
  return ContextAccess::Intern(context, kind, finite);
}

Expr SimplifyAbs(ExprContext* context, const Expr& x) {
  if (x.IsOverflow()) return x;
  if (x.type() == ExprType::kFloat) {
    if (const std::optional<double> v = x.AsFloat()) return Expr::Float(std::fabs(*v));
    return ContextAccess::Intern(context, ExprKind::kAbs, {x});
  }
  if (IsInfinite(x)) return Expr::Infinity();
  Expr a = AsNumber(context, x);
  const Range r = IntrinsicRange(a);
  if (r.lower >= 0) return a;
  const Polynomial p = ToPolynomial(a);
  if (r.upper <= 0 || (!p.terms.empty() && p.terms[0].coefficient < 0)) {
    const Expr negated = SimplifyProduct(context, {-1, a});
    if (r.upper <= 0 || negated.IsOverflow()) return negated;
    a = negated;
  }
  return ContextAccess::Intern(context, ExprKind::kAbs, {a});
}

Expr SimplifyWhere(ExprContext* context, const Expr& condition, const Expr& then_value,
                   const Expr& else_value) {
  const Expr c = AsBoolean(context, condition);
  if (c.IsOverflow()) return c;
  Expr a = then_value, b = else_value;
  if (a.type() != b.type()) {
    const bool any_float = a.type() == ExprType::kFloat || b.type() == ExprType::kFloat;
    a = any_float ? AsFloatExpr(context, a) : AsNumber(context, a);
    b = any_float ? AsFloatExpr(context, b) : AsNumber(context, b);
  }
  if (const std::optional<bool> known = c.AsBool()) return *known ? a : b;
  if (a.IsOverflow() || b.IsOverflow()) return Expr::Overflow();
  if (a == b) return a;
  if (a == Expr::Bool(true) && b == Expr::Bool(false)) return c;
  if (a == Expr::Bool(false) && b == Expr::Bool(true)) return SimplifyNot(context, c);
  if (c.kind() == ExprKind::kNot) {
    return ContextAccess::Intern(context, ExprKind::kWhere, {c.operands()[0], b, a});
  }
  return ContextAccess::Intern(context, ExprKind::kWhere, {c, a, b});
}

}  // namespace lathe::symbolic
