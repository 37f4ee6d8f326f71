#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

// Products of sums are multiplied out up to this many terms and stay products beyond.
constexpr int64_t kLargestExpansion = 64;

struct Factor {
  Expr base;
  int64_t exponent;
};
struct Factors {
  int64_t coefficient = 1;
  bool overflow = false;
  absl::InlinedVector<Factor, 6> list;
};

std::optional<int64_t> IntegerPow(int64_t base, int64_t exponent) {
  if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
  if (base == -1) return exponent % 2 == 0 ? 1 : -1;
  if (exponent > 63) return std::nullopt;
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i) {
    if (__builtin_mul_overflow(result, base, &result)) return std::nullopt;
  }
  return result;
}

// Adds e^exponent. Products contain no products, so one level suffices.
void AddFactor(Factors& factors, const Expr& e, int64_t exponent) {
  if (const std::optional<int64_t> value = e.AsInt()) {
    const std::optional<int64_t> power = IntegerPow(*value, exponent);
    factors.overflow |= !power || __builtin_mul_overflow(factors.coefficient, power.value_or(1),
                                                         &factors.coefficient);
  } else if (e.kind() == ExprKind::kMul) {
    for (const Expr& f : e.operands()) AddFactor(factors, f, exponent);
  } else if (e.kind() == ExprKind::kPow && e.operands()[1].is_const()) {
    const std::optional<int64_t> total = CheckedMul(*e.operands()[1].AsInt(), exponent);
    factors.overflow |= !total;
    factors.list.push_back({e.operands()[0], total.value_or(1)});
  } else {
    factors.list.push_back({e, exponent});
  }
}

// Products come with their factors in order: two of them are merged, one more is a pass.
void SortFactors(Factors& factors) {
  const auto before = [](const Factor& a, const Factor& b) {
    return a.base != b.base && Compare(a.base, b.base) < 0;
  };
  const auto begin = factors.list.begin(), end = factors.list.end();
  const auto second = std::is_sorted_until(begin, end, before);
  if (second == end) return;
  if (std::is_sorted(second, end, before)) {
    std::inplace_merge(begin, second, end, before);
  } else {
    std::sort(begin, end, before);
  }
}

bool SortAndMerge(Factors& factors) {
  SortFactors(factors);
  size_t out = 0;
  for (const Factor& f : factors.list) {
    if (out > 0 && factors.list[out - 1].base == f.base) {
      int64_t& exponent = factors.list[out - 1].exponent;
      if (__builtin_add_overflow(exponent, f.exponent, &exponent)) return false;
    } else {
      factors.list[out++] = f;
    }
  }
  factors.list.resize(out, Factor{0, 0});
  return true;
}

Expr PowerNode(ExprContext* context, const Factor& f) {
  if (f.exponent == 1) return f.base;
  return ContextAccess::Intern(context, ExprKind::kPow, {f.base, f.exponent});
}

// The product as it stands, without multiplying sums out.
Expr ProductNode(ExprContext* context, const Factors& factors) {
  if (factors.list.empty()) return factors.coefficient;
  absl::InlinedVector<Expr, 6> operands;
  for (const Factor& f : factors.list) operands.push_back(PowerNode(context, f));
  const Expr monomial =
      operands.size() == 1 ? operands[0] : ContextAccess::Intern(context, ExprKind::kMul, operands);
  if (monomial.IsOverflow()) return monomial;
  return TimesConstant(context, monomial, factors.coefficient);
}

// How many products of terms the expansion takes; more than the limit if too many.
int64_t ExpansionSize(const Factors& factors) {
  int64_t size = 1;
  for (const Factor& f : factors.list) {
    if (f.base.kind() != ExprKind::kAdd) continue;
    const int64_t terms = static_cast<int64_t>(f.base.operands().size());
    for (int64_t i = 0; i < f.exponent; ++i) {
      size *= terms;
      if (size > kLargestExpansion) return size;
    }
  }
  return size;
}

Expr MultiplySums(ExprContext* context, const Expr& a, const Expr& b) {
  const Polynomial x = ToPolynomial(a), y = ToPolynomial(b);
  Polynomial result = Scaled(y, x.constant);
  result = AddScaled(result, Scaled({x.terms, 0, x.overflow}, 1), y.constant);
  for (const Term& s : x.terms) {
    for (const Term& t : y.terms) {
      const std::optional<int64_t> c = CheckedMul(s.coefficient, t.coefficient);
      if (!c) return Expr::Overflow();
      const Expr product = SimplifyProduct(context, {s.monomial, t.monomial});
      result = AddScaled(result, ToPolynomial(product), *c);
    }
  }
  return FromPolynomial(context, result);
}

Expr Expand(ExprContext* context, const Factors& factors) {
  Factors rest;
  rest.coefficient = factors.coefficient;
  for (const Factor& f : factors.list) {
    if (f.base.kind() != ExprKind::kAdd) rest.list.push_back(f);
  }
  Expr result = ProductNode(context, rest);
  for (const Factor& f : factors.list) {
    if (f.base.kind() != ExprKind::kAdd) continue;
    for (int64_t i = 0; i < f.exponent; ++i) result = MultiplySums(context, result, f.base);
  }
  return result;
}

// min(x, y) * max(x, y) = x * y. True if a pair was replaced.
bool MultiplyExtremes(Factors& factors) {
  for (Factor& low : factors.list) {
    if (low.base.kind() != ExprKind::kMin || low.base.operands().size() != 2) continue;
    for (Factor& high : factors.list) {
      if (high.base.kind() != ExprKind::kMax || high.base.operands() != low.base.operands() ||
          high.exponent != low.exponent) {
        continue;
      }
      const absl::Span<const Expr> x = low.base.operands();
      low.base = x[0];
      high.base = x[1];
      return true;
    }
  }
  return false;
}

Expr FinishProduct(ExprContext* context, Factors& factors) {
  if (factors.overflow) return Expr::Overflow();
  if (factors.coefficient == 0) return 0;
  if (MultiplyExtremes(factors)) {
    Factors again;
    again.coefficient = factors.coefficient;
    for (const Factor& f : factors.list) AddFactor(again, f.base, f.exponent);
    return FinishProduct(context, again);
  }
  if (!SortAndMerge(factors)) return Expr::Overflow();
  const bool any_sum = std::any_of(factors.list.begin(), factors.list.end(),
                                   [](const Factor& f) { return f.base.kind() == ExprKind::kAdd; });
  if (!any_sum) return ProductNode(context, factors);
  // A number times a sum always distributes, unless the sum is opaque.
  if (factors.list.size() == 1 && factors.list[0].exponent == 1 &&
      factors.list[0].base.operands().size() <= kLargestFlatSum) {
    const Expr& sum = factors.list[0].base;
    return FromPolynomial(context, Scaled(ToPolynomial(sum), factors.coefficient));
  }
  if (ExpansionSize(factors) > kLargestExpansion) return ProductNode(context, factors);
  return Expand(context, factors);
}

Expr ProductWithInfinity(absl::Span<const Expr> factors) {
  bool negative = false;
  for (const Expr& e : factors) {
    if (e.kind() == ExprKind::kInfinity) continue;
    if (!e.is_const() && e.kind() != ExprKind::kNegInfinity) return Expr::Overflow();
    if (e.is_const() && *e.AsInt() == 0) return Expr::Overflow();
    negative ^= e.kind() == ExprKind::kNegInfinity || *e.AsInt() < 0;
  }
  return negative ? Expr::NegInfinity() : Expr::Infinity();
}

Expr ProductOfFloats(ExprContext* context, absl::Span<const Expr> factors) {
  Expr result = factors[0];
  for (const Expr& e : factors.subspan(1)) {
    if (result.type() == ExprType::kFloat || e.type() == ExprType::kFloat) {
      result = SimplifyFloat(context, ExprKind::kFloatMul, {result, e});
    } else {
      result = SimplifyProduct(context, {result, e});
    }
  }
  return result;
}

}  // namespace

std::optional<Expr> ScaledPlainTerm(const Expr& a, const Expr& b) {
  const Expr& e = a.is_const() ? b : a;
  const Expr& c = a.is_const() ? a : b;
  if (!c.is_const() || e.node() == nullptr || e.type() != ExprType::kInt) return std::nullopt;
  const bool is_leaf = e.kind() <= ExprKind::kOverflow && !e.is_symbol();
  if (is_leaf || e.kind() == ExprKind::kAdd || e.kind() == ExprKind::kMul) return std::nullopt;
  if (*c.AsInt() == 0) return 0;
  return TimesConstant(e.node()->context, e, *c.AsInt());
}

Expr SimplifyProduct(ExprContext* context, absl::Span<const Expr> factors) {
  if (factors.empty()) return 1;
  absl::InlinedVector<Expr, 4> numbers;
  bool any_infinite = false, any_float = false;
  for (const Expr& e : factors) {
    if (e.IsOverflow()) return e;
    any_infinite |= IsInfinite(e);
    any_float |= e.type() == ExprType::kFloat;
    numbers.push_back(AsNumber(context, e));
  }
  if (numbers.size() == 1) return numbers[0];
  if (any_float) return ProductOfFloats(context, numbers);
  if (any_infinite) return ProductWithInfinity(numbers);
  Factors product;
  for (const Expr& e : numbers) AddFactor(product, e, 1);
  return FinishProduct(context, product);
}

Expr SimplifyPow(ExprContext* context, const Expr& a, const Expr& b) {
  if (a.IsOverflow() || b.IsOverflow()) return Expr::Overflow();
  if (a.type() == ExprType::kFloat || b.type() == ExprType::kFloat) {
    return SimplifyFloat(context, ExprKind::kFloatPow, {a, b});
  }
  const Expr base = AsNumber(context, a);
  const Expr exponent = AsNumber(context, b);
  if (IsInfinite(base) || IsInfinite(exponent)) return Expr::Overflow();
  if (!exponent.is_const()) return ContextAccess::Intern(context, ExprKind::kPow, {base, exponent});
  const int64_t n = *exponent.AsInt();
  if (n < 0) return Expr::Overflow();  // not an integer
  if (n == 0) return 1;
  if (n == 1) return base;
  Factors product;
  AddFactor(product, base, n);
  return FinishProduct(context, product);
}

}  // namespace lathe::symbolic
