#ifndef LATHE_SYMBOLIC_HINT_MODEL_H_
#define LATHE_SYMBOLIC_HINT_MODEL_H_

// The hints as values that satisfy all facts, and a look around them: a condition that is seen to
// come out differently nearby, all facts holding, need not be proved in vain. A few evaluations
// against a search for a proof.

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolic/expr.h"
#include "symbolic/flat_condition.h"
#include "symbolic/range.h"

namespace lathe::symbolic {

class HintModel {
 public:
  void SetSymbol(const Expr& symbol, std::optional<int64_t> hint, const Range& range);
  void AddFact(const Expr& fact);
  // The same, compiled: it holds where `flat` is `truth`.
  void AddFact(const Expr& fact, FlatCondition flat, bool truth);

  // nullopt: a symbol without a hint.
  std::optional<FlatCondition> Compile(const Expr& condition) const;
  // By the hints; nullopt when a symbol has none or the condition is undefined there.
  std::optional<bool> ValueOf(const Expr& condition) const;
  std::optional<bool> ValueOf(const FlatCondition& condition) const {
    return condition.ValueOf(values_.data());
  }
  // Values near the hints satisfy all facts and give the other truth. False says nothing. `flat`
  // is `condition`, compiled.
  bool CanDiffer(const Expr& condition, const FlatCondition& flat, bool value);

 private:
  bool TryMove(uint32_t symbol, int64_t value, const FlatCondition& condition, bool wanted);

  absl::flat_hash_map<Expr, uint32_t> index_;
  std::vector<int64_t> values_;
  std::vector<bool> has_hint_;
  std::vector<Range> ranges_;
  struct Fact {
    FlatCondition condition;
    bool truth;
  };
  std::vector<Fact> facts_;
  std::vector<std::vector<uint32_t>> facts_with_;  // by symbol
  std::vector<bool> is_stuck_;                     // a fact with this symbol cannot be evaluated
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_HINT_MODEL_H_
