#include <algorithm>

#include "symbolic/expr_node.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

bool IsEquality(ExprKind kind) { return kind == ExprKind::kEq || kind == ExprKind::kNe; }

template <typename T>
bool Decide(ExprKind kind, T a, T b) {
  switch (kind) {
    case ExprKind::kEq:
      return a == b;
    case ExprKind::kNe:
      return a != b;
    case ExprKind::kLt:
      return a < b;
    default:
      return a <= b;
  }
}

// Infinities are beyond every integer.
std::optional<Expr> WithInfinity(ExprKind kind, const Expr& a, const Expr& b) {
  if (!IsInfinite(a) && !IsInfinite(b)) return std::nullopt;
  const auto place = [](const Expr& e) {
    return e.kind() == ExprKind::kInfinity ? 1 : e.kind() == ExprKind::kNegInfinity ? -1 : 0;
  };
  return Expr::Bool(Decide(kind, place(a), place(b)));
}

Expr FloatComparison(ExprContext* context, ExprKind kind, const Expr& a, const Expr& b) {
  const std::optional<double> x = a.AsFloat(), y = b.AsFloat();
  if (x && y) return Expr::Bool(Decide(kind, *x, *y));
  const bool swap = IsEquality(kind) && Compare(a, b) > 0;
  return ContextAccess::Intern(context, kind, {swap ? b : a, swap ? a : b});
}

std::optional<Expr> BoolEquality(ExprContext* context, ExprKind kind, const Expr& a,
                                 const Expr& b) {
  if (a.type() != ExprType::kBool || b.type() != ExprType::kBool) return std::nullopt;
  if (a == b) return Expr::Bool(kind == ExprKind::kEq);
  for (const auto& [known, other] : {std::pair(a, b), std::pair(b, a)}) {
    const std::optional<bool> value = known.AsBool();
    if (!value) continue;
    return *value == (kind == ExprKind::kEq) ? other : SimplifyNot(context, other);
  }
  const bool swap = Compare(a, b) > 0;
  return ContextAccess::Intern(context, kind, {swap ? b : a, swap ? a : b});
}

// The two sides of a comparison of `difference` with 0: terms with a positive coefficient on the
// `positive` side, the others negated on the `negative` one, the constant where it is positive or
// where nothing else stands.
struct Sides {
  Polynomial positive, negative;
  bool fits = true;
};
Sides Split(const Polynomial& difference) {
  Sides s;
  for (const Term& t : difference.terms) {
    if (t.coefficient > 0) {
      s.positive.terms.push_back(t);
    } else {
      s.fits &= t.coefficient != INT64_MIN;
      s.negative.terms.push_back({t.monomial, s.fits ? -t.coefficient : 1});
    }
  }
  const int64_t k = difference.constant;
  const bool to_positive = s.positive.terms.empty() || (!s.negative.terms.empty() && k > 0);
  if (to_positive) {
    s.positive.constant = k;
  } else {
    s.fits &= k != INT64_MIN;
    s.negative.constant = s.fits ? -k : 0;
  }
  return s;
}

Expr Raw(ExprContext* context, ExprKind kind, const Expr& a, const Expr& b) {
  return ContextAccess::Intern(context, kind, {a, b});
}

// 0 <= difference
Expr AtLeastZero(ExprContext* context, Polynomial difference) {
  const Range r = IntrinsicRange(difference);
  if (r.lower >= 0) return Expr::Bool(true);
  if (r.upper < 0) return Expr::Bool(false);
  const int64_t g = CoefficientGcd(difference);
  if (g > 1) {
    for (Term& t : difference.terms) t.coefficient /= g;
    difference.constant = FloorBy(difference.constant, g);
  }
  Sides s = Split(difference);
  if (!s.fits) return Raw(context, ExprKind::kLe, 0, FromPolynomial(context, difference));
  const bool strict =
      difference.constant == -1 && !s.positive.terms.empty() && !s.negative.terms.empty();
  if (strict) s.positive.constant = s.negative.constant = 0;
  return Raw(context, strict ? ExprKind::kLt : ExprKind::kLe, FromPolynomial(context, s.negative),
             FromPolynomial(context, s.positive));
}

bool IsBareSymbol(const Polynomial& p) {
  return p.terms.size() == 1 && p.constant == 0 && p.terms[0].coefficient == 1 &&
         p.terms[0].monomial.is_symbol();
}

// difference == 0, or != 0
Expr IsZero(ExprContext* context, ExprKind kind, Polynomial difference) {
  const Expr no = Expr::Bool(kind == ExprKind::kNe);
  if (difference.terms.empty()) {
    return Expr::Bool((difference.constant == 0) == (kind == ExprKind::kEq));
  }
  if (!IntrinsicRange(difference).Contains(0)) return no;
  const int64_t g = CoefficientGcd(difference);
  if (g > 1) {
    if (difference.constant % g != 0) return no;
    for (Term& t : difference.terms) t.coefficient /= g;
    difference.constant /= g;
  }
  if (difference.terms[0].coefficient < 0) {
    const Polynomial negated = Scaled(difference, -1);
    if (!negated.overflow) difference = negated;
  }
  Sides s = Split(difference);
  if (!s.fits) return Raw(context, kind, FromPolynomial(context, difference), 0);
  if (IsBareSymbol(s.negative) && !IsBareSymbol(s.positive)) std::swap(s.positive, s.negative);
  return Raw(context, kind, FromPolynomial(context, s.positive),
             FromPolynomial(context, s.negative));
}

}  // namespace

Expr SimplifyComparison(ExprContext* context, ExprKind kind, const Expr& x, const Expr& y) {
  if (x.IsOverflow() || y.IsOverflow()) return Expr::Overflow();
  if (IsEquality(kind)) {
    if (const std::optional<Expr> e = BoolEquality(context, kind, x, y)) return *e;
  }
  const Expr a = AsNumber(context, x), b = AsNumber(context, y);
  if (a.type() == ExprType::kFloat || b.type() == ExprType::kFloat) {
    return FloatComparison(context, kind, a, b);
  }
  if (a.is_const() && b.is_const()) return Expr::Bool(Decide(kind, *a.AsInt(), *b.AsInt()));
  if (const std::optional<Expr> e = WithInfinity(kind, a, b)) return *e;
  if (a == b) return Expr::Bool(kind == ExprKind::kEq || kind == ExprKind::kLe);
  Polynomial difference = Difference(b, a);
  if (kind == ExprKind::kLt && !difference.overflow) {
    difference.overflow = __builtin_sub_overflow(difference.constant, 1, &difference.constant);
  }
  if (difference.overflow) return Raw(context, kind, a, b);
  return IsEquality(kind) ? IsZero(context, kind, std::move(difference))
                          : AtLeastZero(context, std::move(difference));
}

}  // namespace lathe::symbolic
