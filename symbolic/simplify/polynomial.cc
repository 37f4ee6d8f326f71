#include "symbolic/simplify/polynomial.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "symbolic/expr_node.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/rule.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

Polynomial Overflowed() {
  Polynomial p;
  p.overflow = true;
  return p;
}

// The terms c*(x % d) and `other`, whose coefficient is c*d; what they are c times of.
struct Pair {
  Term remainder, other;
};
std::optional<Pair> FindPair(const RuleInput& in,
                             std::optional<Expr> (*join)(const RuleInput&, const Pair&),
                             std::optional<Expr>& joined) {
  const Polynomial& p = *in.p;
  if (p.terms.size() < 2 || p.terms.size() > kMostTermsToJoin) return std::nullopt;
  thread_local int depth = 0;
  const NestingLimit limit(depth);
  if (limit.reached()) return std::nullopt;
  for (const Term& t : p.terms) {
    if (t.monomial.kind() != ExprKind::kMod) continue;
    const std::optional<int64_t> d = t.monomial.operands()[1].AsInt();
    const std::optional<int64_t> wanted = d && *d > 0 ? CheckedMul(t.coefficient, *d) : d;
    if (!d || *d <= 0 || !wanted) continue;
    for (const Term& other : p.terms) {
      if (other.coefficient != *wanted) continue;
      joined = join(in, {t, other});
      if (joined) return Pair{t, other};
    }
  }
  return std::nullopt;
}

std::optional<Expr> Join(const RuleInput& in,
                         std::optional<Expr> (*join)(const RuleInput&, const Pair&)) {
  std::optional<Expr> joined;
  const std::optional<Pair> pair = FindPair(in, join, joined);
  if (!pair) return std::nullopt;
  Polynomial rest = *in.p;
  rest.terms.erase(
      std::remove_if(rest.terms.begin(), rest.terms.end(),
                     [&](const Term& u) { return u == pair->remainder || u == pair->other; }),
      rest.terms.end());
  return FromPolynomial(in.context,
                        AddScaled(rest, ToPolynomial(*joined), pair->remainder.coefficient));
}

std::optional<Expr> JoinQuotient(const RuleInput& in) {
  return Join(in, [](const RuleInput& i, const Pair& p) -> std::optional<Expr> {
    const absl::Span<const Expr> x = p.remainder.monomial.operands();
    if (p.other.monomial != SimplifyFloorDiv(i.context, x[0], x[1])) return std::nullopt;
    return x[0];
  });
}

std::optional<Expr> JoinDigits(const RuleInput& in) {
  return Join(in, [](const RuleInput& i, const Pair& p) -> std::optional<Expr> {
    const absl::Span<const Expr> x = p.remainder.monomial.operands();
    const Expr& other = p.other.monomial;
    if (other.kind() != ExprKind::kMod) return std::nullopt;
    const std::optional<int64_t> m = other.operands()[1].AsInt();
    if (!m || *m <= 0 || other.operands()[0] != SimplifyFloorDiv(i.context, x[0], x[1])) {
      return std::nullopt;
    }
    const std::optional<int64_t> both = CheckedMul(*x[1].AsInt(), *m);
    return both ? std::optional<Expr>(SimplifyMod(i.context, x[0], *both)) : std::nullopt;
  });
}

// Rows of sums see the polynomial: sorted, each product once, no coefficient 0.
constexpr Rule kRules[] = {
    {"add.quotient_and_remainder", "c*d*(x//d) + c*(x % d) = c*x",
     "d > 0 constant, at most 64 terms", JoinQuotient},
    {"add.digits", "c*d*((x//d) % m) + c*(x % d) = c*(x % (d*m))",
     "d, m > 0 constant, at most 64 terms", JoinDigits},
};

bool HasRemainder(const Polynomial& p) {
  return p.terms.size() <= kMostTermsToJoin &&
         std::any_of(p.terms.begin(), p.terms.end(),
                     [](const Term& t) { return t.monomial.kind() == ExprKind::kMod; });
}

}  // namespace

absl::Span<const Rule> AddRules() { return kRules; }

Term ToTerm(const Expr& e) {
  const ExprNode* node = e.node();
  if (node->monomial != nullptr) {
    return {ContextAccess::ToExpr(node->monomial), *node->operand_span()[0].AsInt()};
  }
  return {e, 1};
}

static Polynomial PolynomialOf(absl::Span<const Expr> terms) {
  Polynomial p;
  p.terms.reserve(terms.size());
  for (const Expr& term : terms) {
    if (term.is_const()) {
      p.constant = *term.AsInt();
    } else {
      p.terms.push_back(ToTerm(term));
    }
  }
  return p;
}

Polynomial ToPolynomial(const Expr& e) {
  if (e.kind() == ExprKind::kAdd) return PolynomialOf(e.operands());
  Polynomial p;
  if (e.is_const()) {
    p.constant = *e.AsInt();
  } else if (e.IsOverflow()) {
    p.overflow = true;
  } else {
    p.terms.push_back(ToTerm(e));
  }
  return p;
}

Polynomial AddScaled(const Polynomial& a, const Polynomial& b, int64_t scale) {
  if (a.overflow || b.overflow) return Overflowed();
  Polynomial r;
  int64_t scaled;
  if (__builtin_mul_overflow(b.constant, scale, &scaled) ||
      __builtin_add_overflow(a.constant, scaled, &r.constant)) {
    return Overflowed();
  }
  r.terms.reserve(a.terms.size() + b.terms.size());
  size_t i = 0, j = 0;
  while (i < a.terms.size() || j < b.terms.size()) {
    const int order = i == a.terms.size()   ? 1
                      : j == b.terms.size() ? -1
                      : a.terms[i].monomial == b.terms[j].monomial
                          ? 0
                          : Compare(a.terms[i].monomial, b.terms[j].monomial);
    if (order < 0) {
      r.terms.push_back(a.terms[i++]);
      continue;
    }
    Term term = b.terms[j++];
    if (__builtin_mul_overflow(term.coefficient, scale, &term.coefficient)) return Overflowed();
    if (order == 0 &&
        __builtin_add_overflow(term.coefficient, a.terms[i++].coefficient, &term.coefficient)) {
      return Overflowed();
    }
    if (term.coefficient != 0) r.terms.push_back(term);
  }
  return r;
}

size_t CommonPrefix(absl::Span<const Expr> x, absl::Span<const Expr> y) {
  static_assert(std::has_unique_object_representations_v<Expr>);
  constexpr size_t kBlock = 16;  // operands that are compared as bytes
  const size_t least = std::min(x.size(), y.size());
  size_t same = 0;
  while (same + kBlock <= least &&
         std::memcmp(x.data() + same, y.data() + same, kBlock * sizeof(Expr)) == 0) {
    same += kBlock;
  }
  while (same < least && x[same] == y[same]) ++same;
  return same;
}

Polynomial Difference(const Expr& a, const Expr& b) {
  if (a.kind() != ExprKind::kAdd || b.kind() != ExprKind::kAdd) {
    return AddScaled(ToPolynomial(a), ToPolynomial(b), -1);
  }
  // What both begin with goes away: sizes that were added one by one share all but the last.
  const absl::Span<const Expr> x = a.operands(), y = b.operands();
  const size_t same = CommonPrefix(x, y);
  return AddScaled(PolynomialOf(x.subspan(same)), PolynomialOf(y.subspan(same)), -1);
}

Polynomial Scaled(const Polynomial& a, int64_t scale) { return AddScaled({}, a, scale); }

Expr TimesConstant(ExprContext* context, const Expr& monomial, int64_t coefficient) {
  if (coefficient == 1) return monomial;
  absl::InlinedVector<Expr, 6> operands = {coefficient};
  if (monomial.kind() == ExprKind::kMul) {
    operands.insert(operands.end(), monomial.operands().begin(), monomial.operands().end());
  } else {
    operands.push_back(monomial);
  }
  return ContextAccess::Intern(context, ExprKind::kMul, operands);
}

Expr FromPolynomial(ExprContext* context, const Polynomial& p) {
  if (p.overflow) return Expr::Overflow();
  if (HasRemainder(p)) {
    if (const auto e = ApplyRules(kRules, {context, ExprKind::kAdd, {}, &p})) return *e;
  }
  if (p.terms.empty()) return p.constant;
  if (p.terms.size() == 1 && p.constant == 0) {
    return TimesConstant(context, p.terms[0].monomial, p.terms[0].coefficient);
  }
  absl::InlinedVector<Expr, 8> operands;
  operands.reserve(p.terms.size() + 1);
  for (const Term& t : p.terms) {
    operands.push_back(TimesConstant(context, t.monomial, t.coefficient));
  }
  if (p.constant != 0) operands.push_back(p.constant);
  return ContextAccess::Intern(context, ExprKind::kAdd, operands);
}

int64_t CoefficientGcd(const Polynomial& p) {
  int64_t g = 0;
  for (const Term& t : p.terms) {
    g = Gcd(g, t.coefficient);
    if (g == 1) break;
  }
  return g;
}

Range IntrinsicRange(const Polynomial& p) {
  if (p.overflow) return {};
  Range r = {p.constant, p.constant};
  for (const Term& t : p.terms) {
    r = r + IntrinsicRange(t.monomial) * Range{t.coefficient, t.coefficient};
    if (r.lower == Range::kMin && r.upper == Range::kMax) break;
  }
  return r;
}

std::optional<int64_t> ConstantDifference(const Expr& a, const Expr& b) {
  if (a.type() != ExprType::kInt || b.type() != ExprType::kInt) return std::nullopt;
  if (IsInfinite(a) || IsInfinite(b)) return std::nullopt;
  const Polynomial difference = Difference(b, a);
  if (!difference.is_constant()) return std::nullopt;
  return difference.constant;
}

}  // namespace lathe::symbolic
