#include "symbolic/substitution.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "symbolic/domination.h"
#include "symbolic/monomial.h"

namespace lathe::symbolic {
namespace {

constexpr int kMostSteps = 48;  // of one proof, those in vain included
constexpr int kDeepest = 10;
constexpr size_t kMostTerms = 12;
constexpr size_t kMostFactsOfOne = 8;
constexpr size_t kMostUnknowns = 12;

class Substitution {
 public:
  explicit Substitution(Knowledge& k) : k_(k) {}

  bool Proves(const Polynomial& p, int depth) {
    if (p.overflow || p.terms.size() > kMostTerms) return false;
    if (k_.RangeOf(p).lower >= 0) return true;
    if (depth > 0 && IsNonNegativeByTerms(k_, p)) return true;
    if (depth >= kDeepest) return false;
    for (const Expr& unknown : UnknownsOf(p)) {
      const std::optional<Polynomial> others = CofactorOf(unknown, p);
      if (others && WithFactsOf(unknown, *others, p, depth)) return true;
      if (unknown.kind() == ExprKind::kFloorDiv && WithQuotient(unknown, p, depth)) return true;
    }
    return false;
  }

 private:
  using Size = std::pair<size_t, size_t>;  // unknowns, terms

  static std::vector<Expr> UnknownsOf(const Polynomial& p) {
    std::vector<Expr> unknowns;
    for (const Term& t : p.terms) {
      for (const Power& f : FactorsOf(t.monomial)) {
        const bool known = std::find(unknowns.begin(), unknowns.end(), f.base) != unknowns.end();
        if (!known && unknowns.size() < kMostUnknowns) unknowns.push_back(f.base);
      }
    }
    return unknowns;
  }
  static Size SizeOf(const Polynomial& p) { return {UnknownsOf(p).size(), p.terms.size()}; }

  // What `unknown` is multiplied with in p; nothing where it stands in a power.
  std::optional<Polynomial> CofactorOf(const Expr& unknown, const Polynomial& p) const {
    Polynomial others;
    for (const Term& t : p.terms) {
      const std::vector<Power> factors = FactorsOf(t.monomial);
      const auto at = std::find_if(factors.begin(), factors.end(),
                                   [&](const Power& f) { return f.base == unknown; });
      if (at == factors.end()) continue;
      if (at->exponent != 1) return std::nullopt;
      const std::optional<Expr> rest = DivideMonomial(k_.context(), t.monomial, unknown);
      if (!rest) return std::nullopt;
      others = AddScaled(others, ToPolynomial(*rest), t.coefficient);
    }
    return others;
  }

  bool WithFactsOf(const Expr& unknown, const Polynomial& others, const Polynomial& p, int depth) {
    const Range r = k_.RangeOf(others);
    const int64_t sign = r.lower >= 0 ? 1 : r.upper <= 0 ? -1 : 0;
    const std::vector<int>* facts = k_.InequalitiesWith(unknown);
    if (sign == 0 || facts == nullptr) return false;
    const Size size = SizeOf(p);
    const size_t n = std::min(facts->size(), kMostFactsOfOne);
    for (size_t i = 0; i < n; ++i) {
      const Polynomial& fact = k_.InequalityAt((*facts)[facts->size() - 1 - i]);
      if (!IsBoundBy(fact, unknown, sign) || ++steps_ > kMostSteps) continue;
      const Polynomial rest = AddScaled(p, Product(others, fact), -sign);
      if (!rest.overflow && SizeOf(rest) < size && Proves(rest, depth + 1)) return true;
    }
    return false;
  }

  // y*q <= x < y*q + y, where q = x//y of a positive y stands in products with y.
  bool WithQuotient(const Expr& q, const Polynomial& p, int depth) {
    const Expr &x = q.operands()[0], &y = q.operands()[1];
    if (y.is_const() || k_.RangeOf(y).lower < 1) return false;
    const Polynomial product = ToPolynomial(y * q);
    if (product.terms.size() != 1 || product.constant != 0 || product.terms[0].coefficient != 1) {
      return false;
    }
    Polynomial others;
    for (const Term& t : p.terms) {
      const std::vector<Power> factors = FactorsOf(t.monomial);
      const bool has =
          std::any_of(factors.begin(), factors.end(), [&](const Power& f) { return f.base == q; });
      if (!has) continue;
      const std::optional<Expr> rest =
          DivideMonomial(k_.context(), t.monomial, product.terms[0].monomial);
      if (!rest) return false;
      others = AddScaled(others, ToPolynomial(*rest), t.coefficient);
    }
    const Range r = k_.RangeOf(others);
    const int64_t sign = r.lower >= 0 ? 1 : r.upper <= 0 ? -1 : 0;
    if (sign == 0 || ++steps_ > kMostSteps) return false;
    // y*q - (x - y + 1) >= 0 or x - y*q >= 0
    Polynomial fact = AddScaled(product, ToPolynomial(x), -1);
    if (sign > 0) {
      fact = AddScaled(fact, ToPolynomial(y), 1);
      fact.overflow |= __builtin_sub_overflow(fact.constant, 1, &fact.constant);
    } else {
      fact = Scaled(fact, -1);
    }
    const Polynomial rest = AddScaled(p, Product(others, fact), -sign);
    return !rest.overflow && SizeOf(rest) < SizeOf(p) && Proves(rest, depth + 1);
  }

  // sign * unknown + (without it) >= 0
  static bool IsBoundBy(const Polynomial& fact, const Expr& unknown, int64_t sign) {
    if (fact.terms.size() > kMostTerms / 2) return false;
    return std::all_of(fact.terms.begin(), fact.terms.end(), [&](const Term& t) {
      if (t.monomial == unknown) return t.coefficient == sign;
      const std::vector<Power> factors = FactorsOf(t.monomial);
      return std::none_of(factors.begin(), factors.end(),
                          [&](const Power& f) { return f.base == unknown; });
    });
  }

  Polynomial Product(const Polynomial& a, const Polynomial& b) const {
    Polynomial product = a.constant == 0 ? Polynomial() : Scaled(b, a.constant);
    for (const Term& t : a.terms) {
      product = AddScaled(product, MultiplyByTerm(k_.context(), b, t), 1);
    }
    return product;
  }

  Knowledge& k_;
  int steps_ = 0;
};

}  // namespace

bool IsNonNegativeBySubstitution(Knowledge& k, const Polynomial& p) {
  return Substitution(k).Proves(p, 0);
}

}  // namespace lathe::symbolic
