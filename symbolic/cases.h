#ifndef LATHE_SYMBOLIC_CASES_H_
#define LATHE_SYMBOLIC_CASES_H_

// Answers that need several states of knowledge: one for each side of a fact "a or b", one in
// which the parts of a formula hold together, or one for each remainder or value of a symbol.

#include <optional>
#include <vector>

#include "symbolic/expr.h"
#include "symbolic/knowledge.h"

namespace lathe::symbolic {

class CaseAnalysis {
 public:
  explicit CaseAnalysis(const Knowledge& knowledge) : k_(knowledge) {}

  // Cases repeat facts and condition: of more they cost too much.
  static constexpr size_t kMostFactsToRepeat = 16;
  static constexpr size_t kMostSplitNodes = 40;

  // What Knowledge::Decide left open, within fixed limits on cases and depth.
  std::optional<bool> Decide(const Expr& condition) const;

 private:
  // "(a < b) == (b > a)": neither side holds without the other.
  std::optional<bool> OfConditions(const Expr& comparison) const;
  // "x % y <= x" of an x >= 0: with y >= 1 and with y <= -1; by 0 it has no value.
  std::optional<bool> ByDivisorSign(const Expr& condition) const;
  bool AllAre(absl::Span<const Expr> parts, bool answer) const;
  // The parts of a conjunction contradict each other.
  bool Contradict(absl::Span<const Expr> parts, bool negated) const;
  std::optional<bool> BySidesOf(const Expr& disjunction, const Expr& condition) const;
  std::optional<bool> InSide(const Expr& side, const Expr& condition, bool& cannot_be) const;
  // "abs(a + b) <= 3 |- (a + b)**2 <= 9": by the signs of two factors.
  std::optional<bool> ByFactors(const Expr& condition) const;
  // What it or its opposite would bring about cannot be.
  std::optional<bool> ByContradiction(const Expr& condition) const;
  // One case for each operand that an inner minimum, maximum, "where" or absolute value may be.
  std::optional<bool> ByChoices(const Expr& condition) const;
  // "x*(x + 1) % 2 == 0": with x = 2*q and with x = 2*q + 1.
  std::optional<bool> ByRemainders(const Expr& condition) const;
  // "1 <= a, a <= 9, 1 <= b |- a*a*b != a*b + 7*a": one case for each value of a; or, of symbols
  // with a least value alone, for that one and for the rest.
  std::optional<bool> ByValues(const Expr& condition) const;
  std::optional<bool> ByEachValue(const Expr& symbol, const Expr& condition) const;
  std::optional<bool> ByLeastValue(const Expr& symbol, const Expr& condition) const;

  // A symbol and what it stands for in one case: a number or an expression of the symbol `base`.
  struct Replacement {
    Expr symbol, value;
    Expr base = 0;
    Range range = {};  // of `base`
  };
  // The same facts in terms of the replacements; false: that cannot be.
  bool Restate(Knowledge& one, const std::vector<Replacement>& with, const Expr& condition) const;

  const Knowledge& k_;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_CASES_H_
