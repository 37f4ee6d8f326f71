#ifndef LATHE_SYMBOLIC_KNOWLEDGE_H_
#define LATHE_SYMBOLIC_KNOWLEDGE_H_

// What facts say, in forms that answer quickly: bounds, remainders, inequalities, equal symbols.
// Derived from a list of facts and rebuilt from it when a symbol is replaced; every answer is
// kept until the next fact.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolic/expr.h"
#include "symbolic/partial_ranges.h"
#include "symbolic/range.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {

struct Residue {  // e = remainder modulo modulus, 0 <= remainder < modulus
  int64_t modulus = 1;
  int64_t remainder = 0;
};

// Results by expression, each valid for one state of what is known.
template <typename T>
class VersionedMemo {
 public:
  const T* Find(const Expr& e, int64_t version) const {
    const auto it = entries_.find(e);
    return it == entries_.end() || it->second.version != version ? nullptr : &it->second.value;
  }
  void Store(const Expr& e, int64_t version, T value) { entries_[e] = {version, std::move(value)}; }

 private:
  struct Entry {
    int64_t version;
    T value;
  };
  absl::flat_hash_map<Expr, Entry> entries_;
};

class Knowledge {
 public:
  // The budget of one Simplify or Decide: a search takes some 100 us, so that even an expression
  // of 100 000 levels is answered in well under a second, if perhaps by "unknown".
  static constexpr int kProofsOfOneQuestion = 400;

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
  bool HasResidues() const { return !residues_.empty(); }
  bool IsNonZero(const Expr& e);
  // A power inside may have a negative exponent: it is no integer then, as 2 ** -1 is not.
  bool MayBeNoInteger(const Expr& e);
  // All values of p leave the same remainder, and it is not 0; with `modulus`: of values that may
  // differ by multiples of it.
  bool IsNeverZeroByRemainder(const Polynomial& p, int64_t modulus = 0);
  std::optional<bool> Decide(const Expr& condition, int most_proofs = kProofsOfOneQuestion);
  std::optional<bool> ByBounds(const Expr& condition);  // without a search
  // No symbol stands for something else, and nothing is bounded to one value: sums and products of
  // symbols are what they are.
  bool AllVaries() const { return replacements_.empty() && !has_constants_; }
  // It or its opposite was learnt as it stands.
  std::optional<bool> AsLearnt(const Expr& condition) const {
    const auto it = truths_.find(condition);
    return it == truths_.end() ? std::nullopt : std::optional<bool>(it->second);
  }
  bool IsNonNegative(const Polynomial& p);  // a proof within limits
  bool IsNeverZero(const Polynomial& p);    // p = 0 contradicts what is known
  Range BoundOfSymbol(const Expr& symbol) const;
  // nullptr: none.
  const std::vector<Expr>* FactsWith(const Expr& symbol) const {
    const auto it = facts_with_.find(symbol);
    return it == facts_with_.end() ? nullptr : &it->second;
  }
  // Numbers of the inequalities with that monomial, nullptr: none; each is >= 0.
  const std::vector<int>* InequalitiesWith(const Expr& monomial) const {
    const auto it = inequalities_with_.find(monomial);
    return it == inequalities_with_.end() ? nullptr : &it->second;
  }
  const Polynomial& InequalityAt(int number) const {
    return inequalities_[static_cast<size_t>(number)];
  }
  const absl::flat_hash_map<Expr, Expr>& replacements() const { return replacements_; }

 private:
  friend class CaseAnalysis;
  friend class Prover;
  friend class Sampler;

  // What was derived no longer says all that is known.
  void Forget() { ++version_; }
  bool IsRemembered(const Expr& condition, std::optional<bool>& answer) const;
  void Remember(const Expr& condition, std::optional<bool> answer);
  bool LearnNonNegative(Polynomial p);
  bool LearnZero(const Polynomial& p);
  bool LearnResidue(const Polynomial& p, int64_t modulus);
  bool LearnNonZero(const Polynomial& p);
  bool LearnDivisors(const Expr& condition);
  bool LearnChosen(const Polynomial& p);
  bool LearnMagnitude(const Polynomial& p);
  bool LearnSomeSide(const Polynomial& p);
  bool LearnChosenIs(const Polynomial& p);
  bool LearnNegated(const Expr& condition);
  bool LearnFactors(const Expr& condition, const Polynomial& p);
  void NoteInside(const Polynomial& p);
  bool LearnBranch(const Expr& choice, const Expr& value);
  bool LearnMultiple(const Expr& condition);
  bool LearnRemainder(const Polynomial& p);
  bool LearnFactorIsZero(const Polynomial& p);
  bool LearnWithoutFactor(const Polynomial& p, bool is_zero, int64_t least = 0);
  bool Narrow(const Expr& e, const Range& range);
  bool NarrowParts(const Expr& e, const Range& range);
  bool NarrowFactors(absl::Span<const Expr> x, const Range& range);
  bool NarrowBase(const Expr& base, int64_t exponent, const Range& range);
  bool NarrowDividend(const Expr& x, int64_t d, const Range& range);
  template <typename RangeOfOperand>
  Range RangeFromOperands(const Expr& e, RangeOfOperand range_of);
  std::optional<Range> RangeOfSmall(const Expr& e, int depth);
  Range RangeOfPlain(const Expr& e);
  void KeepBoundOfSymbol(const Expr& symbol, const Range& range);
  Range StoredBound(const Expr& e) const;
  Range StoredBoundOfSum(const Polynomial& p) const;
  bool BoundOfLinearPart(const Polynomial& p);
  bool PropagateFrom(const Polynomial& p);
  bool Propagate();

  ExprContext* context_;
  absl::flat_hash_map<Expr, Expr> replacements_;
  absl::flat_hash_map<Expr, Range> bounds_;  // of symbols, monomials and sums without constant
  std::vector<Range> symbol_bounds_;         // those of symbols again, by their index
  bool has_constants_ = false;               // some bounds are one value
  bool has_sum_bounds_ = false;
  bool knows_remainders_ = false;                // bounds of some x % d
  absl::flat_hash_map<Expr, Residue> residues_;  // of monomials and sums without constant
  std::vector<Polynomial> inequalities_;         // each >= 0
  absl::flat_hash_map<Expr, std::vector<int>> inequalities_with_;  // by monomial
  absl::flat_hash_map<Expr, std::vector<int>> inside_;        // by symbols within their operations
  absl::flat_hash_map<Expr, std::vector<int64_t>> excluded_;  // values a monomial does not take
  absl::flat_hash_map<Expr, bool> truths_;  // what was learnt, and its opposite as false
  std::vector<Expr> learnt_;                // those that are true, in order
  std::vector<Expr> disjunctions_;          // facts "a or b"
  int case_depth_ = 0;                      // of the cases that this is a copy for
  int narrow_depth_ = 0;
  std::vector<Expr> narrowed_;  // whose inequalities wait for propagation
  bool propagating_ = false;
  absl::flat_hash_map<Expr, std::vector<Expr>> facts_with_;    // conditions by symbol
  absl::flat_hash_map<Expr, std::vector<Expr>> mentioned_by_;  // replaced symbols by symbol

  // Searches for proofs that are left to the question being asked.
  int proofs_left_ = kProofsOfOneQuestion;
  int question_depth_ = 0;
  class Question;

  int64_t version_ = 0;
  VersionedMemo<Range> range_memo_;
  PartialRanges partial_ranges_;
  VersionedMemo<int64_t> divisor_memo_;
  VersionedMemo<Expr> simplify_memo_;
  VersionedMemo<bool> undecided_memo_;
  absl::flat_hash_map<Expr, bool> decided_memo_;  // once decided is decided for ever
};

// While one is alive the questions inside share its budget.
class Knowledge::Question {
 public:
  explicit Question(Knowledge& k, int most_proofs = kProofsOfOneQuestion) : k_(k) {
    if (k_.question_depth_++ == 0) k_.proofs_left_ = most_proofs;
  }
  ~Question() { --k_.question_depth_; }
  Question(const Question&) = delete;
  Question& operator=(const Question&) = delete;
  // Some are kept for the question itself, after its parts.
  void AtLeast(int proofs) { k_.proofs_left_ = std::max(k_.proofs_left_, proofs); }

 private:
  Knowledge& k_;
};

// The value where the bounds leave one.
inline std::optional<int64_t> OnlyValue(const Range& r) {
  if (r.lower != r.upper || r.lower == Range::kMin || r.lower == Range::kMax) return std::nullopt;
  return r.lower;
}

// The sum without its constant.
Expr LinearPart(ExprContext* context, const Polynomial& p);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_KNOWLEDGE_H_
