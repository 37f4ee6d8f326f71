#include "symbolic/knowledge.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "symbolic/evaluate.h"
#include "symbolic/expr_node.h"
#include "symbolic/monomial.h"
#include "symbolic/real_ranges.h"
#include "symbolic/signs.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/walk.h"

namespace lathe::symbolic {
namespace {

bool IsInfiniteLower(int64_t v) { return v == Range::kMin; }
bool IsInfiniteUpper(int64_t v) { return v == Range::kMax; }

constexpr int kDepthOfSmall = 3;
constexpr size_t kMostOperandsOfSmall = 4;

}  // namespace

Expr LinearPart(ExprContext* context, const Polynomial& p) {
  return FromPolynomial(context, {p.terms, 0, p.overflow});
}

Expr Knowledge::WithReplacements(const Expr& e) const {
  if (replacements_.empty()) return e;
  return Substitute(e, replacements_, *context_);
}

// ---- ranges

Range Knowledge::BoundOfSymbol(const Expr& symbol) const {
  const uint16_t index = symbol.node()->symbol_index;
  if (index != kNoSymbolIndex) {
    return index < symbol_bounds_.size() ? symbol_bounds_[index] : Range{};
  }
  const auto it = bounds_.find(symbol);
  return it == bounds_.end() || it->second.empty() ? Range{} : it->second;
}

Range Knowledge::RangeOf(const Polynomial& p) {
  if (p.overflow) return {};
  Range r = {p.constant, p.constant};
  for (const Term& t : p.terms) {
    r = r + RangeOf(t.monomial) * Range{t.coefficient, t.coefficient};
    if (IsInfiniteLower(r.lower) && IsInfiniteUpper(r.upper)) break;
  }
  return Intersect(r, StoredBoundOfSum(p));
}

// From what was learnt of the sum without its constant.
Range Knowledge::StoredBoundOfSum(const Polynomial& p) const {
  if (!has_sum_bounds_ || p.terms.size() < 2) return {};
  const bool negative = p.terms[0].coefficient < 0;
  Polynomial linear = {p.terms, 0, false};
  if (negative) linear = Scaled(linear, -1);
  const auto it = bounds_.find(FromPolynomial(context_, linear));
  if (it == bounds_.end()) return {};
  const Range known = negative ? Range{0, 0} - it->second : it->second;
  return known + Range{p.constant, p.constant};
}

Range Knowledge::StoredBound(const Expr& e) const {
  if (e.kind() == ExprKind::kAdd) {
    if (!has_sum_bounds_) return {};
    if (e.node()->plain) {
      const auto it = bounds_.find(e);
      return it == bounds_.end() ? Range{} : it->second;
    }
    return StoredBoundOfSum(ToPolynomial(e));
  }
  const bool scaled = e.kind() == ExprKind::kMul && e.operands()[0].is_const();
  const auto it = bounds_.find(scaled ? ContextAccess::ToExpr(e.node()->monomial) : e);
  if (it == bounds_.end()) return {};
  if (!scaled) return it->second;
  const int64_t c = *e.operands()[0].AsInt();
  return it->second * Range{c, c};
}

// Of an operation whose operands have the ranges that `range_of` gives.
template <typename RangeOfOperand>
Range Knowledge::RangeFromOperands(const Expr& e, RangeOfOperand range_of) {
  Range r;
  if (e.kind() == ExprKind::kAdd) {
    SumOfRanges sum;
    for (const Expr& o : e.operands()) {
      sum.Add(range_of(o));
      if (sum.IsUnbounded()) break;
    }
    r = sum.Get();
  } else {
    absl::InlinedVector<Range, 8> ranges;
    for (const Expr& o : e.operands()) ranges.push_back(range_of(o));
    r = RangeOfOperation(e.kind(), ranges);
  }
  if (e.kind() >= ExprKind::kFloor && e.kind() <= ExprKind::kRound) r = RangeOfRounded(*this, e);
  r = Intersect(Intersect(IntrinsicRange(e), r), StoredBound(e));
  return r.empty() ? Range{} : r;
}

// What guards are made of, for which tables cost more than they save; nothing of deeper ones.
std::optional<Range> Knowledge::RangeOfSmall(const Expr& e, int depth) {
  if (e.operands().empty()) return e.is_symbol() ? BoundOfSymbol(e) : IntrinsicRange(e);
  if (e.node()->plain && e.operands().size() > kMostOperandsOfSmall) return RangeOfPlain(e);
  if (depth == 0 || e.operands().size() > kMostOperandsOfSmall) return std::nullopt;
  absl::InlinedVector<Range, kMostOperandsOfSmall> ranges;
  for (const Expr& o : e.operands()) {
    const std::optional<Range> r = RangeOfSmall(o, depth - 1);
    if (!r) return std::nullopt;
    ranges.push_back(*r);
  }
  size_t i = 0;
  return RangeFromOperands(e, [&](const Expr&) { return ranges[i++]; });
}

// Of a sum or product of symbols.
Range Knowledge::RangeOfPlain(const Expr& e) {
  const bool shares = PartialRanges::IsFor(e);
  const Range* known = shares ? nullptr : range_memo_.Find(e, version_);
  if (known != nullptr) return *known;
  const Range r =
      Intersect(partial_ranges_.Of(e, version_, [&](const Expr& s) { return BoundOfSymbol(s); }),
                StoredBound(e));
  if (!shares) range_memo_.Store(e, version_, r.empty() ? Range{} : r);
  return r.empty() ? Range{} : r;
}

Range Knowledge::RangeOf(const Expr& root) {
  if (const std::optional<Range> r = RangeOfSmall(root, kDepthOfSmall)) return *r;
  const auto is_leaf = [](const Expr& e) { return e.operands().empty(); };
  const auto is_done = [&](const Expr& e) {
    return is_leaf(e) || range_memo_.Find(e, version_) != nullptr;
  };
  const auto known = [&](const Expr& e) {
    if (e.is_symbol()) return BoundOfSymbol(e);
    const Range* r = is_leaf(e) ? nullptr : range_memo_.Find(e, version_);
    return r != nullptr ? *r : IntrinsicRange(e);
  };
  VisitOperandsFirst(root, is_done, [&](const Expr& e) {
    range_memo_.Store(e, version_, RangeFromOperands(e, known));
  });
  return known(root);
}

void Knowledge::KeepBoundOfSymbol(const Expr& symbol, const Range& range) {
  const uint16_t index = symbol.node()->symbol_index;
  if (index == kNoSymbolIndex) return;
  if (index >= symbol_bounds_.size()) symbol_bounds_.resize(index + 1u);
  symbol_bounds_[index] = range.empty() ? Range{} : range;
}

// ---- divisibility

Residue Knowledge::ResidueOf(const Expr& monomial) const {
  const auto it = residues_.find(monomial);
  return it == residues_.end() ? Residue{} : it->second;
}

int64_t Knowledge::DivisorOf(const Expr& root) {
  const auto of = [&](const Expr& e) -> int64_t {
    if (const std::optional<int64_t> v = e.AsInt()) return Gcd(*v, 0);
    const int64_t* d = divisor_memo_.Find(e, version_);
    return d == nullptr ? 1 : *d;
  };
  const auto is_done = [&](const Expr& e) {
    return e.node() == nullptr || e.node()->context == nullptr ||
           divisor_memo_.Find(e, version_) != nullptr;
  };
  VisitOperandsFirst(root, is_done, [&](const Expr& e) {
    const absl::Span<const Expr> x = e.operands();
    int64_t d = 1;
    switch (e.kind()) {
      case ExprKind::kAdd:
      case ExprKind::kMin:
      case ExprKind::kMax:
      case ExprKind::kMod:
      case ExprKind::kAbs:
        d = 0;
        for (const Expr& o : x) d = Gcd(d, of(o));
        break;
      case ExprKind::kWhere:
        d = Gcd(of(x[1]), of(x[2]));
        break;
      case ExprKind::kMul:
        for (const Expr& o : x) d = CheckedMul(d, of(o)).value_or(d);
        break;
      case ExprKind::kPow:
        d = RangeOf(x[1]).lower >= 1 ? of(x[0]) : 1;
        break;
      case ExprKind::kFloorDiv: {
        const std::optional<int64_t> by = x[1].AsInt();
        const int64_t inner = of(x[0]);
        if (by && *by > 0 && inner % *by == 0) d = inner == 0 ? 0 : inner / *by;
        break;
      }
      default:
        break;
    }
    const Range r = RangeOf(e);
    if (r.lower == r.upper && r.lower != Range::kMin && r.lower != Range::kMax) d = Gcd(r.lower, 0);
    Expr linear = e;
    int64_t constant = 0;
    if (e.kind() == ExprKind::kAdd && !residues_.empty()) {
      const Polynomial p = ToPolynomial(e);
      constant = p.constant;
      linear = LinearPart(context_, p);
    }
    const Residue residue = ResidueOf(linear);
    if (residue.modulus > 1) {  // e = remainder + constant modulo the modulus
      const int64_t m = residue.modulus;
      const int64_t rest = ModBy(ModBy(constant, m) - (m - residue.remainder), m);
      const int64_t from_fact = Gcd(m, rest);
      const std::optional<int64_t> both =
          CheckedMul(d / std::max<int64_t>(Gcd(d, from_fact), 1), from_fact);
      d = both.value_or(d);
    }
    divisor_memo_.Store(e, version_, d);
  });
  return of(root);
}

bool Knowledge::IsNeverZeroByRemainder(const Polynomial& p, int64_t modulus) {
  for (const Term& t : p.terms) {
    const Residue r = ResidueOf(t.monomial);
    const std::optional<int64_t> step =
        CheckedMul(t.coefficient, r.modulus > 1 ? r.modulus : DivisorOf(t.monomial));
    if (!step) return false;
    modulus = Gcd(modulus, *step);
    if (modulus == 1) return false;
  }
  if (modulus == 0) return false;
  int64_t rest = ModBy(p.constant, modulus);
  for (const Term& t : p.terms) {
    const __int128 part = static_cast<__int128>(t.coefficient) * ResidueOf(t.monomial).remainder;
    rest = ModBy(static_cast<int64_t>((part + rest) % modulus), modulus);
  }
  return rest != 0;
}

bool Knowledge::MayBeNoInteger(const Expr& root) {
  if (!ContextAccess::HasOpenPowers(*context_)) return false;
  absl::flat_hash_set<Expr> seen;
  bool found = false;
  const auto is_done = [&](const Expr& e) {
    return found || e.operands().empty() || seen.contains(e);
  };
  VisitOperandsFirst(root, is_done, [&](const Expr& e) {
    seen.insert(e);
    found = found || (e.kind() == ExprKind::kPow && !e.operands()[1].is_const() &&
                      RangeOf(e.operands()[1]).lower < 0);
  });
  return found;
}

bool Knowledge::IsNonZero(const Expr& e) {
  if (!RangeOf(e).Contains(0)) return true;
  if (e.kind() == ExprKind::kMul || e.kind() == ExprKind::kPow) {
    bool all = true;
    for (const Power& p : FactorsOf(e)) all = all && !RangeOf(p.base).Contains(0);
    if (all) return true;
  }
  if (AsLearnt(Ne(e, 0)) == true) return true;
  if (e.kind() != ExprKind::kAdd) return false;
  const std::optional<Signs> signs = SignsOf(*this, ToPolynomial(e));
  return signs && !signs->zero;
}

}  // namespace lathe::symbolic
