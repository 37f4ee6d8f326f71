#include "symbolic/simplify/rule.h"

#include <atomic>

namespace lathe::symbolic {
namespace {

std::atomic<RuleObserver> observer = nullptr;

}  // namespace

std::optional<Expr> ApplyRules(absl::Span<const Rule> rules, const RuleInput& in) {
  for (const Rule& rule : rules) {
    const std::optional<Expr> result = rule.apply(in);
    if (!result) continue;
    if (const RuleObserver seen = observer.load(std::memory_order_relaxed)) seen(rule, in, *result);
    return result;
  }
  return std::nullopt;
}

void ObserveRules(RuleObserver o) { observer.store(o); }

std::vector<const Rule*> AllRules() {
  std::vector<const Rule*> all;
  for (const absl::Span<const Rule> table :
       {AddRules(), MulRules(), PowRules(), FloorDivRules(), ModRules(), TruncDivRules(),
        TruncModRules(), ShiftRules(), BitRules(), MinMaxRules(), AbsRules(), WhereRules(),
        CompareRules(), AndOrRules(), NotRules(), FloatRules(), FloatOrderRules()}) {
    for (const Rule& rule : table) all.push_back(&rule);
  }
  return all;
}

}  // namespace lathe::symbolic
