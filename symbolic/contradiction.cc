#include "symbolic/contradiction.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "symbolic/all_values.h"
#include "symbolic/evaluate.h"
#include "symbolic/known_facts.h"
#include "symbolic/residues.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {
namespace {

constexpr size_t kMostFacts = 16;          // that are looked at
constexpr size_t kMostFactsHeldApart = 8;  // each of which is asked of the others
constexpr int kProofsOfOneFact = 40;

// Indices of the facts that `last` has to do with, which is one of them.
std::vector<size_t> Related(absl::Span<const Expr> facts, const Expr& last) {
  std::vector<std::vector<Expr>> symbols;
  for (const Expr& f : facts) symbols.push_back(FreeSymbols(f));
  const std::vector<Expr> of = FreeSymbols(last);
  absl::flat_hash_set<Expr> near(of.begin(), of.end());
  std::vector<bool> taken(facts.size(), false);
  std::vector<size_t> related;
  for (bool more = true; more && related.size() <= kMostFacts;) {
    more = false;
    for (size_t i = 0; i < facts.size(); ++i) {
      if (taken[i] || std::none_of(symbols[i].begin(), symbols[i].end(),
                                   [&](const Expr& s) { return near.contains(s); })) {
        continue;
      }
      taken[i] = more = true;
      related.push_back(i);
      near.insert(symbols[i].begin(), symbols[i].end());
    }
  }
  return related;
}

// That 0 <= p, or 0 == p, can hold for no values.
bool CannotHold(Knowledge& k, const Expr& fact) {
  if (fact.kind() < ExprKind::kEq || fact.kind() > ExprKind::kLe ||
      fact.operands()[0].type() != ExprType::kInt || fact.operands()[1].type() != ExprType::kInt) {
    return k.RangeOf(fact).upper < 1;
  }
  const Polynomial p = Difference(fact.operands()[1], fact.operands()[0]);
  if (p.overflow) return false;
  if (fact.kind() == ExprKind::kEq) return IsNeverZeroByResidues(k, p) || k.IsNeverZero(p);
  Polynomial below = Scaled(p, -1);
  if (fact.kind() == ExprKind::kNe || below.overflow) return false;
  if (fact.kind() == ExprKind::kLe) {
    below.overflow |= __builtin_sub_overflow(below.constant, 1, &below.constant);
  }
  return !below.overflow && k.IsNonNegative(below);
}

// The bounds of one symbol are in the ranges of all others' proofs: nothing new comes of them.
bool IsBound(const Expr& fact) {
  const absl::Span<const Expr> x = fact.operands();
  return fact.kind() == ExprKind::kLe && x.size() == 2 &&
         ((x[0].is_const() && x[1].is_symbol()) || (x[1].is_const() && x[0].is_symbol()));
}

}  // namespace

bool FindContradiction(ExprContext* context, absl::Span<const std::pair<Expr, Range>> ranges,
                       absl::Span<const Expr> facts, const Expr& last, Knowledge& all) {
  const std::vector<size_t> related = Related(facts, last);
  if (related.size() > kMostFacts) return false;
  for (const size_t i : related) {
    const Expr fact = all.WithReplacements(facts[i]);
    if (fact.AsBool() == false || AllowNoValues(all, fact)) return true;
    if (!IsBound(fact) && CannotHold(all, fact)) return true;
  }
  const auto is_bound = [&](size_t i) { return IsBound(facts[i]); };
  const size_t bounds =
      static_cast<size_t>(std::count_if(related.begin(), related.end(), is_bound));
  if (related.size() - bounds > kMostFactsHeldApart) return false;
  for (const size_t i : related) {
    if (is_bound(i) || facts[i] == last) continue;
    std::vector<Expr> others(facts.begin(), facts.end());
    others.erase(others.begin() + static_cast<int64_t>(i));
    const std::unique_ptr<Knowledge> k = Combine(context, ranges, others);
    if (k == nullptr || k->Decide(facts[i], kProofsOfOneFact) == false) return true;
  }
  return false;
}

}  // namespace lathe::symbolic
