#include "symbolic/cases.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "symbolic/evaluate.h"
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

// Of a split by remainders.
constexpr size_t kMostSplitNodes = 40;
constexpr size_t kMostSplitSymbols = 2;
constexpr size_t kMostFactsToRepeat = 16;
constexpr int64_t kMostRemainders = 24;
constexpr int kMostRemainderCases = 36;

bool ShareSymbols(const Expr& a, const Expr& b) {
  const std::vector<Expr> x = FreeSymbols(a), y = FreeSymbols(b);
  return std::any_of(x.begin(), x.end(),
                     [&](const Expr& s) { return std::find(y.begin(), y.end(), s) != y.end(); });
}

}  // namespace

std::optional<bool> CaseAnalysis::Decide(const Expr& condition) const {
  if (k_.case_depth_ >= kDeepest || k_.truths_.size() > 2 * kMostFacts) return std::nullopt;
  if (condition.kind() == ExprKind::kAnd && Contradict(condition.operands(), false)) return false;
  if (condition.kind() == ExprKind::kOr && Contradict(condition.operands(), true)) return true;
  if (condition.kind() >= ExprKind::kEq && condition.kind() <= ExprKind::kLe) {
    if (const std::optional<bool> answer = ByContradiction(condition)) return answer;
  }
  size_t tried = 0;
  for (size_t i = k_.disjunctions_.size(); i-- > 0 && tried < kMostDisjunctions;) {
    const Expr& fact = k_.disjunctions_[i];
    if (fact.operands().size() > kMostSides || !ShareSymbols(fact, condition)) continue;
    ++tried;
    if (const std::optional<bool> answer = BySidesOf(fact, condition)) return answer;
  }
  if (const std::optional<bool> answer = ByChoices(condition)) return answer;
  return k_.case_depth_ == 0 ? ByRemainders(condition) : std::nullopt;
}

bool CaseAnalysis::Contradict(absl::Span<const Expr> parts, bool negated) const {
  if (parts.size() > kMostParts) return false;
  Knowledge together = k_;
  ++together.case_depth_;
  for (const Expr& part : parts) {
    const Expr e = together.Simplify(negated ? Not(part) : part);
    if (e.IsOverflow()) return false;
    if (parts.size() > 1 && together.Decide(e) == false) return true;
    if (!together.Learn(e)) return true;
  }
  return false;
}

std::optional<bool> CaseAnalysis::ByContradiction(const Expr& condition) const {
  if (k_.case_depth_ > 0 || k_.learnt_.empty() || k_.learnt_.size() > kMostFactsToRepeat) {
    return std::nullopt;
  }
  Knowledge other = k_;
  const Sampler::Outcomes seen = Sampler(other).Try(condition);
  if (!seen.can_be_true && Contradict({condition}, false)) return false;
  if (!seen.can_be_false && Contradict({condition}, true)) return true;
  return std::nullopt;
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

namespace {

struct Alternative {
  Expr condition;  // under which the operation
  Expr value;      // is this
};

std::vector<Alternative> AlternativesOf(const Expr& choice) {
  const absl::Span<const Expr> x = choice.operands();
  switch (choice.kind()) {
    case ExprKind::kAbs:
      return {{Le(0, x[0]), x[0]}, {Lt(x[0], 0), -x[0]}};
    case ExprKind::kWhere:
      return {{x[0], x[1]}, {Not(x[0]), x[2]}};
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

// An operation that is one of its operands and has none such inside.
std::optional<Expr> InnermostChoice(const Expr& root) {
  std::optional<Expr> found;
  absl::flat_hash_set<Expr> seen;
  const auto is_done = [&](const Expr& e) {
    return found || e.operands().empty() || seen.contains(e);
  };
  VisitOperandsFirst(root, is_done, [&](const Expr& e) {
    seen.insert(e);
    if (!found && e.type() == ExprType::kInt && !AlternativesOf(e).empty()) found = e;
  });
  return found;
}

}  // namespace

std::optional<bool> CaseAnalysis::ByChoices(const Expr& condition) const {
  if (k_.learnt_.size() > kMostFactsToRepeat || HasMoreNodesThan(kMostSplitNodes, condition)) {
    return std::nullopt;
  }
  const std::optional<Expr> choice = InnermostChoice(condition);
  if (!choice) return std::nullopt;
  std::optional<bool> common;
  for (const Alternative& one : AlternativesOf(*choice)) {
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

namespace {

// The symbols whose remainders the divisions by constants in `root` depend on, and the least
// common multiple of these constants; nothing when that is too large.
struct Divisions {
  int64_t modulus = 1;
  std::vector<Expr> symbols;
};
std::optional<Divisions> DivisionsIn(const Expr& root) {
  if (HasMoreNodesThan(kMostSplitNodes, root)) return std::nullopt;
  Divisions found;
  absl::flat_hash_set<Expr> seen;
  const auto is_done = [&](const Expr& e) { return e.operands().empty() || seen.contains(e); };
  bool small = true;
  VisitOperandsFirst(root, is_done, [&](const Expr& e) {
    seen.insert(e);
    if (e.kind() != ExprKind::kMod && e.kind() != ExprKind::kFloorDiv) return;
    const std::optional<int64_t> d = e.operands()[1].AsInt();
    small = small && d && *d > 0 && *d <= kMostRemainders;
    if (!small) return;
    found.modulus = std::lcm(found.modulus, *d);
    small = found.modulus <= kMostRemainders;
    CollectFreeSymbols(e.operands()[0], found.symbols);
  });
  if (!small || found.modulus == 1 || found.symbols.size() > kMostSplitSymbols) {
    return std::nullopt;
  }
  return found;
}

// All values of `symbol` that leave `remainder`: modulus * q + remainder.
Range QuotientRange(const Range& r, int64_t modulus, int64_t remainder) {
  Range q;
  if (r.lower != Range::kMin) {
    const std::optional<int64_t> low = CheckedAdd(r.lower, modulus - 1 - remainder);
    q.lower = low ? FloorBy(*low, modulus) : Range::kMin;
  }
  if (r.upper != Range::kMax) {
    const std::optional<int64_t> high = CheckedAdd(r.upper, -remainder);
    q.upper = high ? FloorBy(*high, modulus) : Range::kMax;
  }
  return q;
}

}  // namespace

std::optional<bool> CaseAnalysis::ByRemainders(const Expr& condition) const {
  const std::optional<Divisions> divisions = DivisionsIn(condition);
  if (!divisions || k_.learnt_.size() > kMostFactsToRepeat) return std::nullopt;
  const int64_t m = divisions->modulus;
  std::vector<Expr> symbols = FreeSymbols(condition);
  for (const Expr& fact : k_.learnt_) CollectFreeSymbols(fact, symbols);
  std::optional<bool> common;
  int cases = 0;
  std::vector<int64_t> remainders(divisions->symbols.size(), 0);
  for (bool more = true; more;) {
    Knowledge one(k_.context_);
    ++(one.case_depth_ = k_.case_depth_);
    bool possible = true;
    for (size_t i = 0; i < remainders.size(); ++i) {
      const Expr& s = divisions->symbols[i];
      const Residue known = k_.ResidueOf(s);
      const int64_t g = std::gcd(known.modulus, m);
      possible = possible && remainders[i] % g == known.remainder % g;
      const Expr q = k_.context_->Symbol(absl::StrCat(s.symbol_name(), "'", m), s.symbol_kind());
      one.Replace(s, q * m + remainders[i]);
      const Range range = QuotientRange(k_.BoundOfSymbol(s), m, remainders[i]);
      possible = possible && !range.empty() && one.LimitSymbol(q, range);
    }
    for (const Expr& s : symbols) {
      if (possible && !one.replacements().contains(s)) one.LimitSymbol(s, k_.BoundOfSymbol(s));
    }
    for (const Expr& fact : k_.learnt_) {
      possible = possible && one.Learn(one.WithReplacements(fact));
    }
    if (possible) {
      if (++cases > kMostRemainderCases) return std::nullopt;
      const std::optional<bool> answer = one.Decide(one.WithReplacements(condition));
      if (!answer || (common && *common != *answer)) return std::nullopt;
      common = answer;
    }
    more = false;
    for (size_t i = 0; i < remainders.size() && !more; ++i) {
      more = ++remainders[i] < m;
      if (!more) remainders[i] = 0;
    }
  }
  return common;
}

}  // namespace lathe::symbolic
