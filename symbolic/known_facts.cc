#include "symbolic/known_facts.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "symbolic/contradiction.h"
#include "symbolic/evaluate.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {
namespace {

// Removing facts one by one is done for this many; of more only those near the question are kept.
constexpr size_t kMostFacts = 400;
// Contradictions that no fact shows when it comes are looked for in as many.
constexpr size_t kMostFactsToHoldApart = 24;
constexpr size_t kMostFactsToSimplify = 40;

bool LearnRange(Knowledge& k, const Expr& e, const Range& r) {
  for (const Expr& fact : RangeFacts(e, r)) {
    if (!k.Learn(fact)) return false;
  }
  return true;
}

// `few`: also what it becomes by rules that hold of any values.
void SolveAll(Knowledge& k, const Expr& fact, bool few) {
  Expr e = k.WithReplacements(fact);
  if (few && !e.AsBool() && !k.Solve(e)) {
    const Expr simple = k.Simplify(e);
    if (!simple.IsOverflow()) e = simple;
  }
  const absl::Span<const Expr> parts =
      e.kind() == ExprKind::kAnd ? e.operands() : absl::MakeConstSpan(&e, 1);
  for (const Expr& part : parts) {
    const auto solution = k.Solve(k.WithReplacements(part));
    if (solution) k.Replace(solution->first, solution->second);
  }
}

class Reduction {
 public:
  Reduction(ExprContext* context, absl::Span<const Expr> facts, const Expr& condition, bool answer)
      : context_(context), facts_(facts), condition_(condition), answer_(answer) {}

  bool Suffices(const std::vector<size_t>& chosen) const {
    std::vector<Expr> some;
    for (const size_t i : chosen) some.push_back(facts_[i]);
    const std::unique_ptr<Knowledge> k = Combine(context_, {}, some);
    if (condition_.AsBool()) {
      return k == nullptr || (!some.empty() && some.size() <= kMostFactsToHoldApart &&
                              FindContradiction(context_, {}, some, some.back(), *k));
    }
    return k != nullptr && k->Decide(condition_) == answer_;
  }

  // Facts that share symbols with the condition, directly or through others, the nearest first.
  std::vector<size_t> Related() const {
    std::vector<size_t> result;
    if (condition_.AsBool()) {
      for (size_t i = 0; i < facts_.size(); ++i) result.push_back(i);
      return result;
    }
    std::vector<std::vector<Expr>> symbols;
    for (const Expr& f : facts_) symbols.push_back(FreeSymbols(f));
    const std::vector<Expr> of = FreeSymbols(condition_);
    absl::flat_hash_set<Expr> near(of.begin(), of.end());
    std::vector<bool> taken(facts_.size(), false);
    for (bool more = true; more;) {
      more = false;
      std::vector<size_t> ring;
      for (size_t i = 0; i < facts_.size(); ++i) {
        const bool touches =
            !taken[i] && std::any_of(symbols[i].begin(), symbols[i].end(),
                                     [&](const Expr& s) { return near.contains(s); });
        if (touches) ring.push_back(i);
      }
      for (const size_t i : ring) {
        taken[i] = more = true;
        result.push_back(i);
        near.insert(symbols[i].begin(), symbols[i].end());
      }
    }
    return result;
  }

  // Leaves out ever smaller pieces for as long as the rest suffices.
  std::vector<size_t> Minimal(std::vector<size_t> chosen) const {
    for (size_t piece = (chosen.size() + 1) / 2; piece > 0; piece /= 2) {
      for (size_t end = chosen.size(); end > 0;) {
        const size_t begin = end > piece ? end - piece : 0;
        std::vector<size_t> rest(chosen.begin(), chosen.begin() + static_cast<int64_t>(begin));
        rest.insert(rest.end(), chosen.begin() + static_cast<int64_t>(end), chosen.end());
        if (Suffices(rest)) chosen = std::move(rest);
        end = begin;
      }
    }
    return chosen;
  }

 private:
  ExprContext* context_;
  absl::Span<const Expr> facts_;
  const Expr condition_;
  const bool answer_;
};

}  // namespace

std::vector<Expr> RangeFacts(const Expr& e, const Range& range) {
  std::vector<Expr> facts;
  if (range.lower != Range::kMin) facts.push_back(Le(range.lower, e));
  if (range.upper != Range::kMax) facts.push_back(Le(e, range.upper));
  return facts;
}

namespace {

// Of few facts also what they become by what is known before them: "abs(s0) == 4" of a size.
bool LearnFact(Knowledge& k, const Expr& fact, bool few) {
  const Expr e = k.WithReplacements(fact);
  const Expr simple = few ? k.Simplify(e) : e;
  if (!k.Learn(e)) return false;
  return simple == e || simple.AsBool() || simple.IsOverflow() || k.Learn(simple);
}

// What a comparison becomes by all that is known of its sides.
bool LearnInParts(Knowledge& k, const Expr& fact) {
  if (fact.kind() < ExprKind::kEq || fact.kind() > ExprKind::kLe) return true;
  const Expr x = k.Simplify(fact.operands()[0]), y = k.Simplify(fact.operands()[1]);
  if (x == fact.operands()[0] && y == fact.operands()[1]) return true;
  const Expr e = k.context()->Make(fact.kind(), {x, y});
  return e.IsOverflow() || k.Learn(e);
}

// Equalities that orders amount to: a <= b and b <= a.
std::vector<Expr> EqualitiesOf(Knowledge& k, absl::Span<const Expr> facts) {
  std::vector<Expr> equalities;
  for (const Expr& fact : facts) {
    const Expr e = k.WithReplacements(fact);
    if (!IsOrderOfTwo(e)) continue;
    const Polynomial p = Difference(e.operands()[1], e.operands()[0]);
    if (p.overflow || k.RangeOf(p) != Range{0, 0}) continue;
    const Expr equality = Eq(e.operands()[0], e.operands()[1]);
    if (k.Solve(equality)) equalities.push_back(equality);
  }
  return equalities;
}

std::unique_ptr<Knowledge> CombineOnce(ExprContext* context,
                                       absl::Span<const std::pair<Expr, Range>> ranges,
                                       absl::Span<const Expr> facts) {
  auto k = std::make_unique<Knowledge>(context);
  const bool few = facts.size() <= kMostFactsToSimplify;
  for (const Expr& fact : facts) SolveAll(*k, fact, few);
  for (const auto& [symbol, range] : ranges) {
    const auto it = k->replacements().find(symbol);
    if (it == k->replacements().end()) {
      k->LimitSymbol(symbol, range);
    } else if (!LearnRange(*k, it->second, range)) {
      return nullptr;
    }
  }
  // What a fact says of products and divisions depends on the signs of their operands.
  const auto turn = [](const Expr& fact) {
    return IsBoundOfSymbol(fact) ? 0 : IsOrderOfTwo(fact) ? 1 : 2;
  };
  for (const int now : {0, 1, 2}) {
    for (const Expr& fact : facts) {
      if (turn(fact) == now && !LearnFact(*k, fact, few)) return nullptr;
    }
  }
  if (!few) return k;
  for (const Expr& fact : facts) {
    if (turn(fact) > 0 && !LearnInParts(*k, k->WithReplacements(fact))) return nullptr;
  }
  return k;
}

}  // namespace

bool IsBoundOfSymbol(const Expr& fact) {
  if (fact.kind() != ExprKind::kLe) return false;
  const absl::Span<const Expr> x = fact.operands();
  return (x[0].is_const() && x[1].is_symbol()) || (x[1].is_const() && x[0].is_symbol());
}

bool IsOrderOfTwo(const Expr& fact) {
  return (fact.kind() == ExprKind::kLe || fact.kind() == ExprKind::kLt) &&
         !fact.operands()[0].is_const() && !fact.operands()[1].is_const() &&
         fact.operands()[0].type() == ExprType::kInt && fact.operands()[1].type() == ExprType::kInt;
}

std::unique_ptr<Knowledge> Combine(ExprContext* context,
                                   absl::Span<const std::pair<Expr, Range>> ranges,
                                   absl::Span<const Expr> facts) {
  std::unique_ptr<Knowledge> k = CombineOnce(context, ranges, facts);
  if (k == nullptr || facts.size() > kMostFactsToSimplify) return k;
  const std::vector<Expr> equalities = EqualitiesOf(*k, facts);
  if (equalities.empty()) return k;
  std::vector<Expr> all = equalities;
  all.insert(all.end(), facts.begin(), facts.end());
  return CombineOnce(context, ranges, all);
}

std::optional<std::vector<size_t>> SufficientFacts(ExprContext* context,
                                                   absl::Span<const Expr> facts,
                                                   const Expr& condition, bool answer) {
  const Reduction reduction(context, facts, condition, answer);
  std::vector<size_t> chosen = reduction.Related();
  if (chosen.size() > kMostFacts) chosen.resize(kMostFacts);
  if (!reduction.Suffices(chosen)) return std::nullopt;
  chosen = reduction.Minimal(std::move(chosen));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace lathe::symbolic
