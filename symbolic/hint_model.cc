#include "symbolic/hint_model.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "symbolic/evaluate.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {
namespace {

// Moving one of more symbols costs as much as a proof.
constexpr size_t kMostSymbols = 8;

bool IsComparison(const Expr& e) {
  return e.kind() >= ExprKind::kEq && e.kind() <= ExprKind::kLe &&
         e.operands()[0].type() == ExprType::kInt && e.operands()[1].type() == ExprType::kInt;
}

}  // namespace

void HintModel::SetSymbol(const Expr& symbol, std::optional<int64_t> hint, const Range& range) {
  const auto [it, inserted] = index_.emplace(symbol, static_cast<uint32_t>(values_.size()));
  if (inserted) {
    values_.push_back(0);
    has_hint_.push_back(false);
    ranges_.push_back({});
    facts_with_.emplace_back();
    is_stuck_.push_back(false);
  }
  const uint32_t i = it->second;
  values_[i] = hint.value_or(0);
  has_hint_[i] = hint.has_value();
  ranges_[i] = range;
}

std::optional<FlatCondition> HintModel::Compile(const Expr& condition) const {
  return FlatCondition::Compile(condition, [&](const Expr& s) -> std::optional<uint32_t> {
    const auto it = index_.find(s);
    if (it == index_.end() || !has_hint_[it->second]) return std::nullopt;
    return it->second;
  });
}

void HintModel::AddFact(const Expr& fact) {
  std::optional<FlatCondition> flat = Compile(fact);
  if (flat) return AddFact(fact, *std::move(flat), true);
  for (const Expr& s : FreeSymbols(fact)) {
    const auto it = index_.find(s);
    if (it != index_.end()) is_stuck_[it->second] = true;
  }
}

void HintModel::AddFact(const Expr& fact, FlatCondition flat, bool truth) {
  for (const Expr& s : FreeSymbols(fact)) {
    const auto it = index_.find(s);
    if (it != index_.end()) facts_with_[it->second].push_back(static_cast<uint32_t>(facts_.size()));
  }
  facts_.push_back({std::move(flat), truth});
}

std::optional<bool> HintModel::ValueOf(const Expr& condition) const {
  const std::optional<FlatCondition> flat = Compile(condition);
  return flat ? ValueOf(*flat) : std::nullopt;
}

bool HintModel::TryMove(uint32_t symbol, int64_t value, const FlatCondition& condition,
                        bool wanted) {
  if (!ranges_[symbol].Contains(value) || value == values_[symbol]) return false;
  const int64_t before = values_[symbol];
  values_[symbol] = value;
  bool found = condition.ValueOf(values_.data()) == wanted;
  const std::vector<uint32_t>& facts = facts_with_[symbol];
  // The latest facts are the likeliest to be near what is asked.
  for (size_t i = facts.size(); found && i-- > 0;) {
    const Fact& fact = facts_[facts[i]];
    found = fact.condition.ValueOf(values_.data()) == fact.truth;
  }
  values_[symbol] = before;
  return found;
}

bool HintModel::CanDiffer(const Expr& condition, const FlatCondition& flat, bool value) {
  const std::vector<Expr> symbols = FreeSymbols(condition);
  if (symbols.size() > kMostSymbols) return false;
  Polynomial difference;
  if (IsComparison(condition)) {
    difference =
        AddScaled(ToPolynomial(condition.operands()[1]), ToPolynomial(condition.operands()[0]), -1);
  }
  for (const Expr& s : symbols) {
    const uint32_t i = index_.at(s);
    if (is_stuck_[i]) continue;
    const int64_t v = values_[i];
    absl::InlinedVector<int64_t, 12> candidates;
    for (const Term& t : difference.terms) {  // where the sign changes, for a sum
      if (t.monomial != s) continue;
      const absl::StatusOr<int64_t> d =
          Evaluate(condition.operands()[1] - condition.operands()[0],
                   [&](const Expr& e) { return std::optional<int64_t>(values_[index_.at(e)]); });
      if (!d.ok() || *d == INT64_MIN || t.coefficient == INT64_MIN) continue;
      const int64_t step = -*d / t.coefficient;
      for (const int64_t near : {int64_t{0}, int64_t{-1}, int64_t{1}}) {
        if (const auto c = CheckedAdd(v, step)) {
          if (const auto moved = CheckedAdd(*c, near)) candidates.push_back(*moved);
        }
      }
    }
    if (ranges_[i].lower != Range::kMin) candidates.push_back(ranges_[i].lower);
    for (const int64_t step : {int64_t{1}, int64_t{-1}, int64_t{2}, v, int64_t{1} << 20}) {
      if (const auto c = CheckedAdd(v, step)) candidates.push_back(*c);
    }
    for (const int64_t c : candidates) {
      if (TryMove(i, c, flat, !value)) return true;
    }
  }
  return false;
}

}  // namespace lathe::symbolic
