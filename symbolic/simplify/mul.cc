#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/polynomial.h"
#include "symbolic/simplify/rule.h"
#include "symbolic/simplify/rules.h"

namespace lathe::symbolic {
namespace {

// Products of sums are multiplied out up to this many terms and stay products beyond.
constexpr int64_t kLargestExpansion = 64;

constexpr int64_t kLargestRoot = 64;

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

struct ProductInput : RuleInput {
  const Factors* factors = nullptr;
};
// Rows of products see the factors, sorted, each base once.
const Factors& FactorsOf(const RuleInput& in) {
  return *static_cast<const ProductInput&>(in).factors;
}

std::optional<Expr> TimesZero(const RuleInput& in) {
  if (FactorsOf(in).coefficient != 0) return std::nullopt;
  return 0;
}

Expr FinishProduct(ExprContext* context, ExprKind kind, absl::Span<const Expr> x, Factors& factors);

std::optional<Expr> MinTimesMax(const RuleInput& in) {
  const Factors& factors = FactorsOf(in);
  for (const Factor& low : factors.list) {
    if (low.base.kind() != ExprKind::kMin || low.base.operands().size() != 2) continue;
    for (const Factor& high : factors.list) {
      if (high.base.kind() != ExprKind::kMax || high.base.operands() != low.base.operands() ||
          high.exponent != low.exponent) {
        continue;
      }
      Factors again;
      again.coefficient = factors.coefficient;
      for (const Factor& f : factors.list) {
        const Expr& base = &f == &low    ? low.base.operands()[0]
                           : &f == &high ? low.base.operands()[1]
                                         : f.base;
        AddFactor(again, base, f.exponent);
      }
      return FinishProduct(in.context, in.kind, in.x, again);
    }
  }
  return std::nullopt;
}

bool IsSum(const Factor& f) { return f.base.kind() == ExprKind::kAdd; }

// Unless the sum is opaque.
std::optional<Expr> NumberTimesSum(const RuleInput& in) {
  const Factors& factors = FactorsOf(in);
  if (factors.list.size() != 1 || factors.list[0].exponent != 1 || !IsSum(factors.list[0]) ||
      factors.list[0].base.operands().size() > kLargestFlatSum) {
    return std::nullopt;
  }
  const Expr& sum = factors.list[0].base;
  return FromPolynomial(in.context, Scaled(ToPolynomial(sum), factors.coefficient));
}

std::optional<Expr> MultiplyOut(const RuleInput& in) {
  const Factors& factors = FactorsOf(in);
  if (std::none_of(factors.list.begin(), factors.list.end(), IsSum)) return std::nullopt;
  if (ExpansionSize(factors) > kLargestExpansion) return std::nullopt;
  return Expand(in.context, factors);
}

constexpr Rule kMulRules[] = {
    {"mul.times_zero", "0*x = 0", "always", TimesZero},
    {"mul.min_times_max", "min(x, y)*max(x, y) = x*y", "the same two operands", MinTimesMax},
    {"mul.number_times_sum", "c*(x + y) = c*x + c*y", "a sum of at most 512 terms", NumberTimesSum},
    {"mul.multiply_out", "(x + y)*z = x*z + y*z", "at most 64 products", MultiplyOut},
};

// Factors sorted and merged by their exponents, then the rows.
Expr FinishProduct(ExprContext* context, ExprKind kind, absl::Span<const Expr> x,
                   Factors& factors) {
  if (factors.overflow) return Expr::Overflow();
  if (factors.coefficient != 0 && !SortAndMerge(factors)) return Expr::Overflow();
  ProductInput in;
  in.context = context;
  in.kind = kind;
  in.x = x;
  in.factors = &factors;
  if (const auto e = ApplyRules(kMulRules, in)) return *e;
  return ProductNode(context, factors);
}

std::optional<Expr> PowerZero(const RuleInput& in) {
  if (in.x[1] != 0) return std::nullopt;
  return 1;
}
std::optional<Expr> PowerOne(const RuleInput& in) {
  if (in.x[1] != 1) return std::nullopt;
  return in.x[0];
}
std::optional<Expr> NegativePower(const RuleInput& in) {
  if (!in.x[1].is_const() || *in.x[1].AsInt() >= 0) return std::nullopt;
  return Expr::Overflow();  // not an integer
}
std::optional<Expr> PowerIsProduct(const RuleInput& in) {
  if (!in.x[1].is_const()) return std::nullopt;
  Factors product;
  AddFactor(product, in.x[0], *in.x[1].AsInt());
  return FinishProduct(in.context, in.kind, in.x, product);
}

// The least root of a number that is a power itself.
std::optional<Expr> PowerOfPower(const RuleInput& in) {
  const std::optional<int64_t> c = in.x[0].AsInt();
  if (!c || *c < 4 || in.x[1].is_const()) return std::nullopt;
  for (int64_t root = 2; root <= kLargestRoot && root * root <= *c; ++root) {
    int64_t power = root, n = 1;
    while (power < *c && !__builtin_mul_overflow(power, root, &power)) ++n;
    if (power != *c) continue;
    const Expr inner = ContextAccess::Intern(in.context, ExprKind::kPow, {root, in.x[1]});
    return ContextAccess::Intern(in.context, ExprKind::kPow, {inner, n});
  }
  return std::nullopt;
}

constexpr Rule kPowRules[] = {
    {"pow.zero", "x**0 = 1", "always, 0**0 too", PowerZero},
    {"pow.one", "x**1 = x", "always", PowerOne},
    {"pow.negative", "x**-n = overflow", "n > 0 constant", NegativePower},
    {"pow.is_product", "(x*y)**n = x**n*y**n, (x**m)**n = x**(m*n)", "n > 1 constant",
     PowerIsProduct},
    {"pow.of_power", "4**y = (2**y)**2", "the number is a power of one up to 64", PowerOfPower},
};

// A product with a symbol more is that product copied: no row applies that did not before.
std::optional<Expr> InsertSymbol(ExprContext* context, const Expr& product, const Expr& symbol) {
  if (product.kind() != ExprKind::kMul || !symbol.is_symbol()) return std::nullopt;
  const bool scaled = product.operands()[0].is_const();
  const absl::Span<const Expr> x = product.operands().subspan(scaled ? 1 : 0);
  const auto base = [](const Expr& e) -> const Expr& {
    return e.kind() == ExprKind::kPow && e.operands()[1].is_const() ? e.operands()[0] : e;
  };
  const auto at = std::lower_bound(x.begin(), x.end(), symbol, [&](const Expr& e, const Expr& s) {
    return Compare(base(e), s) < 0;
  });
  const bool is_new = at == x.end() || base(*at) != symbol;
  if (is_new && !scaled) {
    return ContextAccess::InternLonger(product.node(), symbol, static_cast<size_t>(at - x.begin()));
  }
  absl::InlinedVector<Expr, 16> factors;
  factors.reserve(x.size() + 1);
  factors.insert(factors.end(), x.begin(), at);
  if (is_new) {
    factors.push_back(symbol);
    factors.insert(factors.end(), at, x.end());
  } else {
    const int64_t exponent = *at == symbol ? 1 : *at->operands()[1].AsInt();
    if (exponent == INT64_MAX) return std::nullopt;
    factors.push_back(ContextAccess::Intern(context, ExprKind::kPow, {symbol, exponent + 1}));
    factors.insert(factors.end(), at + 1, x.end());
  }
  // x*x is a power, not a product.
  const Expr monomial =
      factors.size() == 1 ? factors[0] : ContextAccess::Intern(context, ExprKind::kMul, factors);
  return scaled ? TimesConstant(context, monomial, *product.operands()[0].AsInt()) : monomial;
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

absl::Span<const Rule> MulRules() { return kMulRules; }
absl::Span<const Rule> PowRules() { return kPowRules; }

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
  if (numbers.size() == 2) {
    if (const auto e = InsertSymbol(context, numbers[0], numbers[1])) return *e;
    if (const auto e = InsertSymbol(context, numbers[1], numbers[0])) return *e;
  }
  Factors product;
  for (const Expr& e : numbers) AddFactor(product, e, 1);
  return FinishProduct(context, ExprKind::kMul, numbers, product);
}

Expr SimplifyPow(ExprContext* context, const Expr& a, const Expr& b) {
  if (a.IsOverflow() || b.IsOverflow()) return Expr::Overflow();
  if (a.type() == ExprType::kFloat || b.type() == ExprType::kFloat) {
    return SimplifyFloat(context, ExprKind::kFloatPow, {a, b});
  }
  const Expr base = AsNumber(context, a);
  const Expr exponent = AsNumber(context, b);
  if (IsInfinite(base) || IsInfinite(exponent)) return Expr::Overflow();
  const Expr operands[] = {base, exponent};
  if (const auto e = ApplyRules(kPowRules, {context, ExprKind::kPow, operands})) return *e;
  return ContextAccess::Intern(context, ExprKind::kPow, operands);
}

}  // namespace lathe::symbolic
