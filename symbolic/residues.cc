#include "symbolic/residues.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "symbolic/monomial.h"
#include "symbolic/simplify/checked.h"

namespace lathe::symbolic {
namespace {

constexpr size_t kMostTerms = 8;
constexpr size_t kMostUnknowns = 3;
constexpr int64_t kMostPoints = 4096;
constexpr int64_t kLargestModulus = 64;

struct Factor {
  size_t unknown;
  int64_t exponent;
};
struct Product {
  int64_t coefficient;
  absl::InlinedVector<Factor, 2> factors;
};

// A polynomial modulo a number.
class Equation {
 public:
  Equation(const Knowledge& k, const Polynomial& p, int64_t modulus) : modulus_(modulus) {
    constant_ = ModBy(p.constant, modulus);
    for (const Term& t : p.terms) {
      Product product = {ModBy(t.coefficient, modulus), {}};
      if (product.coefficient == 0) continue;
      for (const Power& f : FactorsOf(t.monomial)) {
        product.factors.push_back({UnknownOf(k, f.base), f.exponent});
      }
      products_.push_back(std::move(product));
    }
  }

  bool HasNoSolution() const {
    if (unknowns_.size() > kMostUnknowns) return false;
    int64_t points = 1;
    for (const Unknown& u : unknowns_) points *= static_cast<int64_t>(u.residues.size());
    if (points > kMostPoints) return false;
    std::vector<size_t> at(unknowns_.size(), 0);
    for (; points > 0; --points) {
      if (ValueAt(at) == 0) return false;
      for (size_t i = 0; i < at.size(); ++i) {
        if (++at[i] < unknowns_[i].residues.size()) break;
        at[i] = 0;
      }
    }
    return true;
  }

 private:
  struct Unknown {
    Expr e;
    std::vector<int64_t> residues;
  };

  size_t UnknownOf(const Knowledge& k, const Expr& e) {
    for (size_t i = 0; i < unknowns_.size(); ++i) {
      if (unknowns_[i].e == e) return i;
    }
    const Residue known = k.ResidueOf(e);
    const int64_t common = std::gcd(known.modulus, modulus_);
    Unknown u = {e, {}};
    for (int64_t r = 0; r < modulus_; ++r) {
      if (r % common == known.remainder % common) u.residues.push_back(r);
    }
    unknowns_.push_back(std::move(u));
    return unknowns_.size() - 1;
  }

  int64_t ValueAt(const std::vector<size_t>& at) const {
    int64_t sum = constant_;
    for (const Product& product : products_) {
      int64_t value = product.coefficient;
      for (const Factor& f : product.factors) {
        const int64_t base = unknowns_[f.unknown].residues[at[f.unknown]];
        for (int64_t i = 0; i < f.exponent; ++i) value = value * base % modulus_;
      }
      sum += value;
    }
    return sum % modulus_;
  }

  const int64_t modulus_;
  int64_t constant_ = 0;
  std::vector<Product> products_;
  std::vector<Unknown> unknowns_;
};

}  // namespace

bool IsNeverZeroByResidues(const Knowledge& k, const Polynomial& p) {
  if (p.overflow || p.terms.empty() || p.terms.size() > kMostTerms) return false;
  const bool has_large_power = std::any_of(p.terms.begin(), p.terms.end(), [](const Term& t) {
    return t.monomial.kind() == ExprKind::kPow &&
           !(t.monomial.operands()[1].is_const() && *t.monomial.operands()[1].AsInt() <= 16);
  });
  if (has_large_power) return false;
  absl::InlinedVector<int64_t, 16> moduli = {2, 3, 4, 5, 7, 8, 9, 11, 13, 16};
  const auto add = [&](int64_t m) {
    if (m > 1 && m <= kLargestModulus && std::find(moduli.begin(), moduli.end(), m) == moduli.end())
      moduli.push_back(m);
  };
  for (const Term& t : p.terms) {
    if (t.coefficient != INT64_MIN) add(std::abs(t.coefficient));
    add(k.ResidueOf(t.monomial).modulus);
  }
  return std::any_of(moduli.begin(), moduli.end(),
                     [&](int64_t m) { return Equation(k, p, m).HasNoSolution(); });
}

}  // namespace lathe::symbolic
