// Rules of floats over sizes that are rounded to integers, or compared with numbers.

#include <cmath>

#include "symbolic/knowledge.h"
#include "symbolic/refine/fact_rule.h"

namespace lathe::symbolic {
namespace {

constexpr int64_t kExact = int64_t{1} << 53;        // integers up to here are floats
constexpr int64_t kLargestRoot = int64_t{1} << 24;  // roots of a square and its neighbours differ
constexpr int64_t kLargestLogarithm = 40;           // so do logarithms of a power of 2
constexpr int kMostBinaryPlaces = 30;

bool IsWithin(const Range& r, int64_t most) { return r.lower >= -most && r.upper <= most; }

// The integer that is converted.
std::optional<Expr> Converted(const Expr& e) {
  if (e.type() == ExprType::kInt) return e;
  if (e.kind() == ExprKind::kToFloat && e.operands()[0].type() == ExprType::kInt) {
    return e.operands()[0];
  }
  return std::nullopt;
}

Expr Rounded(ExprKind kind, const Expr& x, const Expr& y) {
  return kind == ExprKind::kFloor  ? FloorDiv(x, y)
         : kind == ExprKind::kCeil ? CeilDiv(x, y)
                                   : TruncDiv(x, y);
}

bool RoundsToASide(const Expr& e) {
  return e.kind() == ExprKind::kFloor || e.kind() == ExprKind::kCeil ||
         e.kind() == ExprKind::kTrunc;
}

// A quotient that is no integer is 1/y away from the next one, more than it is rounded by.
std::optional<Expr> OfQuotient(const FactRuleInput& in) {
  if (!RoundsToASide(in.e) || in.x[0].kind() != ExprKind::kTrueDiv) return std::nullopt;
  const absl::Span<const Expr> q = in.x[0].operands();
  const std::optional<Expr> x = Converted(q[0]), y = Converted(q[1]);
  if (!x || !y || !IsWithin(in.k.RangeOf(*x), kExact - 1)) return std::nullopt;
  const Range divisor = in.k.RangeOf(*y);
  if (divisor.lower < 1 || divisor.upper > kExact) return std::nullopt;
  return Rounded(in.e.kind(), *x, *y);
}

// c as n / 2**places.
struct Binary {
  int64_t n, divisor;
};
std::optional<Binary> ToBinary(double c) {
  if (!std::isfinite(c)) return std::nullopt;
  for (int places = 0; places <= kMostBinaryPlaces; ++places) {
    const double n = std::ldexp(c, places);
    if (std::abs(n) > static_cast<double>(kLargestRoot)) return std::nullopt;
    if (n == std::trunc(n)) return Binary{static_cast<int64_t>(n), int64_t{1} << places};
  }
  return std::nullopt;
}

// The product has so few digits that it is not rounded at all.
std::optional<Expr> OfMultiple(const FactRuleInput& in) {
  if (!RoundsToASide(in.e) || in.x[0].kind() != ExprKind::kFloatMul) return std::nullopt;
  const absl::Span<const Expr> f = in.x[0].operands();
  if (f.size() != 2) return std::nullopt;
  for (const size_t number : {0, 1}) {
    const std::optional<double> c = f[number].AsFloat();
    const std::optional<Expr> x = Converted(f[1 - number]);
    if (!c || !x) continue;
    const std::optional<Binary> b = ToBinary(*c);
    if (!b || b->n == 0) return std::nullopt;
    const int64_t most = (kExact - 1) / std::abs(b->n);
    if (!IsWithin(in.k.RangeOf(*x), most)) return std::nullopt;
    return Rounded(in.e.kind(), *x * b->n, b->divisor);
  }
  return std::nullopt;
}

constexpr FactRule kRoundingRules[] = {
    {"round.of_quotient", "floor(x / y) = x//y, ceil and trunc too",
     "abs(x) < 2**53, 1 <= y <= 2**53 known", OfQuotient},
    {"round.of_multiple", "floor(c*float(x)) = (c*2**k*x)//2**k, ceil and trunc too",
     "c*2**k an integer, abs(c*2**k*x) < 2**53 known", OfMultiple},
};

// ---- comparisons with numbers

// Each side as it is, or the number on it.
struct WithNumber {
  Expr inner;  // converted within the root or logarithm
  int64_t number;
  bool number_first;
};
std::optional<WithNumber> Operand(const FactRuleInput& in, ExprKind kind) {
  for (const bool first : {true, false}) {
    const Expr &n = in.x[first ? 0 : 1], &f = in.x[first ? 1 : 0];
    if (f.kind() != kind) continue;
    std::optional<int64_t> v = n.AsInt();
    if (n.AsFloat() && std::abs(*n.AsFloat()) <= 1e9 && *n.AsFloat() == std::trunc(*n.AsFloat())) {
      v = static_cast<int64_t>(*n.AsFloat());
    }
    const std::optional<Expr> inner = Converted(f.operands()[0]);
    if (v && inner) return WithNumber{*inner, *v, first};
  }
  return std::nullopt;
}

Expr Compared(const FactRuleInput& in, const WithNumber& w, int64_t number) {
  return w.number_first ? in.context->Make(in.e.kind(), {number, w.inner})
                        : in.context->Make(in.e.kind(), {w.inner, number});
}

std::optional<Expr> RootWithNumber(const FactRuleInput& in) {
  const std::optional<WithNumber> w = Operand(in, ExprKind::kSqrt);
  if (!w || w->number < 0 || w->number > kLargestRoot) return std::nullopt;
  if (in.k.RangeOf(w->inner).lower < 0) return std::nullopt;
  return Compared(in, *w, w->number * w->number);
}

std::optional<Expr> LogarithmWithNumber(const FactRuleInput& in) {
  const std::optional<WithNumber> w = Operand(in, ExprKind::kLog2);
  if (!w || w->number < 0 || w->number > kLargestLogarithm) return std::nullopt;
  if (in.k.RangeOf(w->inner).lower < 1) return std::nullopt;
  return Compared(in, *w, int64_t{1} << w->number);
}

constexpr FactRule kComparisonRules[] = {
    {"compare.root_with_number", "sqrt(x) < c = x < c**2", "x >= 0 known, 0 <= c <= 2**24",
     RootWithNumber},
    {"compare.logarithm_with_number", "log2(x) < c = x < 2**c", "x >= 1 known, 0 <= c <= 40",
     LogarithmWithNumber},
};

}  // namespace

absl::Span<const FactRule> RoundingRules() { return kRoundingRules; }
absl::Span<const FactRule> FloatComparisonRules() { return kComparisonRules; }

}  // namespace lathe::symbolic
