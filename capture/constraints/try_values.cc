#include "capture/constraints/try_values.h"

#include <algorithm>
#include <functional>

#include "symbolic/evaluate.h"
#include "symbolic/flat_condition.h"

namespace lathe {
namespace {

using symbolic::Expr;
using symbolic::FlatCondition;

constexpr size_t kMostCombinations = 1 << 16;

// A condition over the values of the symbols, in their order.
struct Condition {
  FlatCondition flat;
  Expr expr;
};

class Trial {
 public:
  explicit Trial(absl::Span<const CandidateValues> symbols) : symbols_(symbols) {}

  bool Compile(absl::Span<const Expr> expressions, std::vector<Condition>& out) const {
    for (const Expr& e : expressions) {
      std::optional<FlatCondition> flat =
          FlatCondition::Compile(e, [&](const Expr& s) -> std::optional<uint32_t> {
            for (size_t i = 0; i < symbols_.size(); ++i) {
              if (symbols_[i].symbol == s) return static_cast<uint32_t>(i);
            }
            return std::nullopt;
          });
      if (!flat) return false;
      out.push_back({*std::move(flat), e});
    }
    return true;
  }

  // What overflows on the way is evaluated in wide numbers; what is undefined does not hold.
  bool Holds(const Condition& c, const std::vector<int64_t>& point) const {
    if (const std::optional<bool> value = c.flat.ValueOf(point.data())) return *value;
    const absl::StatusOr<int64_t> value =
        symbolic::Evaluate(c.expr, [&](const Expr& s) -> std::optional<int64_t> {
          for (size_t i = 0; i < symbols_.size(); ++i) {
            if (symbols_[i].symbol == s) return point[i];
          }
          return std::nullopt;
        });
    return value.ok() && *value != 0;
  }

  // False: too many.
  static bool ForEach(absl::Span<const std::vector<int64_t>> values,
                      const std::function<void(const std::vector<int64_t>&)>& visit) {
    size_t total = 1;
    for (const std::vector<int64_t>& v : values) {
      if (v.empty()) return true;
      if (v.size() > kMostCombinations / total) return false;
      total *= v.size();
    }
    std::vector<size_t> at(values.size(), 0);
    std::vector<int64_t> point(values.size());
    for (size_t n = 0; n < total; ++n) {
      for (size_t i = 0; i < at.size(); ++i) point[i] = values[i][at[i]];
      visit(point);
      for (size_t i = 0; i < at.size() && ++at[i] == values[i].size(); ++i) at[i] = 0;
    }
    return true;
  }

 private:
  absl::Span<const CandidateValues> symbols_;
};

void Sort(std::vector<int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

bool Has(const std::vector<int64_t>& sorted, int64_t v) {
  return std::binary_search(sorted.begin(), sorted.end(), v);
}

}  // namespace

std::optional<TriedValues> TryAll(absl::Span<const CandidateValues> symbols,
                                  absl::Span<const Expr> asked, absl::Span<const Expr> needed) {
  const Trial trial(symbols);
  std::vector<Condition> asks, needs;
  if (!trial.Compile(asked, asks) || !trial.Compile(needed, needs)) return std::nullopt;
  TriedValues r;
  r.asked.resize(symbols.size());
  r.good.resize(symbols.size());
  r.fails.assign(needed.size(), false);
  r.fails_still.assign(needed.size(), false);
  std::vector<std::vector<int64_t>> values;
  for (const CandidateValues& s : symbols) values.push_back(s.values);
  const auto keep = [](std::vector<std::vector<int64_t>>& to, const std::vector<int64_t>& point) {
    for (size_t i = 0; i < point.size(); ++i) {
      if (to[i].empty() || to[i].back() != point[i]) to[i].push_back(point[i]);
    }
  };
  const auto is_asked = [&](const std::vector<int64_t>& point) {
    return std::all_of(asks.begin(), asks.end(),
                       [&](const Condition& c) { return trial.Holds(c, point); });
  };
  const bool few = Trial::ForEach(values, [&](const std::vector<int64_t>& point) {
    if (!is_asked(point)) return;
    keep(r.asked, point);
    bool good = true;
    for (size_t i = 0; i < point.size(); ++i) good = good && Has(symbols[i].possible, point[i]);
    for (size_t i = 0; i < needs.size(); ++i) {
      if (trial.Holds(needs[i], point)) continue;
      good = false;
      r.fails[i] = true;
    }
    if (good) keep(r.good, point);
  });
  if (!few) return std::nullopt;
  for (std::vector<int64_t>& v : r.asked) Sort(v);
  for (std::vector<int64_t>& v : r.good) Sort(v);
  Trial::ForEach(r.good, [&](const std::vector<int64_t>& point) {
    if (!is_asked(point)) return;
    for (size_t i = 0; i < needs.size(); ++i) {
      if (!r.fails_still[i] && !trial.Holds(needs[i], point)) r.fails_still[i] = true;
    }
  });
  return r;
}

}  // namespace lathe
