#ifndef LATHE_SYMBOLIC_EXPLAIN_H_
#define LATHE_SYMBOLIC_EXPLAIN_H_

// Why: the few facts on which an answer, a constant or a guard rests.
//
//   Explain(env, Eq(s0, 6)).ToString();
//   // "true:\n  s0 == s1: guard (asked by %add at m.py:3)\n  s1 == 6: precondition\n"

#include <optional>
#include <string>
#include <vector>

#include "symbolic/shape_env.h"

namespace lathe::symbolic {

struct Proof {
  std::optional<bool> answer;      // nullopt: it depends on the values, or no proof was found
  std::vector<KnownFact> reasons;  // none can be left out
  // "true", "false" or "unknown", then a line for each reason.
  std::string ToString() const;
};

Proof Explain(const ShapeEnv& env, const Expr& condition);

// The facts that turned what was asked into the guard: empty when the guard is what was asked.
Proof ExplainGuard(const ShapeEnv& env, const Guard& guard);

// Symbols that can have one value only, and what forced each.
struct ConstantSymbol {
  Expr symbol;
  int64_t value = 0;
  Proof proof;
};
std::vector<ConstantSymbol> ExplainConstants(const ShapeEnv& env);

// The facts that contradict `condition`; empty when they do not.
Proof ExplainConflict(const ShapeEnv& env, const Expr& condition);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_EXPLAIN_H_
