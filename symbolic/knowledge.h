#ifndef LATHE_SYMBOLIC_KNOWLEDGE_H_
#define LATHE_SYMBOLIC_KNOWLEDGE_H_

// What facts say, in forms that answer quickly: bounds, remainders, inequalities, equal symbols.
// Derived from a list of facts and rebuilt from it when a symbol is replaced; every answer is
// kept until the next fact.

#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "symbolic/expr.h"
#include "symbolic/range.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {

struct Residue {  // e = remainder modulo modulus, 0 <= remainder < modulus
  int64_t modulus = 1;
  int64_t remainder = 0;
};

class Knowledge {
 public:
  explicit Knowledge(ExprContext* context) : context_(context) {}

  ExprContext* context() const { return context_; }

  // ---- learning; false: contradicts what is known

  bool LimitSymbol(const Expr& symbol, const Range& range);
  // A symbol that `condition` (an equality) makes redundant, with what it equals.
  std::optional<std::pair<Expr, Expr>> Solve(const Expr& condition) const;
  // From now on `symbol` stands for `value`; older facts that mention it must be learnt anew.
  void Replace(const Expr& symbol, const Expr& value);
  // `condition` is in terms of symbols that are not replaced.
  bool Learn(const Expr& condition);

  // True when no fact but its own bounds mentions `symbol`.
  bool IsFree(const Expr& symbol) const { return !facts_with_.contains(symbol); }

  // ---- asking; expressions are in terms of symbols that are not replaced, see Simplify

  Expr WithReplacements(const Expr& e) const;
  // Replacements, ranges, divisibility.
  Expr Simplify(const Expr& e);
  Range RangeOf(const Expr& e);
  Range RangeOf(const Polynomial& p);
  // The largest number known to divide e; 0 for 0.
  int64_t DivisorOf(const Expr& e);
  Residue ResidueOf(const Expr& monomial) const;
  bool IsNonZero(const Expr& e);
  // All values of p leave the same remainder, and it is not 0.
  bool IsNeverZeroByRemainder(const Polynomial& p);
  std::optional<bool> Decide(const Expr& condition);
  bool IsNonNegative(const Polynomial& p);  // a proof within limits
  const absl::flat_hash_map<Expr, Expr>& replacements() const { return replacements_; }

 private:
  friend class Prover;
  friend class Refiner;
  friend class Sampler;

  void Forget();
  bool LearnNonNegative(Polynomial p);
  bool LearnZero(const Polynomial& p);
  bool LearnResidue(const Polynomial& p, int64_t modulus);
  bool LearnNonZero(const Polynomial& p);
  bool Narrow(const Expr& e, const Range& range);
  bool NarrowParts(const Expr& e, const Range& range);
  Range StoredBound(const Expr& e) const;
  Range StoredBoundOfSum(const Polynomial& p) const;
  bool BoundOfLinearPart(const Polynomial& p);
  bool PropagateFrom(const Polynomial& p);
  bool Propagate();

  ExprContext* context_;
  absl::flat_hash_map<Expr, Expr> replacements_;
  absl::flat_hash_map<Expr, Range> bounds_;  // of symbols, monomials and sums without constant
  bool has_sum_bounds_ = false;
  absl::flat_hash_map<Expr, Residue> residues_;  // of monomials and sums without constant
  std::vector<Polynomial> inequalities_;         // each >= 0
  absl::flat_hash_map<Expr, std::vector<int>> inequalities_with_;  // by monomial
  std::vector<Polynomial> nonzero_;
  absl::flat_hash_set<Expr> truths_;
  int narrow_depth_ = 0;
  std::vector<Expr> narrowed_;  // whose inequalities wait for propagation
  bool propagating_ = false;
  absl::flat_hash_map<Expr, std::vector<Expr>> facts_with_;    // conditions by symbol
  absl::flat_hash_map<Expr, std::vector<Expr>> mentioned_by_;  // replaced symbols by symbol

  absl::flat_hash_map<Expr, Range> range_memo_;
  absl::flat_hash_map<Expr, int64_t> divisor_memo_;
  absl::flat_hash_map<Expr, Expr> simplify_memo_;
  absl::flat_hash_map<Expr, std::optional<bool>> decide_memo_;
};

// The sum without its constant.
Expr LinearPart(ExprContext* context, const Polynomial& p);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_KNOWLEDGE_H_
