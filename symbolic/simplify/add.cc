#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

// A sum that is merged with its neighbours; larger ones stay one term, so that a chain of n
// additions costs n and not n^2.
bool IsFlattened(const Expr& e) { return e.operands().size() <= kLargestFlatSum; }

bool IsOpaqueSum(const Expr& e) { return e.kind() == ExprKind::kAdd && !IsFlattened(e); }

Polynomial AsAddend(const Expr& e) {
  if (!IsOpaqueSum(e)) return ToPolynomial(e);
  Polynomial p;
  p.terms.push_back({e, 1});
  return p;
}

// Finite integers do not matter beside an infinity.
Expr SumWithInfinity(absl::Span<const Expr> terms) {
  Expr result = 0;
  for (const Expr& e : terms) {
    if (!IsInfinite(e)) continue;
    if (IsInfinite(result) && result != e) return Expr::Overflow();
    result = e;
  }
  return result;
}

Expr SumOfFloats(ExprContext* context, absl::Span<const Expr> terms) {
  Expr result = terms[0];
  for (const Expr& e : terms.subspan(1)) {
    if (result.type() == ExprType::kFloat || e.type() == ExprType::kFloat) {
      result = SimplifyFloat(context, ExprKind::kFloatAdd, {result, e});
    } else {
      result = SimplifySum(context, {result, e});
    }
  }
  return result;
}

// Equal neighbours of a sorted list become one term.
bool MergeSorted(Polynomial& p) {
  size_t out = 0;
  for (size_t i = 0; i < p.terms.size();) {
    Term term = p.terms[i++];
    while (i < p.terms.size() && p.terms[i].monomial == term.monomial) {
      if (__builtin_add_overflow(term.coefficient, p.terms[i++].coefficient, &term.coefficient)) {
        return false;
      }
    }
    if (term.coefficient != 0) p.terms[out++] = term;
  }
  p.terms.resize(out, Term{0, 0});
  return true;
}

Expr SumOfMany(ExprContext* context, absl::Span<const Expr> terms) {
  Polynomial all;
  for (const Expr& e : terms) {
    const Polynomial p = AsAddend(e);
    if (p.overflow || __builtin_add_overflow(all.constant, p.constant, &all.constant)) {
      return Expr::Overflow();
    }
    all.terms.insert(all.terms.end(), p.terms.begin(), p.terms.end());
  }
  std::sort(all.terms.begin(), all.terms.end(),
            [](const Term& a, const Term& b) { return Compare(a.monomial, b.monomial) < 0; });
  if (!MergeSorted(all)) return Expr::Overflow();
  return FromPolynomial(context, all);
}

// A long sum with a term more is that sum copied: chains of additions have many of these.
constexpr size_t kShortestForInsertion = 8;

// Costs the same however long the sum is.
bool GoesAtEnd(absl::Span<const Expr> x, const Expr& term) {
  return !x.back().is_const() && Compare(ToTerm(x.back()).monomial, ToTerm(term).monomial) < 0;
}

bool CanInsert(const Expr& sum, const Expr& term) {
  if (sum.kind() != ExprKind::kAdd || term.is_const() || term.kind() == ExprKind::kAdd)
    return false;
  if (sum.IsOverflow() || term.IsOverflow()) return false;
  const absl::Span<const Expr> x = sum.operands();
  if (x.size() < kShortestForInsertion) return false;
  if (!IsFlattened(sum)) return GoesAtEnd(x, term);
  if (x.size() > kMostTermsToJoin) return true;
  const auto is_remainder = [](const Expr& e) {
    return !e.is_const() && ToTerm(e).monomial.kind() == ExprKind::kMod;
  };
  return !is_remainder(term) && std::none_of(x.begin(), x.end(), is_remainder);
}

Expr InsertTerm(ExprContext* context, const Expr& sum, const Expr& added, int64_t sign) {
  const absl::Span<const Expr> x = sum.operands();
  Term term = ToTerm(added);
  const std::optional<int64_t> own = CheckedMul(term.coefficient, sign);
  if (!own) return Expr::Overflow();
  const auto at =
      std::lower_bound(x.begin(), x.end(), term.monomial, [](const Expr& e, const Expr& m) {
        return !e.is_const() && Compare(ToTerm(e).monomial, m) < 0;
      });
  const bool same = at != x.end() && !at->is_const() && ToTerm(*at).monomial == term.monomial;
  const std::optional<int64_t> c = same ? CheckedAdd(*own, ToTerm(*at).coefficient) : own;
  if (!c) return Expr::Overflow();
  const size_t place = static_cast<size_t>(at - x.begin());
  if (!same) {
    return ContextAccess::InternLonger(sum.node(), TimesConstant(context, term.monomial, *c),
                                       place);
  }
  if (*c == 0 && x.size() > 2) return ContextAccess::InternWithout(sum.node(), place);
  absl::InlinedVector<Expr, 32> operands;
  operands.reserve(x.size());
  operands.insert(operands.end(), x.begin(), at);
  operands.push_back(TimesConstant(context, term.monomial, *c));
  operands.insert(operands.end(), at + 1, x.end());
  return ContextAccess::Intern(context, ExprKind::kAdd, operands);
}

// A term that two of its kind make a sum of as they stand: nothing to join, nothing to merge.
bool IsPlainTerm(const Expr& e) {
  if (e.node() == nullptr || e.type() != ExprType::kInt) return false;
  if (e.kind() == ExprKind::kAdd || (e.kind() <= ExprKind::kOverflow && !e.is_symbol())) {
    return false;
  }
  return ToTerm(e).monomial.kind() != ExprKind::kMod;
}

}  // namespace

std::optional<Expr> SumOfPlainTerms(const Expr& a, const Expr& b) {
  if (!IsPlainTerm(a) || !IsPlainTerm(b)) return std::nullopt;
  const int order = Compare(ToTerm(a).monomial, ToTerm(b).monomial);
  if (order == 0) return std::nullopt;
  return ContextAccess::Intern(a.node()->context, ExprKind::kAdd,
                               {order < 0 ? a : b, order < 0 ? b : a});
}

bool IsInfinite(const Expr& e) {
  return e.kind() == ExprKind::kInfinity || e.kind() == ExprKind::kNegInfinity;
}

Expr SimplifySum(ExprContext* context, absl::Span<const Expr> terms) {
  if (terms.empty()) return 0;
  absl::InlinedVector<Expr, 4> numbers;
  bool any_infinite = false, any_float = false;
  for (const Expr& e : terms) {
    if (e.IsOverflow()) return Expr::Overflow();
    any_infinite |= IsInfinite(e);
    any_float |= e.type() == ExprType::kFloat;
    numbers.push_back(AsNumber(context, e));
  }
  if (any_float) return SumOfFloats(context, numbers);
  if (any_infinite) return SumWithInfinity(numbers);
  if (numbers.size() == 1) return numbers[0];
  if (numbers.size() > 2) return SumOfMany(context, numbers);
  if (CanInsert(numbers[0], numbers[1])) return InsertTerm(context, numbers[0], numbers[1], 1);
  if (CanInsert(numbers[1], numbers[0])) return InsertTerm(context, numbers[1], numbers[0], 1);
  return FromPolynomial(context, AddScaled(AsAddend(numbers[0]), AsAddend(numbers[1]), 1));
}

Expr SimplifyDifference(ExprContext* context, const Expr& a, const Expr& b) {
  const bool plain =
      a.type() == ExprType::kInt && b.type() == ExprType::kInt && !IsInfinite(a) && !IsInfinite(b);
  if (plain && a.kind() == ExprKind::kAdd && a.node()->plain && !b.is_const() &&
      ContextAccess::BeginsWith(a.node(), b)) {
    const size_t taken = b.kind() == ExprKind::kAdd ? b.operands().size() : 1;
    const absl::Span<const Expr> rest = a.operands().subspan(taken);
    if (rest.empty()) return 0;
    return rest.size() == 1 ? rest[0] : ContextAccess::InternRest(a.node(), b);
  }
  if (plain && CanInsert(a, b)) return InsertTerm(context, a, b, -1);
  if (plain && !IsOpaqueSum(a) && !IsOpaqueSum(b)) return FromPolynomial(context, Difference(a, b));
  if (plain) return FromPolynomial(context, AddScaled(AsAddend(a), AsAddend(b), -1));
  const Expr minus_one = b.type() == ExprType::kFloat ? Expr::Float(-1) : Expr(-1);
  return SimplifySum(context, {a, SimplifyProduct(context, {minus_one, b})});
}

}  // namespace lathe::symbolic
