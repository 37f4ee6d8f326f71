// What Knowledge makes of a new bound: of the parts of what it bounds, and of the other terms of
// the inequalities that it occurs in.

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/knowledge.h"
#include "symbolic/simplify/checked.h"

namespace lathe::symbolic {
namespace {

// What one new bound may set in motion.
constexpr int kMostPropagations = 64;
constexpr size_t kMostInequalitiesPerTerm = 16;
constexpr int kDeepestNarrowing = 16;
constexpr int64_t kLargestFactored = 1024;
constexpr int kMostDivisors = 8;
constexpr size_t kMostOperandsToBound = 4;

bool IsInfiniteLower(int64_t v) { return v == Range::kMin; }
bool IsInfiniteUpper(int64_t v) { return v == Range::kMax; }

Polynomial Constant(int64_t value) {
  Polynomial p;
  p.constant = value;
  return p;
}

// ceil(a / d) and floor(a / d) for d > 0, on bounds that stand for infinities.
int64_t CeilBound(int64_t a, int64_t d) {
  if (a == Range::kMin || a == Range::kMax) return a;
  return -FloorBy(-a, d);
}
int64_t FloorBound(int64_t a, int64_t d) {
  if (a == Range::kMin || a == Range::kMax) return a;
  return FloorBy(a, d);
}

// All f with f*g in `product` for some g of `others`, which are positive. A lower bound at the
// upper end of 64 bits, or the other way, is a bound all the same.
Range FactorRange(const Range& product, const Range& others) {
  Range f;
  if (!IsInfiniteUpper(product.upper)) {
    const int64_t by = product.upper < 0 ? others.upper : others.lower;
    f.upper = by == Range::kMax ? (product.upper < 0 ? -1 : 0) : FloorBy(product.upper, by);
  }
  if (!IsInfiniteLower(product.lower)) {
    const int64_t by = product.lower > 0 ? others.upper : others.lower;
    f.lower = by == Range::kMax ? (product.lower > 0 ? 1 : 0) : -FloorBy(-product.lower, by);
  }
  return f;
}

}  // namespace

// linear + constant >= 0 bounds the linear part.
bool Knowledge::BoundOfLinearPart(const Polynomial& p) {
  Polynomial linear = {p.terms, 0, false};
  Range r;
  if (linear.terms[0].coefficient > 0) {
    if (p.constant == INT64_MIN) return true;
    r.lower = -p.constant;
  } else {
    linear = Scaled(linear, -1);
    if (linear.overflow) return true;
    r.upper = p.constant;
  }
  has_sum_bounds_ |= p.terms.size() > 1;
  return Narrow(FromPolynomial(context_, linear), r);
}

bool Knowledge::Narrow(const Expr& e, const Range& range) {
  Range& stored = bounds_.try_emplace(e).first->second;
  Range r = Intersect(stored, range);
  if (e.node() != nullptr) r = Intersect(r, IntrinsicRange(e));
  if (!e.operands().empty() && e.kind() != ExprKind::kAdd &&
      e.operands().size() <= kMostOperandsToBound) {
    absl::InlinedVector<Range, kMostOperandsToBound> ranges;
    for (const Expr& o : e.operands()) ranges.push_back(RangeOf(o));
    r = Intersect(r, RangeOfOperation(e.kind(), ranges));
  }
  const Residue residue = ResidueOf(e);
  if (residue.modulus > 1 && !r.empty()) {
    if (!IsInfiniteLower(r.lower)) {
      const int64_t up =
          ModBy(residue.remainder - ModBy(r.lower, residue.modulus), residue.modulus);
      r.lower = CheckedAdd(r.lower, up).value_or(r.lower);
    }
    if (!IsInfiniteUpper(r.upper)) {
      const int64_t down =
          ModBy(ModBy(r.upper, residue.modulus) - residue.remainder, residue.modulus);
      r.upper = CheckedAdd(r.upper, -down).value_or(r.upper);
    }
  }
  const auto excluded = excluded_.find(e);
  if (excluded != excluded_.end()) {  // a bound that is excluded moves by one
    for (const int64_t v : excluded->second) {
      if (r.empty()) break;
      if (r.lower == v && !IsInfiniteLower(r.lower)) ++r.lower;
      if (r.upper == v && !IsInfiniteUpper(r.upper)) --r.upper;
    }
  }
  if (r == stored) return true;
  stored = r;
  has_constants_ |= r.lower == r.upper;
  if (e.is_symbol()) KeepBoundOfSymbol(e, r);
  Forget();
  if (r.empty()) return false;
  if (inequalities_with_.contains(e)) narrowed_.push_back(e);
  return NarrowParts(e, r);
}

// What a bound of e says of its parts.
bool Knowledge::NarrowParts(const Expr& e, const Range& range) {
  if (narrow_depth_ >= kDeepestNarrowing) return true;
  ++narrow_depth_;
  bool ok = true;
  const absl::Span<const Expr> x = e.operands();
  if (e.kind() == ExprKind::kFloorDiv && x[1].is_const() && *x[1].AsInt() > 0) {
    const int64_t d = *x[1].AsInt();
    const Polynomial top = ToPolynomial(x[0]);
    const std::optional<int64_t> least = CheckedMul(range.lower, d);
    if (!IsInfiniteLower(range.lower) && least) {  // top >= lower * d
      ok = ok && LearnNonNegative(AddScaled(top, Constant(*least), -1));
    }
    const std::optional<int64_t> most = CheckedMul(range.upper, d);
    if (ok && !IsInfiniteUpper(range.upper) && most) {  // top <= upper * d + d - 1
      ok = LearnNonNegative(AddScaled(AddScaled(Constant(*most), Constant(d - 1), 1), top, -1));
    }
  } else if (e.kind() == ExprKind::kMod && x[1].is_const() && *x[1].AsInt() > 0) {
    knows_remainders_ = true;
    ok = NarrowDividend(x[0], *x[1].AsInt(), range);
  } else if (e.kind() == ExprKind::kAbs && !IsInfiniteUpper(range.upper)) {
    const Polynomial inner = ToPolynomial(x[0]);
    ok = LearnNonNegative(AddScaled(Constant(range.upper), inner, -1)) &&
         LearnNonNegative(AddScaled(inner, Constant(range.upper), 1));
  } else if (e.kind() == ExprKind::kMin && !IsInfiniteLower(range.lower)) {
    for (const Expr& o : x) {
      ok = ok && LearnNonNegative(AddScaled(ToPolynomial(o), Constant(range.lower), -1));
    }
  } else if (e.kind() == ExprKind::kMax && !IsInfiniteUpper(range.upper)) {
    for (const Expr& o : x) {
      ok = ok && LearnNonNegative(AddScaled(Constant(range.upper), ToPolynomial(o), -1));
    }
  } else if (e.kind() == ExprKind::kMul) {
    ok = NarrowFactors(x, range);
  } else if (e.kind() == ExprKind::kPow && x[1].is_const()) {
    ok = NarrowBase(x[0], *x[1].AsInt(), range);
  }
  --narrow_depth_;
  return ok;
}

// The largest r >= 0 with r**n <= v, for v >= 0.
static int64_t Root(int64_t v, int64_t n) {
  const auto fits = [&](int64_t r) {
    int64_t power = 1;
    for (int64_t i = 0; i < n; ++i) {
      if (__builtin_mul_overflow(power, r, &power) || power > v) return false;
    }
    return true;
  };
  int64_t low = 0, high = int64_t{1} << 32;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    (fits(middle) ? low : high) = fits(middle) ? middle : middle - 1;
  }
  return low;
}

// The least r >= 0 with r**n >= v, for v >= 1.
static int64_t RootAbove(int64_t v, int64_t n) { return Root(v - 1, n) + 1; }

// What a bound of base**exponent says of the base.
bool Knowledge::NarrowBase(const Expr& base, int64_t exponent, const Range& range) {
  if (exponent < 2 || exponent > 62) return true;
  const bool has_upper = !IsInfiniteUpper(range.upper), has_lower = !IsInfiniteLower(range.lower);
  Range r;
  if (exponent % 2 == 0) {
    if (range.upper < 0) return false;
    if (has_upper) r.upper = Root(range.upper, exponent);
    if (has_upper) r.lower = -r.upper;
    if (range.lower >= 1 && RangeOf(base).lower >= 0) r.lower = RootAbove(range.lower, exponent);
    return Narrow(base, r);
  }
  if (has_upper) {
    r.upper = range.upper >= 0             ? Root(range.upper, exponent)
              : range.upper == Range::kMin ? Range::kMax
                                           : -RootAbove(-range.upper, exponent);
  }
  if (has_lower) {
    r.lower = range.lower >= 1 ? RootAbove(range.lower, exponent) : -Root(-range.lower, exponent);
  }
  return Narrow(base, r);
}

bool Knowledge::NarrowFactors(absl::Span<const Expr> x, const Range& range) {
  const auto all_from = [&](int64_t least) {
    return std::all_of(x.begin(), x.end(),
                       [&](const Expr& o) { return RangeOf(o).lower >= least; });
  };
  // Of factors that are not negative none is 0 where the product is not.
  if (range.lower >= 1 && all_from(0)) {
    for (const Expr& o : x) {
      if (RangeOf(o).lower < 1 && !Narrow(o, {1, Range::kMax})) return false;
    }
  }
  // Of any none is larger than a product that is not 0.
  if (!range.Contains(0) && !IsInfiniteLower(range.lower) && !IsInfiniteUpper(range.upper)) {
    const int64_t most = std::max(range.upper, -range.lower);
    for (const Expr& o : x) {
      if (!o.is_const() && !Narrow(o, {-most, most})) return false;
    }
  }
  // What the others, known to be positive or negative, leave of the product.
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].is_const()) continue;
    Range others = {1, 1};
    for (size_t j = 0; j < x.size(); ++j) {
      if (j != i) others = others * RangeOf(x[j]);
    }
    if (others.Contains(0)) continue;
    const bool negative = others.upper < 0;
    const Range r = negative ? FactorRange(Range{0, 0} - range, Range{0, 0} - others)
                             : FactorRange(range, others);
    if (!Narrow(x[i], r)) return false;
  }
  return true;
}

// What a bound of x % d says of x: one remainder, or of a small one that x leaves the same by
// divisors of d, and of digits that they are few.
bool Knowledge::NarrowDividend(const Expr& x, int64_t d, const Range& range) {
  const Polynomial p = ToPolynomial(x);
  if (range.lower == range.upper) {
    return LearnResidue(AddScaled(p, Constant(range.lower), -1), d);
  }
  if (d > kLargestFactored || range.lower < 0) return true;
  const auto limit = [&](const Expr& e, int64_t lower, int64_t upper) {
    if (e.is_const() || e.IsOverflow()) return true;
    const Polynomial r = ToPolynomial(e);
    return LearnNonNegative(AddScaled(Constant(upper), r, -1)) &&
           LearnNonNegative(AddScaled(r, Constant(lower), -1));
  };
  int tried = 0;
  for (int64_t g = d / 2; g >= 2 && tried < kMostDivisors; --g) {
    if (d % g != 0) continue;
    ++tried;
    if (range.upper < g && !limit(Mod(x, g), range.lower, range.upper)) return false;
    const Expr high = Mod(FloorDiv(x, g), d / g);  // (x % d)//g
    if (!limit(high, range.lower / g, range.upper / g)) return false;
  }
  return true;
}

// Each term is bounded by what the others leave.
bool Knowledge::PropagateFrom(const Polynomial& p) {
  if (p.terms.size() > 16) return true;
  for (size_t i = 0; i < p.terms.size(); ++i) {
    Range others = {p.constant, p.constant};
    for (size_t j = 0; j < p.terms.size(); ++j) {
      const int64_t c = p.terms[j].coefficient;
      if (j != i) others = others + RangeOf(p.terms[j].monomial) * Range{c, c};
    }
    if (IsInfiniteUpper(others.upper) || others.upper == Range::kMin) continue;
    const int64_t c = p.terms[i].coefficient;  // c * m >= -others.upper
    if (c == INT64_MIN) continue;
    const Range bound = c > 0 ? Range{CeilBound(-others.upper, c), Range::kMax}
                              : Range{Range::kMin, FloorBound(others.upper, -c)};
    const Expr& m = p.terms[i].monomial;
    const Range before = RangeOf(m);
    if (Intersect(before, bound) == before) continue;
    if (!Narrow(m, Intersect(before, bound))) return false;
  }
  return true;
}

bool Knowledge::Propagate() {
  if (propagating_) return true;  // the outer loop sees what was narrowed
  propagating_ = true;
  bool ok = true;
  int budget = kMostPropagations;
  while (ok && !narrowed_.empty() && budget > 0) {
    const Expr m = narrowed_.back();
    narrowed_.pop_back();
    const std::vector<int> with = inequalities_with_[m];  // may grow below
    const size_t n = std::min(with.size(), kMostInequalitiesPerTerm);
    for (size_t i = 0; i < n && ok && budget > 0; ++i, --budget) {
      const Polynomial p = inequalities_[static_cast<size_t>(with[with.size() - 1 - i])];
      ok = PropagateFrom(p);
    }
  }
  narrowed_.clear();
  propagating_ = false;
  return ok;
}

}  // namespace lathe::symbolic
