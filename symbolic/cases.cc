#include "symbolic/cases.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "symbolic/domination.h"
#include "symbolic/evaluate.h"
#include "symbolic/monomial.h"
#include "symbolic/replace_operation.h"
#include "symbolic/sampler.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/walk.h"

namespace lathe::symbolic {
namespace {

constexpr int kDeepest = 2;
constexpr size_t kMostSides = 4;
constexpr size_t kMostParts = 8;
constexpr size_t kMostDisjunctions = 4;
constexpr size_t kMostFacts = 200;  // each case copies them

bool ShareSymbols(const Expr& a, const Expr& b) {
  const std::vector<Expr> x = FreeSymbols(a), y = FreeSymbols(b);
  return std::any_of(x.begin(), x.end(),
                     [&](const Expr& s) { return std::find(y.begin(), y.end(), s) != y.end(); });
}

// An order whose opposite shows term by term.
bool IsFalseByTerms(Knowledge& k, const Expr& fact) {
  if (fact.kind() != ExprKind::kLe && fact.kind() != ExprKind::kLt) return false;
  const absl::Span<const Expr> x = fact.operands();
  if (x[0].type() != ExprType::kInt || x[1].type() != ExprType::kInt) return false;
  Polynomial opposite = Difference(x[0], x[1]);
  if (fact.kind() == ExprKind::kLe) {
    opposite.overflow |= __builtin_sub_overflow(opposite.constant, 1, &opposite.constant);
  }
  return IsNonNegativeByTerms(k, opposite);
}

// An older fact that the bounds no longer allow, such as "a//4 != 0" once a is 2.
bool AnyFactIsFalse(Knowledge& k, const std::vector<Expr>& facts) {
  if (facts.size() > CaseAnalysis::kMostFactsToRepeat) return false;
  return std::any_of(facts.begin(), facts.end(), [&](const Expr& fact) {
    return k.RangeOf(fact).upper < 1 || IsFalseByTerms(k, fact);
  });
}

}  // namespace

std::optional<bool> CaseAnalysis::Decide(const Expr& condition) const {
  if (k_.case_depth_ >= kDeepest || k_.truths_.size() > 2 * kMostFacts) return std::nullopt;
  if (condition.kind() == ExprKind::kNot) {
    const std::optional<bool> answer = Decide(condition.operands()[0]);
    return answer ? std::optional<bool>(!*answer) : std::nullopt;
  }
  if (condition.kind() == ExprKind::kAnd && Contradict(condition.operands(), false)) return false;
  if (condition.kind() == ExprKind::kOr && Contradict(condition.operands(), true)) return true;
  if (condition.kind() == ExprKind::kOr && AllAre(condition.operands(), false)) return false;
  if (condition.kind() == ExprKind::kAnd && AllAre(condition.operands(), true)) return true;
  if (condition.kind() == ExprKind::kEq || condition.kind() == ExprKind::kNe) {
    if (const std::optional<bool> answer = OfConditions(condition)) return answer;
  }
  if (condition.kind() >= ExprKind::kEq && condition.kind() <= ExprKind::kLe) {
    if (const std::optional<bool> answer = ByContradiction(condition)) return answer;
    if (const std::optional<bool> answer = ByFactors(condition)) return answer;
  }
  size_t tried = 0;
  for (size_t i = k_.disjunctions_.size(); i-- > 0 && tried < kMostDisjunctions;) {
    const Expr& fact = k_.disjunctions_[i];
    if (fact.operands().size() > kMostSides || !ShareSymbols(fact, condition)) continue;
    ++tried;
    if (const std::optional<bool> answer = BySidesOf(fact, condition)) return answer;
  }
  if (const std::optional<bool> answer = ByChoices(condition)) return answer;
  if (k_.case_depth_ > 0) return std::nullopt;
  if (const std::optional<bool> answer = ByDivisorSign(condition)) return answer;
  if (const std::optional<bool> answer = ByRemainders(condition)) return answer;
  return ByValues(condition);
}

std::optional<bool> CaseAnalysis::OfConditions(const Expr& comparison) const {
  const Expr &a = comparison.operands()[0], &b = comparison.operands()[1];
  if (a.type() != ExprType::kBool || b.type() != ExprType::kBool) return std::nullopt;
  const Expr not_a = Not(a), not_b = Not(b);
  if (not_a.IsOverflow() || not_b.IsOverflow()) return std::nullopt;
  const bool equal = comparison.kind() == ExprKind::kEq;
  if (Contradict({a, not_b}, false) && Contradict({not_a, b}, false)) return equal;
  if (Contradict({a, b}, false) && Contradict({not_a, not_b}, false)) return !equal;
  return std::nullopt;
}

bool CaseAnalysis::Contradict(absl::Span<const Expr> parts, bool negated) const {
  if (parts.size() > kMostParts) return false;
  Knowledge together = k_;
  ++together.case_depth_;
  // What is unequal, or has several sides, says most once the others are known.
  const auto turn = [](const Expr& e) {
    const bool has_sides = e.kind() == ExprKind::kOr || e.kind() == ExprKind::kNot;
    return e.kind() == ExprKind::kNe ? 1 : has_sides ? 2 : 0;
  };
  for (const int now : {0, 1, 2}) {
    for (const Expr& part : parts) {
      const Expr one = negated ? Not(part) : part;
      if (turn(one) != now) continue;
      const Expr e = together.Simplify(one);
      if (e.IsOverflow()) return false;
      if (parts.size() > 1 && together.Decide(e) == false) return true;
      if (!together.Learn(e)) return true;
    }
  }
  return AnyFactIsFalse(together, together.learnt_);
}

bool CaseAnalysis::AllAre(absl::Span<const Expr> parts, bool answer) const {
  if (parts.size() > kMostParts) return false;
  Knowledge other = k_;
  ++other.case_depth_;
  return std::all_of(parts.begin(), parts.end(),
                     [&](const Expr& part) { return other.Decide(part) == answer; });
}

std::optional<bool> CaseAnalysis::ByContradiction(const Expr& condition) const {
  if (k_.case_depth_ > 1 || k_.learnt_.empty() ||
      k_.learnt_.size() > CaseAnalysis::kMostFactsToRepeat) {
    return std::nullopt;
  }
  Knowledge other = k_;
  const Sampler::Outcomes seen = Sampler(other).Try(condition);
  if (!seen.can_be_true && Contradict({condition}, false)) return false;
  if (!seen.can_be_false && Contradict({condition}, true)) return true;
  return std::nullopt;
}

std::optional<bool> CaseAnalysis::ByFactors(const Expr& condition) const {
  const std::optional<Expr> of_factors = ComparisonOfFactors(k_.context_, condition);
  if (!of_factors) return std::nullopt;
  Knowledge other = k_;
  ++other.case_depth_;
  return other.Decide(*of_factors);
}

std::optional<bool> CaseAnalysis::InSide(const Expr& side, const Expr& condition,
                                         bool& cannot_be) const {
  Knowledge other = k_;
  ++other.case_depth_;
  cannot_be = !other.Learn(side);
  if (cannot_be) return std::nullopt;
  if (const std::optional<bool> answer = other.Decide(condition)) return answer;
  // Of an equality what it makes of the facts.
  const auto solution = k_.Solve(side);
  if (!solution || k_.learnt_.size() > kMostFactsToRepeat) return std::nullopt;
  Knowledge replaced(k_.context_);
  const Replacement with = {solution->first, solution->second};
  cannot_be = !Restate(replaced, {with}, condition);
  if (cannot_be) return std::nullopt;
  const Expr e = replaced.WithReplacements(condition);
  return e.IsOverflow() ? std::nullopt : replaced.Decide(e);
}

std::optional<bool> CaseAnalysis::BySidesOf(const Expr& disjunction, const Expr& condition) const {
  std::optional<bool> common;
  for (const Expr& side : disjunction.operands()) {
    bool cannot_be = false;
    const std::optional<bool> answer = InSide(side, condition, cannot_be);
    if (cannot_be) continue;
    if (!answer || (common && *common != *answer)) return std::nullopt;
    common = answer;
  }
  return common;
}

namespace {

struct Alternative {
  Expr condition;  // under which the operation
  Expr value;      // is this
};

std::vector<Alternative> AlternativesOf(Knowledge& k, const Expr& choice) {
  const absl::Span<const Expr> x = choice.operands();
  switch (choice.kind()) {
    case ExprKind::kAbs:
      return {{Le(0, x[0]), x[0]}, {Lt(x[0], 0), -x[0]}};
    case ExprKind::kWhere:
      return {{x[0], x[1]}, {Not(x[0]), x[2]}};
    case ExprKind::kTruncDiv:
    case ExprKind::kTruncMod: {
      if (k.RangeOf(x[1]).lower < 1) return {};
      const bool divides = choice.kind() == ExprKind::kTruncDiv;
      return {{Le(0, x[0]), divides ? FloorDiv(x[0], x[1]) : Mod(x[0], x[1])},
              {Lt(x[0], 0), divides ? -FloorDiv(-x[0], x[1]) : -Mod(-x[0], x[1])}};
    }
    case ExprKind::kMin:
      if (x.size() == 2) return {{Le(x[0], x[1]), x[0]}, {Lt(x[1], x[0]), x[1]}};
      return {};
    case ExprKind::kMax:
      if (x.size() == 2) return {{Le(x[1], x[0]), x[0]}, {Lt(x[0], x[1]), x[1]}};
      return {};
    default:
      return {};
  }
}

bool IsDivision(const Expr& e) {
  return e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kMod ||
         e.kind() == ExprKind::kTruncDiv || e.kind() == ExprKind::kTruncMod ||
         e.kind() == ExprKind::kTrueDiv;
}

// No division inside can be one by 0.
bool IsAlwaysDefined(Knowledge& k, const Expr& root) {
  bool defined = true;
  absl::flat_hash_set<Expr> seen;
  const auto is_done = [&](const Expr& e) {
    return !defined || e.operands().empty() || seen.contains(e);
  };
  VisitOperandsFirst(root, is_done, [&](const Expr& e) {
    seen.insert(e);
    defined =
        defined && !(IsDivision(e) && !e.operands()[1].is_const() && !k.IsNonZero(e.operands()[1]));
  });
  return defined;
}

// An operation that is one of its operands and has none such inside.
std::optional<Expr> InnermostChoice(Knowledge& k, const Expr& root) {
  std::optional<Expr> found;
  absl::flat_hash_set<Expr> seen;
  const auto is_done = [&](const Expr& e) {
    return found || e.operands().empty() || seen.contains(e);
  };
  VisitOperandsFirst(root, is_done, [&](const Expr& e) {
    seen.insert(e);
    if (!found && e.type() == ExprType::kInt && !AlternativesOf(k, e).empty()) found = e;
  });
  return found;
}

}  // namespace

std::optional<bool> CaseAnalysis::ByChoices(const Expr& condition) const {
  if (k_.learnt_.size() > CaseAnalysis::kMostFactsToRepeat ||
      HasMoreNodesThan(CaseAnalysis::kMostSplitNodes, condition)) {
    return std::nullopt;
  }
  Knowledge same = k_;
  const std::optional<Expr> choice = InnermostChoice(same, condition);
  if (!choice) return std::nullopt;
  // What is learnt has a value: where the operation has none the cases would leave values out.
  if (!IsAlwaysDefined(same, *choice)) return std::nullopt;
  std::optional<bool> common;
  for (const Alternative& one : AlternativesOf(same, *choice)) {
    Knowledge other = k_;
    ++other.case_depth_;
    if (other.Decide(one.condition) == false || !other.Learn(one.condition)) continue;
    const Expr replaced = ReplaceOperation(k_.context_, condition, *choice, one.value);
    if (replaced.IsOverflow()) return std::nullopt;
    const std::optional<bool> answer = other.Decide(replaced);
    if (!answer || (common && *common != *answer)) return std::nullopt;
    common = answer;
  }
  return common;
}

}  // namespace lathe::symbolic
