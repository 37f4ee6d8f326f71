#include "symbolic/cases.h"

#include <algorithm>

#include "symbolic/evaluate.h"

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

}  // namespace

std::optional<bool> CaseAnalysis::Decide(const Expr& condition) const {
  if (k_.case_depth_ >= kDeepest || k_.truths_.size() > kMostFacts) return std::nullopt;
  if (condition.kind() == ExprKind::kAnd && Contradict(condition.operands(), false)) return false;
  if (condition.kind() == ExprKind::kOr && Contradict(condition.operands(), true)) return true;
  size_t tried = 0;
  for (size_t i = k_.disjunctions_.size(); i-- > 0 && tried < kMostDisjunctions;) {
    const Expr& fact = k_.disjunctions_[i];
    if (fact.operands().size() > kMostSides || !ShareSymbols(fact, condition)) continue;
    ++tried;
    if (const std::optional<bool> answer = BySidesOf(fact, condition)) return answer;
  }
  return std::nullopt;
}

bool CaseAnalysis::Contradict(absl::Span<const Expr> parts, bool negated) const {
  if (parts.size() > kMostParts) return false;
  Knowledge together = k_;
  ++together.case_depth_;
  for (const Expr& part : parts) {
    const Expr e = together.Simplify(negated ? Not(part) : part);
    if (e.IsOverflow()) return false;
    if (together.Decide(e) == false || !together.Learn(e)) return true;
  }
  return false;
}

std::optional<bool> CaseAnalysis::BySidesOf(const Expr& disjunction, const Expr& condition) const {
  std::optional<bool> common;
  for (const Expr& side : disjunction.operands()) {
    Knowledge other = k_;
    ++other.case_depth_;
    if (!other.Learn(side)) continue;  // this side cannot be
    const std::optional<bool> answer = other.Decide(condition);
    if (!answer || (common && *common != *answer)) return std::nullopt;
    common = answer;
  }
  return common;
}

}  // namespace lathe::symbolic
