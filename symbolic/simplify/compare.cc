#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "symbolic/expr_node.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/float_values.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rule.h"
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

Expr FloatComparison(ExprContext* context, ExprKind kind, const Expr& a, const Expr& b) {
  if (a.AsFloat() && b.AsFloat()) {
    if (const auto n = a.AsInt()) {
      return Expr::Bool(HoldsInOrder(kind, CompareExactly(*n, *b.AsFloat())));
    }
    if (const auto n = b.AsInt()) {
      return Expr::Bool(HoldsInOrder(kind, Opposite(CompareExactly(*n, *a.AsFloat()))));
    }
    return Expr::Bool(Decide(kind, *a.AsFloat(), *b.AsFloat()));
  }
  const Expr sides[] = {a, b};
  if (const auto e = ApplyRules(FloatOrderRules(), {context, kind, sides})) return *e;
  const bool swap = IsEquality(kind) && Compare(a, b) > 0;
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

bool IsBareSymbol(const Polynomial& p) {
  return p.terms.size() == 1 && p.constant == 0 && p.terms[0].coefficient == 1 &&
         p.terms[0].monomial.is_symbol();
}

Polynomial DividedDown(Polynomial p, int64_t g) {
  if (g <= 1) return p;
  for (Term& t : p.terms) t.coefficient /= g;
  p.constant = FloorBy(p.constant, g);
  return p;
}

// 0 <= difference, as two sides.
Expr AtLeastZero(ExprContext* context, const Polynomial& difference) {
  Sides s = Split(difference);
  if (!s.fits) return Raw(context, ExprKind::kLe, 0, FromPolynomial(context, difference));
  const bool strict =
      difference.constant == -1 && !s.positive.terms.empty() && !s.negative.terms.empty();
  if (strict) s.positive.constant = s.negative.constant = 0;
  return Raw(context, strict ? ExprKind::kLt : ExprKind::kLe, FromPolynomial(context, s.negative),
             FromPolynomial(context, s.positive));
}

// difference == 0, or != 0, as two sides.
Expr IsZero(ExprContext* context, ExprKind kind, Polynomial difference) {
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

// ---- rows

std::optional<Expr> EqualityOfConditions(const RuleInput& in) {
  const Expr &a = in.x[0], &b = in.x[1];
  if (!IsEquality(in.kind) || a.type() != ExprType::kBool || b.type() != ExprType::kBool) {
    return std::nullopt;
  }
  if (a == b) return Expr::Bool(in.kind == ExprKind::kEq);
  for (const auto& [known, other] : {std::pair(a, b), std::pair(b, a)}) {
    const std::optional<bool> value = known.AsBool();
    if (!value) continue;
    return *value == (in.kind == ExprKind::kEq) ? other : SimplifyNot(in.context, other);
  }
  const bool swap = Compare(a, b) > 0;
  return ContextAccess::Intern(in.context, in.kind, {swap ? b : a, swap ? a : b});
}

std::optional<Expr> OfNumbers(const RuleInput& in) {
  if (!in.x[0].is_const() || !in.x[1].is_const()) return std::nullopt;
  return Expr::Bool(Decide(in.kind, *in.x[0].AsInt(), *in.x[1].AsInt()));
}

std::optional<Expr> WithInfinity(const RuleInput& in) {
  if (!IsInfinite(in.x[0]) && !IsInfinite(in.x[1])) return std::nullopt;
  const auto place = [](const Expr& e) {
    return e.kind() == ExprKind::kInfinity ? 1 : e.kind() == ExprKind::kNegInfinity ? -1 : 0;
  };
  return Expr::Bool(Decide(in.kind, place(in.x[0]), place(in.x[1])));
}

std::optional<Expr> OfEqual(const RuleInput& in) {
  if (in.x[0] != in.x[1]) return std::nullopt;
  return Expr::Bool(in.kind == ExprKind::kEq || in.kind == ExprKind::kLe);
}

constexpr Rule kEarlyRules[] = {
    {"compare.conditions", "c == true = c, c == false = not c, c == c = true", "conditions",
     EqualityOfConditions},
    {"compare.of_numbers", "c < d = its truth", "c, d constant", OfNumbers},
    {"compare.with_infinity", "x < inf = true, -inf < x = true", "x is an integer", WithInfinity},
    {"compare.of_equal", "x == x = x <= x = true, x < x = x != x = false", "always", OfEqual},
};

// Of the rows below kLt is gone: x < y is 0 <= y - x - 1.
std::optional<Expr> ConstantDifferenceOnly(const RuleInput& in) {
  if (!in.p->terms.empty()) return std::nullopt;
  return Expr::Bool(IsEquality(in.kind) ? (in.p->constant == 0) == (in.kind == ExprKind::kEq)
                                        : in.p->constant >= 0);
}

std::optional<Expr> ByBounds(const RuleInput& in) {
  const Range r = IntrinsicRange(*in.p);
  if (IsEquality(in.kind)) {
    if (r.Contains(0)) return std::nullopt;
    return Expr::Bool(in.kind == ExprKind::kNe);
  }
  if (r.lower >= 0) return Expr::Bool(true);
  if (r.upper < 0) return Expr::Bool(false);
  return std::nullopt;
}

std::optional<Expr> NeverDivisible(const RuleInput& in) {
  const int64_t g = CoefficientGcd(*in.p);
  if (!IsEquality(in.kind) || g <= 1 || in.p->constant % g == 0) return std::nullopt;
  return Expr::Bool(in.kind == ExprKind::kNe);
}

std::optional<Expr> CommonFactor(const RuleInput& in) {
  const int64_t g = CoefficientGcd(*in.p);
  if (g <= 1) return std::nullopt;
  const Polynomial p = DividedDown(*in.p, g);
  return IsEquality(in.kind) ? IsZero(in.context, in.kind, p) : AtLeastZero(in.context, p);
}

// The y with g*y = 1 modulo d, for a g without a factor in common with d.
int64_t InverseOf(int64_t g, int64_t d) {
  __int128 a = ModBy(g, d), b = d, x = 1, y = 0;
  while (b != 0) {
    const __int128 q = a / b;
    a -= q * b;
    std::swap(a, b);
    x -= q * y;
    std::swap(x, y);
  }
  return ModBy(static_cast<int64_t>(x), d);
}

// Congruences: (g*x + c) % d == r asks for one remainder of x.
std::optional<Expr> CoprimeFactor(const RuleInput& in) {
  if (!IsEquality(in.kind) || in.p->terms.size() != 1) return std::nullopt;
  const Term& t = in.p->terms[0];
  if (t.monomial.kind() != ExprKind::kMod || (t.coefficient != 1 && t.coefficient != -1) ||
      in.p->constant == INT64_MIN) {
    return std::nullopt;
  }
  const absl::Span<const Expr> x = t.monomial.operands();
  const std::optional<int64_t> d = x[1].AsInt();
  const int64_t r = t.coefficient == 1 ? -in.p->constant : in.p->constant;
  if (!d || *d < 2 || r < 0 || r >= *d) return std::nullopt;
  Polynomial y = ToPolynomial(x[0]);
  if (y.overflow || y.terms.empty()) return std::nullopt;
  const int64_t content = CoefficientGcd(y);
  const bool negative = y.terms[0].coefficient < 0;
  const int64_t g = negative ? -content : content;
  if (content < 1 || Gcd(content, *d) != 1 || (g == 1 && y.constant == 0)) return std::nullopt;
  const __int128 wanted = static_cast<__int128>(r) - ModBy(y.constant, *d);
  const __int128 value = (wanted % *d + *d) * InverseOf(g, *d) % *d;
  for (Term& one : y.terms) one.coefficient /= g;
  y.constant = 0;
  const Expr rest = Mod(FromPolynomial(in.context, y), *d);
  if (rest.IsOverflow()) return std::nullopt;
  return in.context->Make(in.kind, {rest, static_cast<int64_t>(value)});
}

// No remainder is left by either sign rule, or by both.
std::optional<Expr> NoTruncatedRemainder(const RuleInput& in) {
  if (!IsEquality(in.kind) || in.p->terms.size() != 1 || in.p->constant != 0) return std::nullopt;
  const Expr& m = in.p->terms[0].monomial;
  if (m.kind() != ExprKind::kTruncMod) return std::nullopt;
  return in.context->Make(in.kind, {Mod(m.operands()[0], m.operands()[1]), 0});
}

constexpr Rule kRules[] = {
    {"compare.no_truncated_remainder", "truncmod(x, y) == 0 = x % y == 0", "always",
     NoTruncatedRemainder},
    {"compare.coprime_factor", "(g*x + c) % d == r = x % d == s where g*s + c = r modulo d",
     "c, d, r constant, g without a factor in common with d", CoprimeFactor},
    {"compare.constant_difference", "x < x + c = (0 < c)", "c constant", ConstantDifferenceOnly},
    {"compare.by_bounds", "x <= y = true or false", "y - x >= 0, or < 0, by bounds", ByBounds},
    {"compare.never_divisible", "g*x == c = false", "g > 1 constant does not divide c",
     NeverDivisible},
    {"compare.common_factor", "0 <= g*x + c = 0 <= x + c//g, g*x == g*y = x == y", "g > 1 constant",
     CommonFactor},
};

// One sum that is another and more, as offsets and sizes of a concatenation are: what is left over
// is a run of operands, and the comparison is made of it without taking sums apart. Only where the
// rows above have nothing to say but bounds.
constexpr size_t kShortestRun = 8;

bool IsPositiveRun(absl::Span<const Expr> run) {
  if (run.size() < kShortestRun || run[0].node()->monomial != nullptr) return false;
  return std::all_of(run.begin(), run.end(), [](const Expr& e) {
    const ExprNode* node = e.node();
    if (node == nullptr) return false;
    if (node->monomial == nullptr) return node->kind != ExprKind::kMod;
    return *node->operand_span()[0].AsInt() > 0 && node->monomial->kind != ExprKind::kMod;
  });
}

std::optional<Expr> CompareRun(ExprContext* context, ExprKind kind, const Expr& a, const Expr& b) {
  const Expr& longer = b.operands().size() < a.operands().size() && IsEquality(kind) ? a : b;
  const Expr& shorter = &longer == &a ? b : a;
  if (longer.kind() != ExprKind::kAdd || shorter.is_const()) return std::nullopt;
  const size_t taken = shorter.kind() == ExprKind::kAdd ? shorter.operands().size() : 1;
  const absl::Span<const Expr> y = longer.operands();
  if (y.size() < taken + kShortestRun || !ContextAccess::BeginsWith(longer.node(), shorter)) {
    return std::nullopt;
  }
  if (!longer.node()->plain && !IsPositiveRun(y.subspan(taken))) return std::nullopt;
  const Expr rest = ContextAccess::InternRest(longer.node(), shorter);
  const Range r = IntrinsicRange(rest);
  if (IsEquality(kind)) {
    if (!r.Contains(0)) return Expr::Bool(kind == ExprKind::kNe);
    return Raw(context, kind, rest, 0);
  }
  const int64_t least = kind == ExprKind::kLt ? 1 : 0;
  if (r.lower >= least) return Expr::Bool(true);
  if (r.upper < least) return Expr::Bool(false);
  return Raw(context, ExprKind::kLe, least, rest);
}

}  // namespace

absl::Span<const Rule> CompareRules() {
  static const std::vector<Rule>& all = *[] {
    auto* rules = new std::vector<Rule>(std::begin(kEarlyRules), std::end(kEarlyRules));
    rules->insert(rules->end(), std::begin(kRules), std::end(kRules));
    return rules;
  }();
  return all;
}

Expr SimplifyComparison(ExprContext* context, ExprKind kind, const Expr& x, const Expr& y) {
  if (x.IsOverflow() || y.IsOverflow()) return Expr::Overflow();
  const Expr conditions[] = {x, y};
  if (x.type() == ExprType::kBool && y.type() == ExprType::kBool && IsEquality(kind)) {
    return *ApplyRules(kEarlyRules, {context, kind, conditions});
  }
  const Expr operands[] = {AsNumber(context, x), AsNumber(context, y)};
  const auto& [a, b] = operands;
  if (a.type() == ExprType::kFloat || b.type() == ExprType::kFloat) {
    return FloatComparison(context, kind, a, b);
  }
  if (const auto e = ApplyRules(kEarlyRules, {context, kind, operands})) return *e;
  const auto rounds = [](const Expr& e) {
    return e.kind() >= ExprKind::kFloor && e.kind() <= ExprKind::kRound;
  };
  if (rounds(a) || rounds(b)) {
    if (const auto e = ApplyRules(FloatOrderRules(), {context, kind, operands})) return *e;
  }
  if (const auto e = CompareRun(context, kind, a, b)) return *e;
  Polynomial difference = Difference(b, a);
  const ExprKind without_lt = kind == ExprKind::kLt ? ExprKind::kLe : kind;
  if (kind == ExprKind::kLt && !difference.overflow) {
    difference.overflow = __builtin_sub_overflow(difference.constant, 1, &difference.constant);
  }
  if (difference.overflow) return Raw(context, kind, a, b);
  if (const auto e = ApplyRules(kRules, {context, without_lt, operands, &difference})) return *e;
  return IsEquality(kind) ? IsZero(context, kind, std::move(difference))
                          : AtLeastZero(context, difference);
}

}  // namespace lathe::symbolic
