#include "symbolic/linear_system.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "symbolic/simplify/checked.h"

namespace lathe::symbolic {
namespace {

constexpr size_t kMostRows = 160;
constexpr int kMostEliminations = 24;

// a * x + b * y for positive factors, without the unknown that cancels; nullopt on overflow.
std::optional<Inequality> Combine(const Inequality& x, int64_t a, const Inequality& y, int64_t b) {
  Inequality r;
  const std::optional<int64_t> p = CheckedMul(x.constant, a), q = CheckedMul(y.constant, b);
  if (!p || !q || __builtin_add_overflow(*p, *q, &r.constant)) return std::nullopt;
  size_t i = 0, j = 0;
  while (i < x.entries.size() || j < y.entries.size()) {
    const bool left = j == y.entries.size() ||
                      (i < x.entries.size() && x.entries[i].unknown <= y.entries[j].unknown);
    const bool right = i == x.entries.size() ||
                       (j < y.entries.size() && y.entries[j].unknown <= x.entries[i].unknown);
    const int unknown = left ? x.entries[i].unknown : y.entries[j].unknown;
    int64_t c = 0, d = 0;
    if (left && __builtin_mul_overflow(x.entries[i++].coefficient, a, &c)) return std::nullopt;
    if (right && __builtin_mul_overflow(y.entries[j++].coefficient, b, &d)) return std::nullopt;
    if (__builtin_add_overflow(c, d, &c)) return std::nullopt;
    if (c != 0) r.entries.push_back({unknown, c});
  }
  return r;
}

// Integers: dividing by the gcd may round the constant down.
void Tighten(Inequality& r) {
  int64_t g = 0;
  for (const auto& e : r.entries) g = Gcd(g, e.coefficient);
  if (g <= 1) return;
  for (auto& e : r.entries) e.coefficient /= g;
  r.constant = FloorBy(r.constant, g);
}

int64_t CoefficientOf(const Inequality& r, int unknown) {
  for (const auto& e : r.entries) {
    if (e.unknown == unknown) return e.coefficient;
  }
  return 0;
}

}  // namespace

bool LinearSystem::Insert(Inequality r) {
  Tighten(r);
  if (r.entries.empty()) {
    contradiction_ |= r.constant < 0;
    return !contradiction_;
  }
  const auto [it, inserted] = row_of_.emplace(r.entries, rows_.size());
  if (!inserted) {
    int64_t& constant = rows_[it->second].constant;
    if (r.constant >= constant) return true;
    constant = r.constant;
  } else {
    rows_.push_back(r);
  }
  Key opposite = r.entries;
  for (auto& e : opposite) {
    if (e.coefficient == INT64_MIN) return true;
    e.coefficient = -e.coefficient;
  }
  const auto other = row_of_.find(opposite);
  if (other == row_of_.end()) return true;
  int64_t sum;
  if (!__builtin_add_overflow(r.constant, rows_[other->second].constant, &sum)) {
    contradiction_ |= sum < 0;
  }
  return !contradiction_;
}

void LinearSystem::Add(Inequality r) {
  std::sort(r.entries.begin(), r.entries.end(),
            [](const auto& a, const auto& b) { return a.unknown < b.unknown; });
  Insert(std::move(r));
}

int LinearSystem::CheapestUnknown() const {
  struct Count {
    int64_t positive = 0, negative = 0, largest = 0;
  };
  std::map<int, Count> counts;
  for (const Inequality& r : rows_) {
    for (const auto& e : r.entries) {
      Count& c = counts[e.unknown];
      ++(e.coefficient > 0 ? c.positive : c.negative);
      c.largest = std::max(c.largest, e.coefficient == INT64_MIN ? INT64_MAX
                                      : e.coefficient < 0        ? -e.coefficient
                                                                 : e.coefficient);
    }
  }
  int best = -1;
  std::pair<int64_t, int64_t> best_cost;
  for (const auto& [unknown, c] : counts) {
    // Unit coefficients lose nothing over the integers.
    const std::pair<int64_t, int64_t> cost = {
        c.positive * c.negative - c.positive - c.negative + (c.largest > 1 ? 4 : 0), c.largest};
    if (best < 0 || cost < best_cost) {
      best = unknown;
      best_cost = cost;
    }
  }
  return best;
}

bool LinearSystem::Eliminate(int unknown) {
  std::vector<Inequality> lower, upper, rest;
  for (Inequality& r : rows_) {
    const int64_t c = CoefficientOf(r, unknown);
    (c > 0 ? lower : c < 0 ? upper : rest).push_back(std::move(r));
  }
  rows_.clear();
  row_of_.clear();
  for (Inequality& r : rest) {
    if (!Insert(std::move(r))) return false;
  }
  for (const Inequality& l : lower) {
    for (const Inequality& u : upper) {
      const int64_t a = CoefficientOf(l, unknown), b = CoefficientOf(u, unknown);
      if (b == INT64_MIN) continue;
      const int64_t g = Gcd(a, b);
      const std::optional<Inequality> r = Combine(l, -b / g, u, a / g);
      if (r && !Insert(*r)) return false;
      if (rows_.size() > kMostRows) return false;
    }
  }
  return true;
}

bool LinearSystem::IsInfeasible() {
  for (int i = 0; i < kMostEliminations && !contradiction_ && !rows_.empty(); ++i) {
    if (rows_.size() > kMostRows || !Eliminate(CheapestUnknown())) break;
  }
  return contradiction_;
}

}  // namespace lathe::symbolic
