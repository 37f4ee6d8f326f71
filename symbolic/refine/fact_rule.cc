#include "symbolic/refine/fact_rule.h"

#include <atomic>

namespace lathe::symbolic {
namespace {

std::atomic<FactRuleObserver> observer = nullptr;

}  // namespace

std::optional<Expr> ApplyFactRules(absl::Span<const FactRule> rules, const FactRuleInput& in) {
  for (const FactRule& rule : rules) {
    const std::optional<Expr> result = rule.apply(in);
    if (!result) continue;
    if (const FactRuleObserver seen = observer.load(std::memory_order_relaxed)) {
      seen(rule, in.e, *result);
    }
    return result;
  }
  return std::nullopt;
}

void ObserveFactRules(FactRuleObserver o) { observer.store(o); }

std::vector<const FactRule*> AllFactRules() {
  std::vector<const FactRule*> all;
  for (const absl::Span<const FactRule> table :
       {ValueRules(), TermRules(), QuotientByNumberRules(), QuotientRules(),
        RemainderByNumberRules(), RemainderRules(), TruncationRules(), PowerRules(),
        PowerProductRules(), PowerQuotientRules(), PowerRemainderRules(), PowerComparisonRules(),
        BitFactRules(), RoundingRules(), FloatComparisonRules(), ChoiceRules(), ComparisonRules(),
        ConditionRules()}) {
    for (const FactRule& rule : table) all.push_back(&rule);
  }
  return all;
}

}  // namespace lathe::symbolic
