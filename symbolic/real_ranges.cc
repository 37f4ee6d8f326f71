#include "symbolic/real_ranges.h"

#include <algorithm>
#include <cmath>

#include "symbolic/simplify/float_values.h"

namespace lathe::symbolic {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int kDeepest = 24;  // of what is deeper nothing is known
constexpr size_t kWidest = 8;

// An integer past 2^53 is no double: what is near it may be rounded to either side.
bool IsExact(int64_t v) { return v >= -(int64_t{1} << 53) && v <= int64_t{1} << 53; }
double LowerOf(const Range& r) {
  if (r.lower == Range::kMin) return -kInf;
  const double v = static_cast<double>(r.lower);
  return IsExact(r.lower) ? v : std::nextafter(v, -kInf);
}
double UpperOf(const Range& r) {
  if (r.upper == Range::kMax) return kInf;
  const double v = static_cast<double>(r.upper);
  return IsExact(r.upper) ? v : std::nextafter(v, kInf);
}

// Of an operation that rises or falls with each operand alone, rounding included. A corner without
// a value, as inf - inf, is one that may be met.
template <typename F>
RealRange Corners(const RealRange& a, const RealRange& b, F f) {
  RealRange r = {kInf, -kInf, a.may_be_nan || b.may_be_nan};
  for (const double x : {a.lower, a.upper}) {
    for (const double y : {b.lower, b.upper}) {
      const double v = f(x, y);
      if (std::isnan(v)) return {};
      r.lower = std::min(r.lower, v);
      r.upper = std::max(r.upper, v);
    }
  }
  return r;
}

RealRange Quotient(const RealRange& a, const RealRange& b) {
  if (b.lower <= 0 && b.upper >= 0) return {};
  return Corners(a, b, [](double x, double y) { return x / y; });
}

RealRange UnionOf(const RealRange& a, const RealRange& b) {
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper), a.may_be_nan || b.may_be_nan};
}

class Bounds {
 public:
  explicit Bounds(Knowledge& k) : k_(k) {}

  RealRange Of(const Expr& e, int depth) {
    if (e.type() != ExprType::kFloat) {
      const Range r = k_.RangeOf(e);
      return {LowerOf(r), UpperOf(r), false};
    }
    if (const std::optional<double> v = e.AsFloat()) {
      return std::isnan(*v) ? RealRange() : RealRange{*v, *v, false};
    }
    const absl::Span<const Expr> x = e.operands();
    if (depth >= kDeepest || x.empty() || x.size() > kWidest) return {};
    switch (e.kind()) {
      case ExprKind::kToFloat:
        return Of(x[0], depth + 1);
      case ExprKind::kTrueDiv:
        return BesideOne(x[0], x[1], Quotient(Of(x[0], depth + 1), Of(x[1], depth + 1)));
      case ExprKind::kFloatAdd:
        return Corners(Of(x[0], depth + 1), Of(x[1], depth + 1),
                       [](double a, double b) { return a + b; });
      case ExprKind::kFloatMul:
        return Corners(Of(x[0], depth + 1), Of(x[1], depth + 1),
                       [](double a, double b) { return a * b; });
      case ExprKind::kSqrt:
        return Root(Of(x[0], depth + 1));
      case ExprKind::kLog2:
        return Logarithm(Of(x[0], depth + 1));
      case ExprKind::kAbs:
        return Magnitude(Of(x[0], depth + 1));
      case ExprKind::kWhere:
        return UnionOf(Of(x[1], depth + 1), Of(x[2], depth + 1));
      case ExprKind::kMin:
      case ExprKind::kMax:
        return Extreme(e, depth);
      default:
        return {};
    }
  }

 private:
  // Of two integers the larger of which is known.
  RealRange BesideOne(const Expr& x, const Expr& y, RealRange q) {
    if (x.type() != ExprType::kInt || y.type() != ExprType::kInt || k_.RangeOf(y).lower < 1) {
      return q;
    }
    q.may_be_nan = false;  // not by 0, and no infinity by another
    const Polynomial rest = Difference(y, x), more = Difference(x, y);
    if (rest.overflow || more.overflow) return q;
    if (k_.RangeOf(rest).lower >= 0) q.upper = std::min(q.upper, 1.0);
    if (k_.RangeOf(more).lower >= 0) q.lower = std::max(q.lower, 1.0);
    return q;
  }
  static RealRange Root(const RealRange& a) {
    if (a.lower < 0) return {};
    return {std::sqrt(a.lower), std::sqrt(a.upper), a.may_be_nan};
  }
  // Rounded as the library does it, which is off by one unit at most.
  static RealRange Logarithm(const RealRange& a) {
    if (a.lower < 0) return {};
    const double low = std::log2(a.lower), high = std::log2(a.upper);
    return {std::nextafter(low, -kInf), std::nextafter(high, kInf), a.may_be_nan};
  }
  static RealRange Magnitude(const RealRange& a) {
    if (a.lower >= 0) return a;
    if (a.upper <= 0) return {-a.upper, -a.lower, a.may_be_nan};
    return {0, std::max(-a.lower, a.upper), a.may_be_nan};
  }
  // Which of two is taken where one is NaN depends on their order.
  RealRange Extreme(const Expr& e, int depth) {
    RealRange r = Of(e.operands()[0], depth + 1);
    bool nan = r.may_be_nan;
    for (const Expr& o : e.operands().subspan(1)) {
      const RealRange x = Of(o, depth + 1);
      nan = nan || x.may_be_nan;
      const bool is_min = e.kind() == ExprKind::kMin;
      r.lower = is_min ? std::min(r.lower, x.lower) : std::max(r.lower, x.lower);
      r.upper = is_min ? std::min(r.upper, x.upper) : std::max(r.upper, x.upper);
    }
    r.may_be_nan = false;
    return nan ? RealRange() : r;
  }

  Knowledge& k_;
};

// Bounds as exact as each side has them: of an integer, integers.
struct Side {
  Range whole;
  RealRange real;
  bool is_integer;
};

Side SideOf(Knowledge& k, const Expr& e) {
  if (e.type() == ExprType::kFloat) return {{}, RealRangeOf(k, e), false};
  return {k.RangeOf(e), {}, true};
}

// a < b, or a <= b, for all values.
bool AlwaysBelow(const Side& a, const Side& b, bool or_equal) {
  if (a.is_integer) {
    if (a.whole.upper == Range::kMax) return false;
    const std::optional<int> order = CompareExactly(a.whole.upper, b.real.lower);
    return order && (or_equal ? *order <= 0 : *order < 0);
  }
  if (b.is_integer) {
    if (b.whole.lower == Range::kMin) return false;
    const std::optional<int> order = CompareExactly(b.whole.lower, a.real.upper);
    return order && (or_equal ? *order >= 0 : *order > 0);
  }
  return or_equal ? a.real.upper <= b.real.lower : a.real.upper < b.real.lower;
}

bool IsOrdered(Knowledge& k, const Expr& a, const Expr& b) {
  const Polynomial p = Difference(b, a);
  return !p.overflow && (k.RangeOf(p).lower >= 0 || k.IsNonNegative(p));
}

// a <= b of two that are made alike of integers: conversions, roots and quotients by a number
// rise with these, rounding included. Neither is NaN.
bool IsAtMost(Knowledge& k, const Expr& a, const Expr& b) {
  const auto inner = [](const Expr& e) { return e.operands()[0]; };
  if (a.type() == ExprType::kInt && b.type() == ExprType::kInt) return IsOrdered(k, a, b);
  if (a.kind() == b.kind() && a.type() == ExprType::kFloat && !a.operands().empty()) {
    switch (a.kind()) {
      case ExprKind::kToFloat:
        return inner(a).type() == ExprType::kInt && inner(b).type() == ExprType::kInt &&
               IsOrdered(k, inner(a), inner(b));
      case ExprKind::kSqrt:
        return inner(a).kind() == ExprKind::kToFloat && inner(b).kind() == ExprKind::kToFloat &&
               IsAtMost(k, inner(a), inner(b));
      case ExprKind::kTrueDiv:
        return a.operands()[1] == b.operands()[1] && a.operands()[1].AsInt().value_or(0) >= 1 &&
               IsAtMost(k, inner(a), inner(b));
      default:
        return false;
    }
  }
  if (b.type() != ExprType::kInt) return false;
  // No root, logarithm or quotient of a size is above the size.
  if (a.kind() == ExprKind::kSqrt || a.kind() == ExprKind::kLog2) {
    const Expr& x = inner(a);
    return x.kind() == ExprKind::kToFloat && inner(x).type() == ExprType::kInt &&
           k.RangeOf(inner(x)).lower >= 1 && IsOrdered(k, inner(x), b);
  }
  return a.kind() == ExprKind::kTrueDiv && a.operands()[1].AsInt().value_or(0) >= 2 &&
         inner(a).type() == ExprType::kInt && k.RangeOf(inner(a)).lower >= 0 &&
         IsOrdered(k, inner(a), b);
}

}  // namespace

RealRange RealRangeOf(Knowledge& k, const Expr& e) { return Bounds(k).Of(e, 0); }

Range RangeOfRounded(Knowledge& k, const Expr& e) {
  const RealRange r = RealRangeOf(k, e.operands()[0]);
  Range rounded;  // what is NaN or too large has no value
  if (const auto low = RoundToInteger(e.kind(), r.lower)) rounded.lower = *low;
  if (const auto high = RoundToInteger(e.kind(), r.upper)) rounded.upper = *high;
  return rounded;
}

std::optional<bool> ByRealBounds(Knowledge& k, const Expr& e) {
  const Expr &x = e.operands()[0], &y = e.operands()[1];
  const Side a = SideOf(k, x), b = SideOf(k, y);
  if ((!a.is_integer && a.real.may_be_nan) || (!b.is_integer && b.real.may_be_nan)) {
    return std::nullopt;
  }
  const bool below = AlwaysBelow(a, b, false), above = AlwaysBelow(b, a, false);
  if (e.kind() == ExprKind::kLe && IsAtMost(k, x, y)) return true;
  if (e.kind() == ExprKind::kLt && IsAtMost(k, y, x)) return false;
  switch (e.kind()) {
    case ExprKind::kEq:
    case ExprKind::kNe:
      if (x == y) return e.kind() == ExprKind::kEq;
      if (below || above) return e.kind() == ExprKind::kNe;
      return std::nullopt;
    case ExprKind::kLt:
      if (below) return true;
      if (x == y || AlwaysBelow(b, a, true)) return false;
      return std::nullopt;
    default:
      if (x == y || AlwaysBelow(a, b, true)) return true;
      if (above) return false;
      return std::nullopt;
  }
}

}  // namespace lathe::symbolic
