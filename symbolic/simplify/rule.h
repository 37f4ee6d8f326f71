#ifndef LATHE_SYMBOLIC_SIMPLIFY_RULE_H_
#define LATHE_SYMBOLIC_SIMPLIFY_RULE_H_

// A rule of the simplifier as a row: its name, the law in words of lathe's own text, when it holds
// and what it makes. A table for each root operation, in its own file; the first row that applies
// wins, and its result is in normal form. What no row changes is interned as it stands.

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "symbolic/expr.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {

struct RuleInput {
  ExprContext* context = nullptr;
  ExprKind kind = ExprKind::kAdd;
  absl::Span<const Expr> x;  // the operands, in normal form
  // Of quotients and remainders: the dividend; of comparisons: right side minus left side.
  const Polynomial* p = nullptr;
};

struct Rule {
  absl::string_view name;  // "floor_div.of_quotient"
  absl::string_view law;   // "(x//m + k)//d = (x + m*k)//(m*d)"
  absl::string_view when;  // "m, d > 0 constant"
  std::optional<Expr> (*apply)(const RuleInput& in);
};

std::optional<Expr> ApplyRules(absl::Span<const Rule> rules, const RuleInput& in);

// All rows, table after table.
std::vector<const Rule*> AllRules();

// Tests see every application; nullptr ends that.
using RuleObserver = void (*)(const Rule& rule, const RuleInput& in, const Expr& result);
void ObserveRules(RuleObserver observer);

absl::Span<const Rule> AddRules();
absl::Span<const Rule> MulRules();
absl::Span<const Rule> PowRules();
absl::Span<const Rule> FloorDivRules();
absl::Span<const Rule> ModRules();
absl::Span<const Rule> TruncDivRules();
absl::Span<const Rule> TruncModRules();
absl::Span<const Rule> ShiftRules();
absl::Span<const Rule> BitRules();
absl::Span<const Rule> MinMaxRules();  // of a pair: the result is what is left of it
absl::Span<const Rule> AbsRules();
absl::Span<const Rule> WhereRules();
absl::Span<const Rule> CompareRules();
absl::Span<const Rule> AndOrRules();
absl::Span<const Rule> NotRules();
absl::Span<const Rule> FloatRules();
absl::Span<const Rule> FloatOrderRules();  // of comparisons

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_SIMPLIFY_RULE_H_
