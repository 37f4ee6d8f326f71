#ifndef LATHE_SYMBOLIC_REFINE_FACT_RULE_H_
#define LATHE_SYMBOLIC_REFINE_FACT_RULE_H_

// A rule that needs a range, a divisor or a fact, as a row like those of simplify/rule.h: its
// name, the law, what has to be known, and what it makes. Knowledge::Simplify applies them to
// operations whose operands are simplified; the first row of a table that applies wins.

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "symbolic/expr.h"

namespace lathe::symbolic {

class Knowledge;

struct FactRuleInput {
  Knowledge& k;
  ExprContext* context;
  const Expr& e;
  absl::Span<const Expr> x;  // its operands
};

struct FactRule {
  absl::string_view name;  // "floor_div.smaller"
  absl::string_view law;   // "x//y = 0"
  absl::string_view when;  // "0 <= x < y known"
  std::optional<Expr> (*apply)(const FactRuleInput& in);
};

std::optional<Expr> ApplyFactRules(absl::Span<const FactRule> rules, const FactRuleInput& in);

// All rows, table after table.
std::vector<const FactRule*> AllFactRules();

// Tests see every application; nullptr ends that.
using FactRuleObserver = void (*)(const FactRule& rule, const Expr& e, const Expr& result);
void ObserveFactRules(FactRuleObserver observer);

absl::Span<const FactRule> ValueRules();  // of anything but floats, before all others
absl::Span<const FactRule> TermRules();   // of products and quotients, alone or in a sum
absl::Span<const FactRule> QuotientByNumberRules();
absl::Span<const FactRule> QuotientRules();
absl::Span<const FactRule> RemainderByNumberRules();
absl::Span<const FactRule> RemainderRules();
absl::Span<const FactRule> TruncationRules();
absl::Span<const FactRule> PowerRules();
absl::Span<const FactRule> PowerProductRules();
absl::Span<const FactRule> PowerQuotientRules();
absl::Span<const FactRule> PowerRemainderRules();
absl::Span<const FactRule> PowerComparisonRules();
absl::Span<const FactRule> BitFactRules();
absl::Span<const FactRule> RoundingRules();
absl::Span<const FactRule> FloatComparisonRules();
absl::Span<const FactRule> ChoiceRules();  // minimum, maximum, absolute value
absl::Span<const FactRule> ComparisonRules();
absl::Span<const FactRule> ConditionRules();  // the others

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_REFINE_FACT_RULE_H_
