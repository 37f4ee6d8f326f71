#include "symbolic/signs.h"

#include <algorithm>
#include <vector>

#include "symbolic/monomial.h"

namespace lathe::symbolic {
namespace {

constexpr int64_t kHighestDegree = 6;
constexpr int64_t kMostValues = 4096;
constexpr int64_t kLargestCoefficient = int64_t{1} << 40;

// Coefficients by exponent, of the unknown `base`.
std::optional<std::vector<int64_t>> CoefficientsOf(const Polynomial& p, Expr& base) {
  std::vector<int64_t> c(1, p.constant);
  for (const Term& t : p.terms) {
    const std::vector<Power> factors = FactorsOf(t.monomial);
    if (factors.size() != 1 || factors[0].exponent > kHighestDegree) return std::nullopt;
    if (base == 0) base = factors[0].base;
    if (factors[0].base != base) return std::nullopt;
    c.resize(std::max(c.size(), static_cast<size_t>(factors[0].exponent) + 1), 0);
    c[static_cast<size_t>(factors[0].exponent)] = t.coefficient;
  }
  const auto is_large = [](int64_t v) {
    return v > kLargestCoefficient || v < -kLargestCoefficient;
  };
  if (c.size() < 3 || std::any_of(c.begin(), c.end(), is_large)) return std::nullopt;
  return c;
}

// Beyond this, on either side, the sign is that of the leading term (Cauchy).
int64_t RootBound(const std::vector<int64_t>& c) {
  int64_t largest = 0;
  for (size_t i = 0; i + 1 < c.size(); ++i) largest = std::max(largest, c[i] < 0 ? -c[i] : c[i]);
  const int64_t lead = c.back() < 0 ? -c.back() : c.back();
  return largest / lead + 2;
}

void Note(Signs& signs, __int128 value) {
  (value < 0 ? signs.negative : value == 0 ? signs.zero : signs.positive) = true;
}

}  // namespace

std::optional<Signs> SignsOf(Knowledge& k, const Polynomial& p) {
  if (p.overflow || p.terms.empty()) return std::nullopt;
  Expr base = 0;
  const std::optional<std::vector<int64_t>> c = CoefficientsOf(p, base);
  if (!c) return std::nullopt;
  const Range r = k.RangeOf(base);
  const int64_t bound = RootBound(*c);
  const int64_t low = std::max(r.lower, -bound), high = std::min(r.upper, bound);
  if (high - low >= kMostValues) return std::nullopt;
  Signs signs;
  if (r.upper > bound) Note(signs, c->back());
  if (r.lower < -bound) Note(signs, c->size() % 2 == 1 ? c->back() : -c->back());
  for (int64_t x = low; x <= high; ++x) {
    __int128 value = 0;  // below 2^(12*6 + 43): |x| <= 4096 or all of x is in a narrow range
    for (size_t i = c->size(); i-- > 0;) {
      if (__builtin_mul_overflow(value, static_cast<__int128>(x), &value) ||
          __builtin_add_overflow(value, static_cast<__int128>((*c)[i]), &value)) {
        return std::nullopt;
      }
    }
    Note(signs, value);
  }
  return signs;
}

}  // namespace lathe::symbolic
