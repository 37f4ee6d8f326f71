#ifndef LATHE_SYMBOLIC_CASES_H_
#define LATHE_SYMBOLIC_CASES_H_

// Answers that need several states of knowledge: one for each side of a fact "a or b", one in
// which the parts of a formula hold together, or one for each remainder of a symbol.

#include <optional>

#include "symbolic/expr.h"
#include "symbolic/knowledge.h"

namespace lathe::symbolic {

class CaseAnalysis {
 public:
  explicit CaseAnalysis(const Knowledge& knowledge) : k_(knowledge) {}

  // What Knowledge::Decide left open, within fixed limits on cases and depth.
  std::optional<bool> Decide(const Expr& condition) const;

 private:
  // The parts of a conjunction contradict each other.
  bool Contradict(absl::Span<const Expr> parts, bool negated) const;
  std::optional<bool> BySidesOf(const Expr& disjunction, const Expr& condition) const;
  // What it or its opposite would bring about cannot be.
  std::optional<bool> ByContradiction(const Expr& condition) const;
  // One case for each operand that an inner minimum, maximum, "where" or absolute value may be.
  std::optional<bool> ByChoices(const Expr& condition) const;
  // "x*(x + 1) % 2 == 0": with x = 2*q and with x = 2*q + 1.
  std::optional<bool> ByRemainders(const Expr& condition) const;

  const Knowledge& k_;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_CASES_H_
