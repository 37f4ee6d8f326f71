// What Knowledge makes of a new fact: bounds, remainders, inequalities, and what follows from each.

#include <algorithm>
#include <utility>

#include "symbolic/evaluate.h"
#include "symbolic/expr_node.h"
#include "symbolic/knowledge.h"
#include "symbolic/monomial.h"
#include "symbolic/simplify/checked.h"

namespace lathe::symbolic {
namespace {

// What one new bound may set in motion.
constexpr int kMostPropagations = 64;
constexpr size_t kMostInequalitiesPerTerm = 16;
constexpr int kDeepestNarrowing = 16;

bool IsInfiniteLower(int64_t v) { return v == Range::kMin; }
bool IsInfiniteUpper(int64_t v) { return v == Range::kMax; }

Polynomial Constant(int64_t value) {
  Polynomial p;
  p.constant = value;
  return p;
}

// ceil(a / d) and floor(a / d) for d > 0, on bounds that stand for infinities.
int64_t CeilBound(int64_t a, int64_t d) {
  if (a == Range::kMin || a == Range::kMax) return a;
  return -FloorBy(-a, d);
}
int64_t FloorBound(int64_t a, int64_t d) {
  if (a == Range::kMin || a == Range::kMax) return a;
  return FloorBy(a, d);
}

}  // namespace

bool Knowledge::LimitSymbol(const Expr& symbol, const Range& range) {
  return Narrow(symbol, range);
}

void Knowledge::Replace(const Expr& symbol, const Expr& value) {
  const absl::flat_hash_map<Expr, Expr> one = {{symbol, value}};
  const std::vector<Expr> users = std::move(mentioned_by_[symbol]);
  mentioned_by_.erase(symbol);
  replacements_[symbol] = value;
  for (const Expr& s : FreeSymbols(value)) {
    std::vector<Expr>& by = mentioned_by_[s];
    by.push_back(symbol);
    by.insert(by.end(), users.begin(), users.end());
  }
  for (const Expr& user : users) {
    Expr& other = replacements_[user];
    other = Substitute(other, one, *context_);
  }
  Forget();
}

std::optional<std::pair<Expr, Expr>> Knowledge::Solve(const Expr& condition) const {
  if (condition.kind() != ExprKind::kEq) return std::nullopt;
  const Expr& a = condition.operands()[0];
  const Expr& b = condition.operands()[1];
  if (a.type() != ExprType::kInt || b.type() != ExprType::kInt) return std::nullopt;
  const Polynomial p = AddScaled(ToPolynomial(a), ToPolynomial(b), -1);
  if (p.overflow || p.terms.size() > kLargestFlattened) return std::nullopt;
  std::vector<Expr> nested;  // symbols inside other monomials
  for (const Term& t : p.terms) {
    if (!t.monomial.is_symbol()) CollectFreeSymbols(t.monomial, nested);
  }
  const Term* best = nullptr;
  for (const Term& t : p.terms) {
    if (!t.monomial.is_symbol() || (t.coefficient != 1 && t.coefficient != -1)) continue;
    if (std::find(nested.begin(), nested.end(), t.monomial) != nested.end()) continue;
    // Unbacked symbols go first, index symbols last, then the later name.
    const auto rank = [](const Expr& e) {
      return e.symbol_kind() == SymbolKind::kUnbacked ? 2 : e.symbol_kind() == SymbolKind::kBacked;
    };
    if (best == nullptr || rank(t.monomial) > rank(best->monomial) ||
        (rank(t.monomial) == rank(best->monomial) && Compare(best->monomial, t.monomial) < 0)) {
      best = &t;
    }
  }
  if (best == nullptr) return std::nullopt;
  Polynomial rest = p;
  rest.terms.erase(std::find(rest.terms.begin(), rest.terms.end(), *best));
  return std::pair(best->monomial, FromPolynomial(context_, Scaled(rest, -best->coefficient)));
}

bool Knowledge::Learn(const Expr& condition) {
  if (const std::optional<bool> known = condition.AsBool()) return *known;
  if (condition.type() != ExprType::kBool) return true;
  if (condition.kind() == ExprKind::kAnd) {
    for (const Expr& part : condition.operands()) {
      if (!Learn(part)) return false;
    }
    return true;
  }
  const auto [known, is_new] = truths_.emplace(condition, true);
  if (!is_new) return known->second;
  truths_.emplace(Not(condition), false);
  learnt_.push_back(condition);
  if (condition.kind() == ExprKind::kOr) disjunctions_.push_back(condition);
  if (condition.kind() == ExprKind::kNot && condition.operands()[0].kind() == ExprKind::kOr) {
    for (const Expr& part : condition.operands()[0].operands()) {
      if (!Learn(Not(part))) return false;
    }
  }
  for (const Expr& s : FreeSymbols(condition)) facts_with_[s].push_back(condition);
  Forget();
  const bool compares = condition.kind() >= ExprKind::kEq && condition.kind() <= ExprKind::kLe;
  if (!compares) return true;
  const Expr& a = condition.operands()[0];
  const Expr& b = condition.operands()[1];
  if (a.type() != ExprType::kInt || b.type() != ExprType::kInt) return true;
  Polynomial p = Difference(b, a);
  if (p.overflow) return true;
  switch (condition.kind()) {
    case ExprKind::kEq:
      return LearnZero(p);
    case ExprKind::kNe:
      return LearnNonZero(p);
    case ExprKind::kLt:
      return LearnNonNegative(AddScaled(p, Constant(1), -1));
    default:
      return LearnNonNegative(std::move(p));
  }
}

bool Knowledge::LearnZero(const Polynomial& p) {
  const Polynomial negated = Scaled(p, -1);
  if (negated.overflow) return true;
  // x % d == c
  if (p.terms.size() == 1 && p.terms[0].monomial.kind() == ExprKind::kMod) {
    const absl::Span<const Expr> x = p.terms[0].monomial.operands();
    const int64_t c = p.terms[0].coefficient;
    const std::optional<int64_t> d = x[1].AsInt();
    if (d && *d > 0 && (c == 1 || c == -1)) {
      const int64_t remainder = c == 1 ? negated.constant : p.constant;
      if (remainder < 0 || remainder >= *d) return false;
      const Polynomial multiple = AddScaled(ToPolynomial(x[0]), Constant(remainder), -1);
      if (!LearnResidue(multiple, *d)) return false;
    }
  }
  // An equation gives divisibility: a*x + d*(...) = 0 with gcd(a, d) = 1 means d | x.
  if (p.terms.size() > 1) {
    for (const Term& t : p.terms) {
      Polynomial rest = p;
      rest.terms.erase(std::find(rest.terms.begin(), rest.terms.end(), t));
      const int64_t g = Gcd(CoefficientGcd(rest), rest.constant);
      const int64_t common = Gcd(g, t.coefficient);
      if (g > 1 && common >= 1 && g / common > 1) {
        Polynomial one;
        one.terms.push_back({t.monomial, 1});
        if (!LearnResidue(one, g / common)) return false;
      }
    }
  }
  return LearnNonNegative(p) && LearnNonNegative(negated);
}

// p = 0 modulo `modulus`
bool Knowledge::LearnResidue(const Polynomial& p, int64_t modulus) {
  if (p.overflow || p.terms.empty() || modulus <= 1) return true;
  Polynomial linear = {p.terms, 0, false};
  int64_t remainder = ModBy(p.constant, modulus);  // linear = -constant
  if (linear.terms[0].coefficient < 0) {
    linear = Scaled(linear, -1);
    if (linear.overflow) return true;
  } else {
    remainder = remainder == 0 ? 0 : modulus - remainder;
  }
  const Expr key = FromPolynomial(context_, linear);
  if (key.kind() == ExprKind::kMul && key.operands()[0].is_const()) return true;
  Residue& known = residues_[key];
  if (modulus % known.modulus == 0) {
    if (remainder % known.modulus != known.remainder) return false;
    known = {modulus, remainder};
  } else if (known.modulus % modulus == 0) {
    if (known.remainder % modulus != remainder) return false;
  } else if (known.remainder == 0 && remainder == 0) {
    const std::optional<int64_t> lcm =
        CheckedMul(known.modulus / Gcd(known.modulus, modulus), modulus);
    if (lcm) known = {*lcm, 0};
  }
  Forget();
  // The bounds move to the nearest value of that class.
  const auto it = bounds_.find(key);
  return it == bounds_.end() || Narrow(key, it->second);
}

bool Knowledge::LearnNonZero(const Polynomial& learnt) {
  if (learnt.terms.empty()) return learnt.constant != 0;
  Polynomial p = learnt.terms[0].coefficient < 0 ? Scaled(learnt, -1) : learnt;
  if (p.overflow) p = learnt;
  bool changed = false;
  if (p.terms.size() != 1) return true;
  const int64_t c = p.terms[0].coefficient;
  if (c == INT64_MIN || p.constant == INT64_MIN || p.constant % c != 0) return true;
  const int64_t excluded = -(p.constant / c);
  excluded_[p.terms[0].monomial].push_back(excluded);
  Range r = RangeOf(p.terms[0].monomial);
  if (r.lower == excluded && r.lower != Range::kMin) ++r.lower, changed = true;
  if (r.upper == excluded && r.upper != Range::kMax) --r.upper, changed = true;
  return !changed || Narrow(p.terms[0].monomial, r);
}

bool Knowledge::LearnNonNegative(Polynomial p) {
  if (p.overflow) return true;
  if (p.terms.empty()) return p.constant >= 0;
  const int64_t g = CoefficientGcd(p);
  if (g > 1) {
    for (Term& t : p.terms) t.coefficient /= g;
    p.constant = FloorBy(p.constant, g);
  }
  if (p.terms.size() > 1) {
    for (const Term& t : p.terms) {
      inequalities_with_[t.monomial].push_back(static_cast<int>(inequalities_.size()));
    }
    inequalities_.push_back(p);
  }
  if (!BoundOfLinearPart(p)) return false;
  if (p.terms.size() > 1 && !PropagateFrom(p)) return false;
  return Propagate();
}

// linear + constant >= 0 bounds the linear part.
bool Knowledge::BoundOfLinearPart(const Polynomial& p) {
  Polynomial linear = {p.terms, 0, false};
  Range r;
  if (linear.terms[0].coefficient > 0) {
    if (p.constant == INT64_MIN) return true;
    r.lower = -p.constant;
  } else {
    linear = Scaled(linear, -1);
    if (linear.overflow) return true;
    r.upper = p.constant;
  }
  has_sum_bounds_ |= p.terms.size() > 1;
  return Narrow(FromPolynomial(context_, linear), r);
}

bool Knowledge::Narrow(const Expr& e, const Range& range) {
  Range& stored = bounds_.try_emplace(e).first->second;
  Range r = Intersect(stored, range);
  if (e.node() != nullptr) r = Intersect(r, IntrinsicRange(e));
  const Residue residue = ResidueOf(e);
  if (residue.modulus > 1 && !r.empty()) {
    if (!IsInfiniteLower(r.lower)) {
      const int64_t up =
          ModBy(residue.remainder - ModBy(r.lower, residue.modulus), residue.modulus);
      r.lower = CheckedAdd(r.lower, up).value_or(r.lower);
    }
    if (!IsInfiniteUpper(r.upper)) {
      const int64_t down =
          ModBy(ModBy(r.upper, residue.modulus) - residue.remainder, residue.modulus);
      r.upper = CheckedAdd(r.upper, -down).value_or(r.upper);
    }
  }
  const auto excluded = excluded_.find(e);
  if (excluded != excluded_.end()) {  // a bound that is excluded moves by one
    for (const int64_t v : excluded->second) {
      if (r.lower == v && !IsInfiniteLower(r.lower) && r.lower < r.upper) ++r.lower;
      if (r.upper == v && !IsInfiniteUpper(r.upper) && r.lower < r.upper) --r.upper;
    }
  }
  if (r == stored) return true;
  stored = r;
  if (e.is_symbol()) KeepBoundOfSymbol(e, r);
  Forget();
  if (r.empty()) return false;
  if (inequalities_with_.contains(e)) narrowed_.push_back(e);
  return NarrowParts(e, r);
}

// What a bound of e says of its parts.
bool Knowledge::NarrowParts(const Expr& e, const Range& range) {
  if (narrow_depth_ >= kDeepestNarrowing) return true;
  ++narrow_depth_;
  bool ok = true;
  const absl::Span<const Expr> x = e.operands();
  if (e.kind() == ExprKind::kFloorDiv && x[1].is_const() && *x[1].AsInt() > 0) {
    const int64_t d = *x[1].AsInt();
    const Polynomial top = ToPolynomial(x[0]);
    const std::optional<int64_t> least = CheckedMul(range.lower, d);
    if (!IsInfiniteLower(range.lower) && least) {  // top >= lower * d
      ok = ok && LearnNonNegative(AddScaled(top, Constant(*least), -1));
    }
    const std::optional<int64_t> most = CheckedMul(range.upper, d);
    if (ok && !IsInfiniteUpper(range.upper) && most) {  // top <= upper * d + d - 1
      ok = LearnNonNegative(AddScaled(AddScaled(Constant(*most), Constant(d - 1), 1), top, -1));
    }
  } else if (e.kind() == ExprKind::kAbs && !IsInfiniteUpper(range.upper)) {
    const Polynomial inner = ToPolynomial(x[0]);
    ok = LearnNonNegative(AddScaled(Constant(range.upper), inner, -1)) &&
         LearnNonNegative(AddScaled(inner, Constant(range.upper), 1));
  } else if (e.kind() == ExprKind::kMin && !IsInfiniteLower(range.lower)) {
    for (const Expr& o : x) {
      ok = ok && LearnNonNegative(AddScaled(ToPolynomial(o), Constant(range.lower), -1));
    }
  } else if (e.kind() == ExprKind::kMax && !IsInfiniteUpper(range.upper)) {
    for (const Expr& o : x) {
      ok = ok && LearnNonNegative(AddScaled(Constant(range.upper), ToPolynomial(o), -1));
    }
  } else if (e.kind() == ExprKind::kMul && !IsInfiniteUpper(range.upper)) {
    // Of positive factors none exceeds the product.
    const bool positive =
        std::all_of(x.begin(), x.end(), [&](const Expr& o) { return RangeOf(o).lower >= 1; });
    for (const Expr& o : x) {
      if (!positive || !ok) break;
      Range others = {1, 1};
      for (const Expr& other : x) {
        if (other != o) others = others * RangeOf(other);
      }
      ok = Narrow(o, {Range::kMin, FloorBound(range.upper, std::max<int64_t>(others.lower, 1))});
    }
  }
  --narrow_depth_;
  return ok;
}

// Each term is bounded by what the others leave.
bool Knowledge::PropagateFrom(const Polynomial& p) {
  if (p.terms.size() > 16) return true;
  for (size_t i = 0; i < p.terms.size(); ++i) {
    Range others = {p.constant, p.constant};
    for (size_t j = 0; j < p.terms.size(); ++j) {
      const int64_t c = p.terms[j].coefficient;
      if (j != i) others = others + RangeOf(p.terms[j].monomial) * Range{c, c};
    }
    if (IsInfiniteUpper(others.upper) || others.upper == Range::kMin) continue;
    const int64_t c = p.terms[i].coefficient;  // c * m >= -others.upper
    if (c == INT64_MIN) continue;
    const Range bound = c > 0 ? Range{CeilBound(-others.upper, c), Range::kMax}
                              : Range{Range::kMin, FloorBound(others.upper, -c)};
    const Expr& m = p.terms[i].monomial;
    const Range before = RangeOf(m);
    if (Intersect(before, bound) == before) continue;
    if (!Narrow(m, Intersect(before, bound))) return false;
  }
  return true;
}

bool Knowledge::Propagate() {
  if (propagating_) return true;  // the outer loop sees what was narrowed
  propagating_ = true;
  bool ok = true;
  int budget = kMostPropagations;
  while (ok && !narrowed_.empty() && budget > 0) {
    const Expr m = narrowed_.back();
    narrowed_.pop_back();
    const std::vector<int> with = inequalities_with_[m];  // may grow below
    const size_t n = std::min(with.size(), kMostInequalitiesPerTerm);
    for (size_t i = 0; i < n && ok && budget > 0; ++i, --budget) {
      const Polynomial p = inequalities_[static_cast<size_t>(with[with.size() - 1 - i])];
      ok = PropagateFrom(p);
    }
  }
  narrowed_.clear();
  propagating_ = false;
  return ok;
}

}  // namespace lathe::symbolic
