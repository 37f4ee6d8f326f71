// The cases of cases.h that give a symbol another form: its remainders, its values.

#include <algorithm>
#include <numeric>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "symbolic/cases.h"
#include "symbolic/evaluate.h"
#include "symbolic/known_facts.h"
#include "symbolic/sampler.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/walk.h"

namespace lathe::symbolic {
namespace {

constexpr size_t kMostSplitSymbols = 2;
constexpr int64_t kMostRemainders = 24;
constexpr int kMostRemainderCases = 36;
constexpr int64_t kMostValues = 16;
constexpr size_t kMostSymbolsOfValues = 3;

// Whether all cases had one answer.
class Agreement {
 public:
  bool Add(std::optional<bool> answer) {
    if (!answer || (common_ && *common_ != *answer)) return false;
    common_ = answer;
    return true;
  }
  std::optional<bool> common() const { return common_; }

 private:
  std::optional<bool> common_;
};

// The symbols whose remainders the divisions by constants in `root` depend on, and the least
// common multiple of these constants; nothing when that is too large.
struct Divisions {
  int64_t modulus = 1;
  std::vector<Expr> symbols;
};

// A divisor inside another multiplies it: (x//4) % 4 depends on x % 16.
int64_t NestedModulus(const Expr& root) {
  absl::flat_hash_map<Expr, int64_t> of;
  const auto is_done = [&](const Expr& e) { return e.operands().empty() || of.contains(e); };
  VisitOperandsFirst(root, is_done, [&](const Expr& e) {
    int64_t modulus = 1;
    for (const Expr& o : e.operands()) {
      const auto it = of.find(o);
      if (it != of.end()) modulus = std::lcm(modulus, it->second);
    }
    const bool divides = e.kind() == ExprKind::kMod || e.kind() == ExprKind::kFloorDiv;
    if (divides) modulus *= e.operands()[1].AsInt().value_or(1);
    of[e] = std::min<int64_t>(modulus, 1 << 20);  // far above what is split
  });
  const auto it = of.find(root);
  return it == of.end() ? 1 : it->second;
}

std::optional<Divisions> DivisionsIn(const Expr& root) {
  if (HasMoreNodesThan(CaseAnalysis::kMostSplitNodes, root)) return std::nullopt;
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
  const int64_t nested = NestedModulus(root);
  if (nested <= kMostRemainders) found.modulus = std::lcm(found.modulus, nested);
  if (found.modulus > kMostRemainders) return std::nullopt;
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

// It has products, powers or divisions by anything but numbers.
bool IsNonlinear(const Expr& root) {
  bool found = false;
  absl::flat_hash_set<Expr> seen;
  const auto is_done = [&](const Expr& e) { return e.operands().empty() || seen.contains(e); };
  VisitOperandsFirst(root, is_done, [&](const Expr& e) {
    seen.insert(e);
    const absl::Span<const Expr> x = e.operands();
    const bool divides = e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kMod;
    found = found || e.kind() == ExprKind::kPow || (divides && !x[1].is_const()) ||
            (e.kind() == ExprKind::kMul && !(x.size() == 2 && x[0].is_const()));
  });
  return found;
}

}  // namespace

bool CaseAnalysis::Restate(Knowledge& one, const std::vector<Replacement>& with,
                           const Expr& condition) const {
  one.case_depth_ = k_.case_depth_ + 1;
  for (const Replacement& r : with) {
    one.Replace(r.symbol, r.value);
    if (r.base.is_symbol() && (r.range.empty() || !one.LimitSymbol(r.base, r.range))) return false;
  }
  std::vector<Expr> symbols = FreeSymbols(condition);
  for (const Expr& fact : k_.learnt_) CollectFreeSymbols(fact, symbols);
  for (const Expr& s : symbols) {
    const Range range = k_.BoundOfSymbol(s);
    const auto replaced = one.replacements().find(s);
    if (replaced == one.replacements().end()) {
      one.LimitSymbol(s, range);
    } else if (!replaced->second.IsOverflow()) {
      for (const Expr& fact : RangeFacts(replaced->second, range)) {
        if (!one.Learn(fact)) return false;
      }
    }
  }
  return std::all_of(k_.learnt_.begin(), k_.learnt_.end(),
                     [&](const Expr& fact) { return one.Learn(one.WithReplacements(fact)); });
}

std::optional<bool> CaseAnalysis::ByDivisorSign(const Expr& condition) const {
  if (condition.kind() < ExprKind::kEq || condition.kind() > ExprKind::kLe ||
      k_.learnt_.size() > kMostFactsToRepeat || HasMoreNodesThan(kMostSplitNodes, condition)) {
    return std::nullopt;
  }
  std::optional<Expr> divisor;
  bool chooses = false;
  absl::flat_hash_set<Expr> seen;
  const auto is_done = [&](const Expr& e) { return e.operands().empty() || seen.contains(e); };
  VisitOperandsFirst(condition, is_done, [&](const Expr& e) {
    seen.insert(e);
    chooses = chooses || e.kind() == ExprKind::kWhere || e.kind() == ExprKind::kAnd ||
              e.kind() == ExprKind::kOr || e.kind() == ExprKind::kNot;
    const bool divides = e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kMod;
    if (!divides || !e.operands()[1].is_symbol()) return;
    const Range r = k_.BoundOfSymbol(e.operands()[1]);
    if (r.lower < 0 && r.upper > 0) divisor = e.operands()[1];
  });
  if (!divisor || chooses) return std::nullopt;
  Agreement agreement;
  for (const Range& side : {Range{1, Range::kMax}, Range{Range::kMin, -1}}) {
    Knowledge one = k_;
    ++one.case_depth_;
    if (!one.LimitSymbol(*divisor, side)) continue;
    if (!agreement.Add(one.Decide(condition))) return std::nullopt;
  }
  return agreement.common();
}

std::optional<bool> CaseAnalysis::ByRemainders(const Expr& condition) const {
  const std::optional<Divisions> divisions = DivisionsIn(condition);
  if (!divisions || k_.learnt_.size() > kMostFactsToRepeat) return std::nullopt;
  const int64_t m = divisions->modulus;
  Agreement agreement;
  int cases = 0;
  std::vector<int64_t> remainders(divisions->symbols.size(), 0);
  for (bool more = true; more;) {
    std::vector<Replacement> with;
    bool possible = true;
    for (size_t i = 0; i < remainders.size(); ++i) {
      const Expr& s = divisions->symbols[i];
      const Residue known = k_.ResidueOf(s);
      const int64_t g = std::gcd(known.modulus, m);
      possible = possible && remainders[i] % g == known.remainder % g;
      const Expr q = k_.context_->Symbol(absl::StrCat(s.symbol_name(), "'", m), s.symbol_kind());
      with.push_back(
          {s, q * m + remainders[i], q, QuotientRange(k_.BoundOfSymbol(s), m, remainders[i])});
    }
    Knowledge one(k_.context_);
    if (possible && Restate(one, with, condition)) {
      if (++cases > kMostRemainderCases) return std::nullopt;
      if (!agreement.Add(one.Decide(one.WithReplacements(condition)))) return std::nullopt;
    }
    more = false;
    for (size_t i = 0; i < remainders.size() && !more; ++i) {
      more = ++remainders[i] < m;
      if (!more) remainders[i] = 0;
    }
  }
  return agreement.common();
}

std::optional<bool> CaseAnalysis::ByValues(const Expr& condition) const {
  if (k_.learnt_.size() > kMostFactsToRepeat || HasMoreNodesThan(kMostSplitNodes, condition)) {
    return std::nullopt;
  }
  if (!IsNonlinear(condition)) return std::nullopt;
  const std::vector<Expr> symbols = FreeSymbols(condition);
  if (symbols.size() > kMostSymbolsOfValues) return std::nullopt;
  for (const Expr& s : symbols) {
    if (const std::optional<bool> answer = ByEachValue(s, condition)) return answer;
  }
  for (const Expr& s : symbols) {
    if (const std::optional<bool> answer = ByLeastValue(s, condition)) return answer;
  }
  return std::nullopt;
}

std::optional<bool> CaseAnalysis::ByEachValue(const Expr& symbol, const Expr& condition) const {
  const Range r = k_.BoundOfSymbol(symbol);
  if (r.lower == Range::kMin || r.upper == Range::kMax || r.empty()) return std::nullopt;
  const std::optional<int64_t> width = CheckedAdd(r.upper, -r.lower);
  if (!width || *width >= kMostValues) return std::nullopt;
  Agreement agreement;
  for (int64_t v = r.lower; v <= r.upper; ++v) {
    Knowledge one(k_.context_);
    if (!Restate(one, {{symbol, v}}, condition)) continue;
    const Expr e = one.WithReplacements(condition);
    if (e.IsOverflow() || !agreement.Add(one.Decide(e))) return std::nullopt;
  }
  return agreement.common();
}

std::optional<bool> CaseAnalysis::ByLeastValue(const Expr& symbol, const Expr& condition) const {
  const Range r = k_.BoundOfSymbol(symbol);
  if (r.lower == Range::kMin || r.lower == r.upper) return std::nullopt;
  Agreement agreement;
  Knowledge least(k_.context_);
  if (Restate(least, {{symbol, r.lower}}, condition)) {
    const Expr e = least.WithReplacements(condition);
    if (e.IsOverflow() || !agreement.Add(least.Decide(e))) return std::nullopt;
  }
  Knowledge others = k_;
  ++others.case_depth_;
  if (others.LimitSymbol(symbol, {r.lower + 1, r.upper})) {
    if (!agreement.Add(others.Decide(condition))) return std::nullopt;
  }
  return agreement.common();
}

}  // namespace lathe::symbolic
