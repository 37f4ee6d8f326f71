#include "symbolic/all_values.h"

#include <algorithm>
#include <vector>

#include "symbolic/evaluate.h"
#include "symbolic/flat_condition.h"
#include "symbolic/sampler.h"
#include "symbolic/simplify/checked.h"

namespace lathe::symbolic {
namespace {

constexpr int64_t kMostPoints = 2048;
constexpr size_t kMostSymbols = 4;
constexpr size_t kMostFacts = 24;
constexpr size_t kMostOperations = 60;

// The values of a symbol: every `step`th from `first`.
struct Axis {
  int64_t first = 0, step = 1, count = 1;
};

class Grid {
 public:
  explicit Grid(const Knowledge& k) : k_(k) {}

  // False: too many values.
  bool AddSymbol(const Expr& symbol) {
    const Range r = k_.BoundOfSymbol(symbol);
    if (symbols_.size() >= kMostSymbols || r.lower == Range::kMin || r.upper == Range::kMax) {
      return false;
    }
    const Residue residue = k_.ResidueOf(symbol);
    Axis axis;
    axis.step = residue.modulus;
    const int64_t up = ModBy(residue.remainder - ModBy(r.lower, axis.step), axis.step);
    const std::optional<int64_t> first = CheckedAdd(r.lower, up);
    const std::optional<int64_t> width = first ? CheckedAdd(r.upper, -*first) : first;
    if (!width || *width < 0 || *width / axis.step >= kMostPoints) return false;
    axis.first = *first;
    axis.count = *width / axis.step + 1;
    if (points_ * axis.count > kMostPoints) return false;
    points_ *= axis.count;
    symbols_.push_back(symbol);
    axes_.push_back(axis);
    return true;
  }

  // Facts about these symbols alone; with others they are left out, which allows more points.
  void AddFacts() {
    std::vector<Expr> facts;
    for (size_t i = 0; i < symbols_.size(); ++i) {  // grows
      const std::vector<Expr>* with = k_.FactsWith(symbols_[i]);
      if (with == nullptr) continue;
      for (const Expr& fact : *with) {
        if (facts.size() >= kMostFacts) break;
        if (std::find(facts.begin(), facts.end(), fact) != facts.end()) continue;
        if (HasMoreNodesThan(kMostOperations, fact) || !CoverSymbolsOf(fact)) continue;
        if (std::optional<FlatCondition> flat = Compile(fact)) {
          facts.push_back(fact);
          facts_.push_back(*std::move(flat));
        }
      }
    }
  }

  std::optional<bool> Decide(const FlatCondition& condition) const {
    std::optional<bool> common;
    const bool all = ForPossible([&](const int64_t* values) {
      const std::optional<bool> value = condition.ValueOf(values);
      if (!value || (common && *common != *value)) return false;
      common = value;
      return true;
    });
    return all ? common : std::nullopt;
  }

  bool IsEmpty() const {
    return ForPossible([](const int64_t*) { return false; });
  }

  std::optional<FlatCondition> Compile(const Expr& condition) const {
    return FlatCondition::Compile(condition, [&](const Expr& s) -> std::optional<uint32_t> {
      const auto it = std::find(symbols_.begin(), symbols_.end(), s);
      if (it == symbols_.end()) return std::nullopt;
      return static_cast<uint32_t>(it - symbols_.begin());
    });
  }

 private:
  // Calls `visit` with the values that the facts allow until it returns false, and returns that.
  // A fact that passes 64 bits on its way may hold all the same: of integers it has a value.
  template <typename Visit>
  bool ForPossible(Visit visit) const {
    std::vector<int64_t> at(axes_.size(), 0), values;
    for (const Axis& axis : axes_) values.push_back(axis.first);
    for (int64_t left = points_; left > 0; --left) {
      const bool possible = std::all_of(facts_.begin(), facts_.end(), [&](const FlatCondition& f) {
        return f.ValueOf(values.data()) != false;
      });
      if (possible && !visit(values.data())) return false;
      for (size_t i = 0; i < at.size(); ++i) {
        values[i] += axes_[i].step;
        if (++at[i] < axes_[i].count) break;
        at[i] = 0;
        values[i] = axes_[i].first;
      }
    }
    return true;
  }

  bool CoverSymbolsOf(const Expr& fact) {
    const std::vector<Expr> of = FreeSymbols(fact);
    return std::all_of(of.begin(), of.end(), [&](const Expr& s) {
      return std::find(symbols_.begin(), symbols_.end(), s) != symbols_.end() || AddSymbol(s);
    });
  }

  const Knowledge& k_;
  std::vector<Expr> symbols_;
  std::vector<Axis> axes_;
  std::vector<FlatCondition> facts_;
  int64_t points_ = 1;
};

}  // namespace

std::optional<bool> DecideByAllValues(const Knowledge& k, const Expr& condition) {
  if (HasMoreNodesThan(kMostOperations, condition)) return std::nullopt;
  Grid grid(k);
  for (const Expr& symbol : FreeSymbols(condition)) {
    if (!grid.AddSymbol(symbol)) return std::nullopt;
  }
  grid.AddFacts();
  const std::optional<FlatCondition> flat = grid.Compile(condition);
  return flat ? grid.Decide(*flat) : std::nullopt;
}

bool AllowNoValues(const Knowledge& k, const Expr& condition) {
  Grid grid(k);
  for (const Expr& symbol : FreeSymbols(condition)) {
    if (!grid.AddSymbol(symbol)) return false;
  }
  grid.AddFacts();
  return grid.IsEmpty();
}

}  // namespace lathe::symbolic
