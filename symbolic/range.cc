#include "symbolic/range.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "symbolic/expr.h"

namespace lathe::symbolic {
namespace {

using Wide = __int128;
constexpr Wide kInf = static_cast<Wide>(1) << 126;

Wide Lower(const Range& r) { return r.lower == Range::kMin ? -kInf : Wide{r.lower}; }
Wide Upper(const Range& r) { return r.upper == Range::kMax ? kInf : Wide{r.upper}; }
bool IsInf(Wide v) { return v >= kInf || v <= -kInf; }

int64_t Clamp(Wide v) {
  if (v <= Range::kMin) return Range::kMin;
  if (v >= Range::kMax) return Range::kMax;
  return static_cast<int64_t>(v);
}
Range FromWide(Wide lower, Wide upper) { return {Clamp(lower), Clamp(upper)}; }

Wide Sum(Wide a, Wide b) { return IsInf(a) ? a : IsInf(b) ? b : a + b; }

Wide Times(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  if (IsInf(a) || IsInf(b)) return (a > 0) == (b > 0) ? kInf : -kInf;
  return a * b;
}

// Floor division by a positive number that may be infinite.
Wide FloorBy(Wide a, Wide b) {
  if (IsInf(b)) return a < 0 ? -1 : 0;
  if (IsInf(a)) return a;
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}
Wide TruncBy(Wide a, Wide b) {
  if (IsInf(b)) return 0;
  if (IsInf(a)) return a;
  return a / b;
}

Range Corners(const Range& a, const Range& b, Wide (*f)(Wide, Wide)) {
  const Wide v[] = {f(Lower(a), Lower(b)), f(Lower(a), Upper(b)), f(Upper(a), Lower(b)),
                    f(Upper(a), Upper(b))};
  return FromWide(*std::min_element(v, v + 4), *std::max_element(v, v + 4));
}

bool IsOneNumber(const Range& r) {
  return r.lower == r.upper && r.lower != Range::kMin && r.lower != Range::kMax;
}

int64_t BoundTimes(int64_t bound, int64_t c) {
  const bool positive = (bound > 0) == (c > 0);
  if (bound == Range::kMin || bound == Range::kMax) return positive ? Range::kMax : Range::kMin;
  int64_t product;
  if (!__builtin_mul_overflow(bound, c, &product)) return product;
  return positive ? Range::kMax : Range::kMin;
}

// The usual case, without 128 bits.
Range TimesNumber(const Range& a, int64_t c) {
  if (c == 1) return a;
  if (c == 0) return {0, 0};
  const int64_t x = BoundTimes(a.lower, c), y = BoundTimes(a.upper, c);
  return c > 0 ? Range{x, y} : Range{y, x};
}

Range Negate(const Range& a) { return FromWide(-Upper(a), -Lower(a)); }

constexpr Range kEmpty = {1, 0};

// Splits the divisor by sign; `f` sees positive divisors only.
template <typename F>
Range BySignOfDivisor(const Range& a, const Range& b, F f) {
  Range result = kEmpty;
  const Range positive = Intersect(b, {1, Range::kMax});
  const Range negative = Intersect(b, {Range::kMin, -1});
  if (!positive.empty()) result = f(a, positive, false);
  if (!negative.empty()) result = Union(result, f(a, Negate(negative), true));
  return result.empty() ? Range{} : result;  // always undefined: anything holds
}

Range ModByPositive(const Range& a, const Range& b) {
  if (b.lower == b.upper && a.lower != Range::kMin && a.upper != Range::kMax) {
    const Wide d = b.lower;
    const Wide q = FloorBy(a.lower, d);
    if (q == FloorBy(a.upper, d)) return FromWide(a.lower - q * d, a.upper - q * d);
  }
  Range r = FromWide(0, IsInf(Upper(b)) ? kInf : Upper(b) - 1);
  if (a.lower < 0) return r;
  if (Upper(a) < Lower(b)) return a;
  r.upper = std::min(r.upper, a.upper);
  return r;
}

Range TruncDivRange(const Range& a, const Range& b) {
  return BySignOfDivisor(a, b, [](const Range& x, const Range& y, bool negated) {
    const Range r = Corners(x, y, TruncBy);
    return negated ? Negate(r) : r;
  });
}

Range TruncModRange(const Range& a, const Range& b) {
  return BySignOfDivisor(a, b, [](const Range& x, const Range& y, bool) {
    Range r = kEmpty;
    const Range positive = Intersect(x, {0, Range::kMax});
    const Range negative = Intersect(x, {Range::kMin, 0});
    if (!positive.empty()) r = ModByPositive(positive, y);
    if (!negative.empty()) r = Union(r, Negate(ModByPositive(Negate(negative), y)));
    return r;
  });
}

Wide SaturatingPow(Wide base, Wide exponent) {
  if (exponent == 0) return 1;
  if (base == 0 || base == 1) return base;
  if (IsInf(exponent) || IsInf(base)) return kInf;
  Wide result = 1;
  for (Wide i = 0; i < exponent; ++i) {
    result *= base;
    if (result > Range::kMax) return kInf;
  }
  return result;
}

Range PowerOfTwo(const Range& exponent) {
  const Range e = Intersect(exponent, {0, Range::kMax});
  if (e.empty()) return {};
  return FromWide(SaturatingPow(2, Lower(e)), SaturatingPow(2, Upper(e)));
}

Range AbsRange(const Range& a) {
  if (a.lower >= 0) return a;
  if (a.upper <= 0) return Negate(a);
  return FromWide(0, std::max(-Lower(a), Upper(a)));
}

Range BitRange(ExprKind kind, const Range& a, const Range& b) {
  if (kind == ExprKind::kBitAnd) {
    if (a.lower >= 0 && b.lower >= 0) return {0, std::min(a.upper, b.upper)};
    if (a.lower >= 0) return {0, a.upper};
    if (b.lower >= 0) return {0, b.upper};
    return {};
  }
  if (a.lower < 0 || b.lower < 0) return {};
  const int64_t top = std::max(a.upper, b.upper);
  int64_t mask = 0;
  while (mask < top) mask = mask * 2 + 1;
  return {kind == ExprKind::kBitOr ? std::max(a.lower, b.lower) : 0, mask};
}

Range Truth(bool known_true, bool known_false) {
  return known_true ? Range{1, 1} : known_false ? Range{0, 0} : Range{0, 1};
}

Range CompareRange(ExprKind kind, const Range& a, const Range& b) {
  const bool disjoint = Upper(a) < Lower(b) || Upper(b) < Lower(a);
  // A saturated bound is no single value.
  const bool same =
      a == b && a.lower == a.upper && a.lower != Range::kMin && a.lower != Range::kMax;
  switch (kind) {
    case ExprKind::kEq:
      return Truth(same, disjoint);
    case ExprKind::kNe:
      return Truth(disjoint, same);
    case ExprKind::kLt:
      return Truth(Upper(a) < Lower(b), Lower(a) >= Upper(b));
    default:
      return Truth(Upper(a) <= Lower(b), Lower(a) > Upper(b));
  }
}

Range FoldMinMax(ExprKind kind, absl::Span<const Range> operands) {
  Range r = operands[0];
  for (const Range& o : operands.subspan(1)) {
    if (kind == ExprKind::kMin) {
      r = {std::min(r.lower, o.lower), std::min(r.upper, o.upper)};
    } else {
      r = {std::max(r.lower, o.lower), std::max(r.upper, o.upper)};
    }
  }
  return r;
}

// Sizes, which are not negative.
std::optional<Range> TimesOfSizes(const Range& a, const Range& b) {
  if (a.lower < 0 || b.lower < 0 || a.upper <= 0 || b.upper <= 0) return std::nullopt;
  Range r;
  if (__builtin_mul_overflow(a.lower, b.lower, &r.lower)) return Range{Range::kMax, Range::kMax};
  if (a.upper == Range::kMax || b.upper == Range::kMax ||
      __builtin_mul_overflow(a.upper, b.upper, &r.upper)) {
    r.upper = Range::kMax;
  }
  return r;
}

}  // namespace

Range Intersect(const Range& a, const Range& b) {
  return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
}

Range Union(const Range& a, const Range& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
}

Range operator+(const Range& a, const Range& b) {
  return FromWide(Sum(Lower(a), Lower(b)), Sum(Upper(a), Upper(b)));
}

Range operator-(const Range& a, const Range& b) { return a + Negate(b); }

Range operator*(const Range& a, const Range& b) {
  if (IsOneNumber(b)) return TimesNumber(a, b.lower);
  if (IsOneNumber(a)) return TimesNumber(b, a.lower);
  if (a == Range{} && b == Range{}) return a;
  if (const std::optional<Range> r = TimesOfSizes(a, b)) return *r;
  return Corners(a, b, Times);
}

Range FloorDivRange(const Range& a, const Range& b) {
  return BySignOfDivisor(a, b, [](const Range& x, const Range& y, bool negated) {
    return Corners(negated ? Negate(x) : x, y, FloorBy);
  });
}

Range ModRange(const Range& a, const Range& b) {
  return BySignOfDivisor(a, b, [](const Range& x, const Range& y, bool negated) {
    return negated ? Negate(ModByPositive(Negate(x), y)) : ModByPositive(x, y);
  });
}

Range PowRange(const Range& base, const Range& e) {
  if (e.lower < 0) return {};  // perhaps no integer: 2 ** -1
  if (base.lower >= 0) {
    // 0**0 is 1, so the lower end of a base that may be 0 needs care.
    const Wide low = base.lower > 0 ? SaturatingPow(Lower(base), Lower(e))
                     : e.upper == 0 ? Wide{1}
                                    : Wide{0};
    return FromWide(low, std::max(SaturatingPow(Upper(base), Upper(e)), Wide{e.lower == 0}));
  }
  if (e.lower != e.upper) return {};
  if (e.lower % 2 == 0) return PowRange(AbsRange(base), e);
  const Range up = PowRange(Intersect(base, {0, Range::kMax}), e);
  const Range down = Negate(PowRange(Negate(Intersect(base, {Range::kMin, 0})), e));
  return base.upper < 0 ? down : Union(down, up);
}

Range RangeOfOperation(ExprKind kind, absl::Span<const Range> operands) {
  for (const Range& r : operands) {
    if (r.empty()) return {};
  }
  switch (kind) {
    case ExprKind::kAdd: {
      Range r = {0, 0};
      for (const Range& o : operands) r = r + o;
      return r;
    }
    case ExprKind::kMul: {
      Range r = {1, 1};
      for (const Range& o : operands) r = r * o;
      return r;
    }
    case ExprKind::kFloorDiv:
      return FloorDivRange(operands[0], operands[1]);
    case ExprKind::kMod:
      return ModRange(operands[0], operands[1]);
    case ExprKind::kTruncDiv:
      return TruncDivRange(operands[0], operands[1]);
    case ExprKind::kTruncMod:
      return TruncModRange(operands[0], operands[1]);
    case ExprKind::kPow:
      return PowRange(operands[0], operands[1]);
    case ExprKind::kShiftLeft:
      return operands[0] * PowerOfTwo(operands[1]);
    case ExprKind::kShiftRight:
      return FloorDivRange(operands[0], PowerOfTwo(operands[1]));
    case ExprKind::kBitAnd:
    case ExprKind::kBitOr:
    case ExprKind::kBitXor:
      return BitRange(kind, operands[0], operands[1]);
    case ExprKind::kMin:
    case ExprKind::kMax:
      return FoldMinMax(kind, operands);
    case ExprKind::kAbs:
      return AbsRange(operands[0]);
    case ExprKind::kWhere:
      if (operands[0].lower == 1) return operands[1];
      if (operands[0].upper == 0) return operands[2];
      return Union(operands[1], operands[2]);
    case ExprKind::kEq:
    case ExprKind::kNe:
    case ExprKind::kLt:
    case ExprKind::kLe:
      return CompareRange(kind, operands[0], operands[1]);
    case ExprKind::kAnd:
      return FoldMinMax(ExprKind::kMin, operands);
    case ExprKind::kOr:
      return FoldMinMax(ExprKind::kMax, operands);
    case ExprKind::kNot:
      return Range{1, 1} - operands[0];
    default:
      return {};
  }
}

}  // namespace lathe::symbolic
