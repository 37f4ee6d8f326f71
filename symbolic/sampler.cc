#include "symbolic/sampler.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "symbolic/evaluate.h"
#include "symbolic/simplify/checked.h"

namespace lathe::symbolic {
namespace {

// Beyond these a sample costs as much as a proof.
constexpr size_t kMostSymbols = 8;
constexpr size_t kMostFacts = 24;
constexpr int kPatterns = 6;

constexpr size_t kMostOperations = 1000;

}  // namespace

bool HasMoreNodesThan(size_t limit, const Expr& root) {
  absl::flat_hash_set<Expr> seen = {root};
  std::vector<Expr> work = {root};
  while (!work.empty() && seen.size() <= limit) {
    const Expr e = work.back();
    work.pop_back();
    for (const Expr& o : e.operands()) {
      if (!o.operands().empty() && seen.insert(o).second) work.push_back(o);
    }
  }
  return seen.size() > limit;
}

// The facts that share symbols with the condition, directly or through others.
bool Sampler::GatherFacts(const Expr& condition) {
  CollectFreeSymbols(condition, symbols_);
  absl::flat_hash_set<Expr> seen;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_.size() > kMostSymbols) return false;
    const auto it = k_.facts_with_.find(symbols_[i]);
    if (it == k_.facts_with_.end()) continue;
    if (it->second.size() > 2 * kMostFacts) return false;
    for (const Expr& fact : it->second) {
      if (!seen.insert(fact).second) continue;
      facts_.push_back(fact);
      CollectFreeSymbols(fact, symbols_);
      if (facts_.size() > kMostFacts) return false;
    }
  }
  return symbols_.size() <= kMostSymbols;
}

// A value in the range of the symbol and of its remainder, near an end that the pattern chooses.
int64_t Sampler::Pick(const Expr& symbol, int pattern, int64_t index) {
  const Range r = k_.RangeOf(symbol);
  const bool low = r.lower != Range::kMin, high = r.upper != Range::kMax;
  constexpr int64_t kFar = int64_t{1} << 20;
  const int64_t base = low ? r.lower : high ? std::max(r.upper - kFar, Range::kMin + kFar) : 0;
  const int64_t offsets[kPatterns] = {
      0, 1 + index, 5 + 7 * index, 64 - 3 * index, 1000 + 77 * index * index, kFar};
  int64_t offset = offsets[pattern];
  if (!low && pattern % 2 == 1) offset = high ? kFar : -offset;
  int64_t v = CheckedAdd(base, offset).value_or(base);
  v = std::clamp(v, r.lower, r.upper);
  const Residue residue = k_.ResidueOf(symbol);
  if (residue.modulus > 1) {
    const int64_t down = ModBy(ModBy(v, residue.modulus) - residue.remainder, residue.modulus);
    const int64_t below = CheckedAdd(v, -down).value_or(v);
    v = below >= r.lower ? below : CheckedAdd(below, residue.modulus).value_or(v);
  }
  return v;
}

std::optional<bool> Sampler::Holds(const Expr& condition) const {
  const absl::StatusOr<int64_t> value = Evaluate(condition, [&](const Expr& s) {
    const auto it = values_.find(s);
    return it == values_.end() ? std::nullopt : std::optional<int64_t>(it->second);
  });
  if (!value.ok()) return std::nullopt;
  return *value != 0;
}

Sampler::Outcomes Sampler::Try(const Expr& condition) {
  Outcomes seen;
  if (HasMoreNodesThan(kMostOperations, condition) || !GatherFacts(condition)) return seen;
  for (int pattern = 0; pattern < kPatterns && !(seen.can_be_true && seen.can_be_false);
       ++pattern) {
    for (size_t i = 0; i < symbols_.size(); ++i) {
      values_[symbols_[i]] = Pick(symbols_[i], pattern, static_cast<int64_t>(i));
    }
    const std::optional<bool> value = Holds(condition);
    if (!value || (*value ? seen.can_be_true : seen.can_be_false)) continue;
    const bool possible = std::all_of(facts_.begin(), facts_.end(), [&](const Expr& fact) {
      return Holds(fact).value_or(false);
    });
    if (possible) (*value ? seen.can_be_true : seen.can_be_false) = true;
  }
  return seen;
}

}  // namespace lathe::symbolic
