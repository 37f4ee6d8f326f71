#include "symbolic/simplify/divide_common.h"

#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {
namespace {

Polynomial Divided(Polynomial p, int64_t factor) {
  for (Term& t : p.terms) t.coefficient /= factor;
  p.constant /= factor;
  return p;
}

bool Divisible(const Polynomial& p, int64_t value) {
  // INT64_MIN / -1 does not fit.
  for (const Term& t : p.terms) {
    if (value < 0 && t.coefficient == INT64_MIN) return false;
  }
  return value > 0 || p.constant != INT64_MIN;
}

}  // namespace

std::optional<int64_t> ConstantQuotient(const Range& range, int64_t d) {
  if (range.lower == Range::kMin || range.upper == Range::kMax) return std::nullopt;
  if (range.upper == Range::kMin || range.lower == Range::kMax) return std::nullopt;
  const int64_t q = FloorBy(range.lower, d);
  if (q != FloorBy(range.upper, d)) return std::nullopt;
  return q;
}

CommonParts WithoutCommonFactor(ExprContext* context, const Expr& a, const Expr& b) {
  const Polynomial x = ToPolynomial(a), y = ToPolynomial(b);
  if (x.overflow || y.overflow || y.terms.empty()) return {a, b, 1};
  int64_t g = Gcd(Gcd(CoefficientGcd(x), x.constant), Gcd(CoefficientGcd(y), y.constant));
  if (g == 0) g = 1;
  if (y.terms[0].coefficient < 0) g = -g;
  if (g == 1 || !Divisible(x, g) || !Divisible(y, g)) return {a, b, 1};
  return {FromPolynomial(context, Divided(x, g)), FromPolynomial(context, Divided(y, g)), g};
}

}  // namespace lathe::symbolic
