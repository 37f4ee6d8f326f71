#include "symbolic/domination.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolic/monomial.h"
#include "symbolic/simplify/checked.h"

namespace lathe::symbolic {
namespace {

constexpr int kMostSteps = 2000;  // along facts, for one difference
constexpr size_t kMostTerms = 12;
constexpr int64_t kMostFactors = 10;  // of a product, repeated ones counted

// A fact "other - e + constant >= 0".
struct Step {
  Expr other;
  int64_t constant;
};
std::optional<Step> StepFrom(const Expr& e, const Polynomial& fact) {
  if (fact.terms.size() != 2 || fact.overflow) return std::nullopt;
  const size_t own = fact.terms[0].monomial == e ? 0 : 1;
  if (fact.terms[own].coefficient != -1 || fact.terms[1 - own].coefficient != 1) {
    return std::nullopt;
  }
  return Step{fact.terms[1 - own].monomial, fact.constant};
}

std::optional<int64_t> Larger(std::optional<int64_t> a, std::optional<int64_t> b) {
  return !a ? b : !b ? a : std::max(*a, *b);
}

// Factors with repetitions.
std::optional<std::vector<Expr>> FactorList(const Expr& monomial) {
  std::vector<Expr> list;
  for (const Power& p : FactorsOf(monomial)) {
    if (p.exponent > kMostFactors - static_cast<int64_t>(list.size())) return std::nullopt;
    list.insert(list.end(), static_cast<size_t>(p.exponent), p.base);
  }
  return list;
}

// Pairs the factors of x, each 0 or more, with larger ones of y.
class Matching {
 public:
  Matching(Knowledge& k, std::vector<Expr> x, std::vector<Expr> y)
      : k_(k), x_(std::move(x)), y_(std::move(y)), taken_by_(y_.size(), -1) {}

  // The least difference that the pairs show, 0 or 1.
  std::optional<int64_t> Least() {
    const auto is_negative = [&](const Expr& e) { return k_.RangeOf(e).lower < 0; };
    if (std::any_of(x_.begin(), x_.end(), is_negative)) return std::nullopt;
    for (size_t i = 0; i < x_.size(); ++i) {
      seen_.assign(y_.size(), false);
      if (!Match(i) && k_.RangeOf(x_[i]).upper > 1) return std::nullopt;
    }
    // Strict where one pair is and the factors of y are positive, whatever those of x are.
    bool strict = false, positive = true;
    for (size_t j = 0; j < y_.size(); ++j) {
      const Range r = k_.RangeOf(y_[j]);
      if (taken_by_[j] < 0) {
        if (r.lower < 1) return std::nullopt;
        strict = strict || r.lower > 1;
      } else if (LeastDifference(k_, x_[static_cast<size_t>(taken_by_[j])], y_[j]) > 0) {
        strict = true;
        continue;  // larger than what is not negative
      }
      positive = positive && r.lower >= 1;
    }
    return strict && positive ? 1 : 0;
  }

 private:
  bool Match(size_t i) {
    for (size_t j = 0; j < y_.size(); ++j) {
      if (seen_[j] || !Below(i, j)) continue;
      seen_[j] = true;
      if (taken_by_[j] < 0 || Match(static_cast<size_t>(taken_by_[j]))) {
        taken_by_[j] = static_cast<int>(i);
        return true;
      }
    }
    return false;
  }

  bool Below(size_t i, size_t j) {
    const auto [it, is_new] = below_.try_emplace({x_[i], y_[j]}, false);
    if (is_new) it->second = LeastDifference(k_, x_[i], y_[j]).value_or(-1) >= 0;
    return it->second;
  }

  Knowledge& k_;
  const std::vector<Expr> x_, y_;
  std::vector<int> taken_by_;
  std::vector<bool> seen_;
  absl::flat_hash_map<std::pair<Expr, Expr>, bool> below_;
};

// Of odd powers whatever the signs, of products of factors that are not negative.
std::optional<int64_t> LeastOfProducts(Knowledge& k, const Expr& x, const Expr& y) {
  const std::vector<Power> a = FactorsOf(x), b = FactorsOf(y);
  const bool odd = a.size() == 1 && b.size() == 1 && a[0].exponent == b[0].exponent &&
                   a[0].exponent > 1 && a[0].exponent % 2 == 1;
  if (odd) {
    const std::optional<int64_t> least = LeastDifference(k, a[0].base, b[0].base);
    if (least >= 0) return std::min<int64_t>(*least, 1);
  }
  std::optional<std::vector<Expr>> left = FactorList(x), right = FactorList(y);
  if (!left || !right || left->size() + right->size() < 3) return std::nullopt;
  return Matching(k, *std::move(left), *std::move(right)).Least();
}

// y - x >= 0 for operands of operations.
bool IsBelow(Knowledge& k, const Expr& x, const Expr& y) {
  if (k.RangeOf(Difference(y, x)).lower >= 0) return true;
  return LeastDifference(k, x, y).value_or(-1) >= 0;
}

// n//c - m//d, of m <= n and positive divisors c <= d.
std::optional<int64_t> LeastOfQuotients(Knowledge& k, const Expr& x, const Expr& y) {
  if (x.kind() != ExprKind::kFloorDiv || y.kind() != ExprKind::kFloorDiv) return std::nullopt;
  const absl::Span<const Expr> a = x.operands(), b = y.operands();
  if (k.RangeOf(b[1]).lower < 1 || !IsBelow(k, a[0], b[0])) return std::nullopt;
  if (a[1] == b[1]) return 0;
  // The larger divisor may go with the smaller dividend if that is not negative.
  if (k.RangeOf(a[0]).lower < 0 || !IsBelow(k, b[1], a[1])) return std::nullopt;
  return 0;
}

// d**n - c**m of m <= n and 1 <= c <= d.
std::optional<int64_t> LeastOfPowers(Knowledge& k, const Expr& x, const Expr& y) {
  if (x.kind() != ExprKind::kPow || y.kind() != ExprKind::kPow) return std::nullopt;
  const absl::Span<const Expr> a = x.operands(), b = y.operands();
  if (k.RangeOf(a[0]).lower < 1 || k.RangeOf(a[1]).lower < 0) return std::nullopt;
  if (!IsBelow(k, a[0], b[0]) || !IsBelow(k, a[1], b[1])) return std::nullopt;
  return 0;
}

}  // namespace

std::optional<int64_t> LeastDifference(Knowledge& k, const Expr& x, const Expr& y) {
  if (x == y) return 0;
  std::optional<int64_t> best;
  const Range a = k.RangeOf(x), b = k.RangeOf(y);
  if (a.upper != Range::kMax && a.upper != INT64_MIN && b.lower != Range::kMin) {
    best = CheckedAdd(b.lower, -a.upper);
  }
  if (!k.InequalitiesWith(x) || !k.InequalitiesWith(y)) return best;
  absl::flat_hash_map<Expr, int64_t> least = {{x, 0}};  // above x
  std::deque<Expr> waiting = {x};
  for (int steps = 0; !waiting.empty() && steps < kMostSteps;) {
    const Expr e = waiting.front();
    waiting.pop_front();
    const int64_t so_far = least.at(e);
    for (const int index : *k.InequalitiesWith(e)) {
      if (++steps >= kMostSteps) break;
      const std::optional<Step> step = StepFrom(e, k.InequalityAt(index));
      if (!step || step->constant == INT64_MIN) continue;
      const std::optional<int64_t> sum = CheckedAdd(so_far, -step->constant);
      if (!sum) continue;
      const auto [it, is_new] = least.try_emplace(step->other, *sum);
      if (!is_new && it->second >= *sum) continue;
      it->second = *sum;
      waiting.push_back(step->other);
    }
  }
  const auto it = least.find(y);
  return it == least.end() ? best : Larger(best, it->second);
}

bool IsNonNegativeByTerms(Knowledge& k, const Polynomial& p) {
  if (p.overflow || p.terms.size() > kMostTerms) return false;
  std::vector<Term> positive, negative;
  for (const Term& t : p.terms) {
    if (t.coefficient == INT64_MIN) return false;
    (t.coefficient > 0 ? positive : negative).push_back(t);
  }
  if (positive.empty() || negative.empty()) return false;
  __int128 rest = p.constant;
  for (Term& n : negative) {
    n.coefficient = -n.coefficient;
    // The positive terms that leave most come first.
    std::vector<std::pair<int64_t, Term*>> payers;
    for (Term& t : positive) {
      if (t.coefficient == 0) continue;
      const Expr &x = n.monomial, &y = t.monomial;
      const std::optional<int64_t> least =
          Larger(Larger(LeastDifference(k, x, y), LeastOfProducts(k, x, y)),
                 Larger(LeastOfQuotients(k, x, y), LeastOfPowers(k, x, y)));
      if (least) payers.push_back({*least, &t});
    }
    std::stable_sort(payers.begin(), payers.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [least, t] : payers) {
      const int64_t amount = std::min(n.coefficient, t->coefficient);
      n.coefficient -= amount;
      t->coefficient -= amount;
      rest += static_cast<__int128>(amount) * least;
    }
    if (n.coefficient == 0) continue;
    const Range r = k.RangeOf(n.monomial);
    if (r.upper == Range::kMax) return false;
    rest -= static_cast<__int128>(n.coefficient) * r.upper;
  }
  for (const Term& t : positive) {
    if (t.coefficient == 0) continue;
    const Range r = k.RangeOf(t.monomial);
    if (r.lower == Range::kMin) return false;
    rest += static_cast<__int128>(t.coefficient) * r.lower;
  }
  return rest >= 0;
}

}  // namespace lathe::symbolic
