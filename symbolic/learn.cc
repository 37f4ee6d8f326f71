// What Knowledge makes of a new fact: equal symbols, remainders, inequalities. Bounds: narrow.cc.

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "symbolic/evaluate.h"
#include "symbolic/expr_node.h"
#include "symbolic/knowledge.h"
#include "symbolic/monomial.h"
#include "symbolic/sampler.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/walk.h"

namespace lathe::symbolic {
namespace {

constexpr size_t kMostChosenFrom = 4;
constexpr size_t kMostNodesWithDivisors = 100;
constexpr size_t kMostFactsToCompose = 40;

// An operation that linear arithmetic takes as one unknown, and can say more of.
bool IsLikeDivision(const Expr& e) {
  switch (e.kind()) {
    case ExprKind::kFloorDiv:
    case ExprKind::kMod:
    case ExprKind::kMin:
    case ExprKind::kMax:
    case ExprKind::kAbs:
      return true;
    default:
      return false;
  }
}

Polynomial Constant(int64_t value) {
  Polynomial p;
  p.constant = value;
  return p;
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
  const bool compares = condition.kind() >= ExprKind::kEq && condition.kind() <= ExprKind::kLe;
  const bool of_integers = compares && condition.operands()[0].type() == ExprType::kInt &&
                           condition.operands()[1].type() == ExprType::kInt;
  Polynomial p;
  if (of_integers) p = Difference(condition.operands()[1], condition.operands()[0]);
  // Of an order the bounds say it.
  const bool is_order = of_integers && !p.overflow && condition.kind() >= ExprKind::kLt;
  if (!is_order) truths_.emplace(Not(condition), false);
  learnt_.push_back(condition);
  if (condition.kind() == ExprKind::kOr) disjunctions_.push_back(condition);
  if (condition.kind() == ExprKind::kNot && !LearnNegated(condition.operands()[0])) return false;
  for (const Expr& s : FreeSymbols(condition)) facts_with_[s].push_back(condition);
  Forget();
  if (!LearnDivisors(condition)) return false;
  if (!of_integers || p.overflow) return true;
  if (!LearnFactors(condition, p)) return false;
  switch (condition.kind()) {
    case ExprKind::kEq:
      return LearnZero(p) && LearnChosen(p) && LearnWithoutFactor(p, true) &&
             LearnMultiple(condition) && LearnRemainder(p) && LearnFactorIsZero(p);
    case ExprKind::kNe:
      return LearnNonZero(p);
    case ExprKind::kLt:
      return LearnNonNegative(AddScaled(p, Constant(1), -1)) && LearnWithoutFactor(p, false, 1) &&
             LearnSomeSide(AddScaled(p, Constant(1), -1));
    default:
      return LearnWithoutFactor(p, false) && LearnNonNegative(p) && LearnSomeSide(p);
  }
}

// Not (a or b) is neither; not (a and b) is one of the opposites.
bool Knowledge::LearnNegated(const Expr& condition) {
  if (condition.kind() == ExprKind::kOr) {
    for (const Expr& part : condition.operands()) {
      if (!Learn(Not(part))) return false;
    }
  }
  if (condition.kind() != ExprKind::kAnd || condition.operands().size() > kMostChosenFrom) {
    return true;
  }
  std::vector<Expr> sides;
  for (const Expr& part : condition.operands()) sides.push_back(Not(part));
  const Expr one = context_->Make(ExprKind::kOr, sides);
  return one.IsOverflow() || one.kind() != ExprKind::kOr || Learn(one);
}

// Of a product of two sums, what their signs may be.
bool Knowledge::LearnFactors(const Expr& condition, const Polynomial& p) {
  if (learnt_.size() > kMostFactsToCompose || p.terms.size() > 2 * kMostChosenFrom) return true;
  const bool has_square = std::any_of(p.terms.begin(), p.terms.end(), [](const Term& t) {
    return t.monomial.kind() == ExprKind::kPow && t.monomial.operands()[1] == 2;
  });
  const bool has_product = p.terms.size() == 3 && p.constant != 0;  // (x - c)*(y - d)
  if (!has_square && !has_product) return true;
  const std::optional<Expr> of_factors = ComparisonOfFactors(context_, condition);
  return !of_factors || Learn(*of_factors);
}

// What holds is defined: no divisor that it takes is 0.
bool Knowledge::LearnDivisors(const Expr& condition) {
  if (ComparesSmallPolynomials(condition)) return true;
  if (HasMoreNodesThan(kMostNodesWithDivisors, condition)) return true;
  absl::InlinedVector<Expr, 4> divisors;
  absl::flat_hash_set<Expr> seen;
  const auto is_done = [&](const Expr& e) {
    // What stands on one side only is not always computed.
    const bool chooses = e.kind() == ExprKind::kWhere || e.kind() == ExprKind::kAnd ||
                         e.kind() == ExprKind::kOr || e.type() == ExprType::kFloat;
    return chooses || e.operands().empty() || seen.contains(e);
  };
  VisitOperandsFirst(condition, is_done, [&](const Expr& e) {
    seen.insert(e);
    const bool divides = e.kind() == ExprKind::kFloorDiv || e.kind() == ExprKind::kMod ||
                         e.kind() == ExprKind::kTruncDiv || e.kind() == ExprKind::kTruncMod;
    if (divides && !e.operands()[1].is_const()) divisors.push_back(e.operands()[1]);
  });
  return std::all_of(divisors.begin(), divisors.end(), [&](const Expr& d) {
    const Expr nonzero = Ne(d, 0);
    return nonzero.IsOverflow() || Learn(nonzero);
  });
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

// x*y = x*z makes y = z where x != 0 is known, and x*y <= x*z makes y <= z where x > 0 is; with
// `least` 1: x*y < x*z makes y < z.
bool Knowledge::LearnWithoutFactor(const Polynomial& p, bool is_zero, int64_t least) {
  if (p.constant != 0 || p.terms.size() < 2 || p.terms.size() > kMostChosenFrom) return true;
  std::vector<Power> common = PowersCommonToTerms(p);
  common.erase(std::remove_if(common.begin(), common.end(),
                              [&](const Power& f) {
                                return is_zero ? !IsNonZero(f.base) : RangeOf(f.base).lower < 1;
                              }),
               common.end());
  if (common.empty()) return true;
  const Expr factor = ProductOf(context_, common);
  Polynomial divided;
  divided.constant = -least;
  for (const Term& t : p.terms) {
    const std::optional<Expr> q = DivideMonomial(context_, t.monomial, factor);
    if (!q || q->IsOverflow()) return true;
    divided = AddScaled(divided, ToPolynomial(*q), t.coefficient);
  }
  if (divided.overflow) return true;
  return is_zero ? LearnZero(divided) : LearnNonNegative(std::move(divided));
}

// x % (y*z) = 0 makes x % y = 0.
bool Knowledge::LearnMultiple(const Expr& condition) {
  const Expr& rest = condition.operands()[0];
  if (condition.operands()[1] != 0 || rest.kind() != ExprKind::kMod) return true;
  const absl::Span<const Expr> x = rest.operands();
  if (x[1].kind() != ExprKind::kMul || x[1].operands().size() > kMostChosenFrom) return true;
  for (const Expr& factor : x[1].operands()) {
    const Expr one = Eq(Mod(x[0], factor), 0);
    if (!one.IsOverflow() && !Learn(one)) return false;
  }
  return true;
}

// x % y = r for a positive y: x is r, or x >= y + r; and multiples of multiples are multiples.
bool Knowledge::LearnRemainder(const Polynomial& p) {
  if (p.terms.size() != 1 || p.terms[0].monomial.kind() != ExprKind::kMod) return true;
  const int64_t c = p.terms[0].coefficient;
  if ((c != 1 && c != -1) || p.constant == INT64_MIN) return true;
  const int64_t r = c == 1 ? -p.constant : p.constant;
  const absl::Span<const Expr> x = p.terms[0].monomial.operands();
  if (!x[1].is_const() && r >= 0 && RangeOf(x[1]).lower >= 1 && RangeOf(x[0]).lower > r) {
    const Expr larger = Le(x[1] + r, x[0]);
    if (!larger.IsOverflow() && !Learn(larger)) return false;
  }
  if (r != 0 || learnt_.size() > kMostFactsToCompose) return true;
  std::vector<Expr> composed;
  for (const Expr& fact : learnt_) {
    if (fact.kind() != ExprKind::kEq || fact.operands()[1] != 0) continue;
    const Expr& other = fact.operands()[0];
    if (other.kind() != ExprKind::kMod) continue;
    const absl::Span<const Expr> y = other.operands();
    if (y[0] == x[1]) composed.push_back(Eq(Mod(x[0], y[1]), 0));
    if (y[1] == x[0]) composed.push_back(Eq(Mod(y[0], x[1]), 0));
  }
  return std::all_of(composed.begin(), composed.end(),
                     [&](const Expr& e) { return e.IsOverflow() || Learn(e); });
}

// x*y = 0: one of them is.
bool Knowledge::LearnFactorIsZero(const Polynomial& p) {
  if (p.terms.size() != 1 || p.constant != 0) return true;
  const std::vector<Power> factors = FactorsOf(p.terms[0].monomial);
  if (factors.size() < 2 || factors.size() > kMostChosenFrom) return true;
  std::vector<Expr> sides;
  for (const Power& f : factors) {
    if (f.exponent > 0) sides.push_back(Eq(f.base, 0));
  }
  const Expr condition = context_->Make(ExprKind::kOr, sides);
  return condition.IsOverflow() || Learn(condition);
}

// where(c, x, y) = v: x is v and c holds, or y is v and c does not.
bool Knowledge::LearnBranch(const Expr& choice, const Expr& value) {
  const absl::Span<const Expr> x = choice.operands();
  const Expr condition = Or(And(x[0], Eq(x[1], value)), And(Not(x[0]), Eq(x[2], value)));
  return condition.IsOverflow() || Learn(condition);
}

// abs(x) = y: x is y or -y.
bool Knowledge::LearnMagnitude(const Polynomial& p) {
  if (p.terms.size() > kMostChosenFrom) return true;
  for (const Term& t : p.terms) {
    if (t.monomial.kind() != ExprKind::kAbs || t.monomial.type() != ExprType::kInt) continue;
    if (t.coefficient != 1 && t.coefficient != -1) continue;
    Polynomial magnitude;
    magnitude.terms.push_back({t.monomial, 1});
    const Polynomial rest = Scaled(AddScaled(p, magnitude, -t.coefficient), -t.coefficient);
    if (rest.overflow) return true;
    // Of two magnitudes the signs within are what is left open.
    const bool two = rest.terms.size() == 1 && rest.constant == 0 &&
                     rest.terms[0].monomial.kind() == ExprKind::kAbs;
    Expr other = FromPolynomial(context_, rest);
    if (two) other = rest.terms[0].monomial.operands()[0] * rest.terms[0].coefficient;
    const Expr& inner = t.monomial.operands()[0];
    const Expr condition = Or(Eq(inner, other), Eq(inner, -other));
    if (!condition.IsOverflow() && !Learn(condition)) return false;
    const Expr least = Le(0, FromPolynomial(context_, rest));
    if (!least.IsOverflow() && !Learn(least)) return false;
  }
  return true;
}

// max(x, y) >= z: one of them is; so for minima that are at most z, and for magnitudes.
bool Knowledge::LearnSomeSide(const Polynomial& p) {
  if (p.overflow || learnt_.size() > kMostFactsToCompose || p.terms.size() > kMostChosenFrom) {
    return true;
  }
  for (const Term& t : p.terms) {
    const Expr& m = t.monomial;
    const int64_t sign = m.kind() == ExprKind::kMin ? -1 : 1;
    const bool chooses = m.kind() == ExprKind::kMin || m.kind() == ExprKind::kMax;
    if (!(chooses || m.kind() == ExprKind::kAbs) || m.type() != ExprType::kInt ||
        t.coefficient != sign || m.operands().size() > kMostChosenFrom) {
      continue;
    }
    Polynomial choice;
    choice.terms.push_back({m, 1});
    const Expr rest = FromPolynomial(context_, AddScaled(p, choice, -sign));
    std::vector<Expr> sides;
    for (const Expr& o : m.operands()) sides.push_back(Le(0, o * sign + rest));
    if (m.kind() == ExprKind::kAbs) sides.push_back(Le(0, rest - m.operands()[0]));
    const Expr one = context_->Make(ExprKind::kOr, sides);
    if (!one.IsOverflow() && !Learn(one)) return false;
  }
  return true;
}

// max(x, y) = z: one of them is. So for minima.
bool Knowledge::LearnChosenIs(const Polynomial& p) {
  if (p.terms.size() < 2 || p.terms.size() > kMostChosenFrom) return true;
  for (const Term& t : p.terms) {
    const Expr& m = t.monomial;
    const bool chooses = m.kind() == ExprKind::kMin || m.kind() == ExprKind::kMax;
    if (!chooses || m.type() != ExprType::kInt || m.operands().size() > kMostChosenFrom ||
        (t.coefficient != 1 && t.coefficient != -1)) {
      continue;
    }
    Polynomial choice;
    choice.terms.push_back({m, 1});
    const Expr value =
        FromPolynomial(context_, Scaled(AddScaled(p, choice, -t.coefficient), -t.coefficient));
    std::vector<Expr> sides;
    for (const Expr& o : m.operands()) sides.push_back(Eq(o, value));
    const Expr one = context_->Make(ExprKind::kOr, sides);
    return one.IsOverflow() || Learn(one);
  }
  return true;
}

// min(x, y) = c: one of them is c. So for maxima.
bool Knowledge::LearnChosen(const Polynomial& p) {
  if (!LearnMagnitude(p) || !LearnChosenIs(p)) return false;
  if (p.terms.size() != 1 || (p.terms[0].coefficient != 1 && p.terms[0].coefficient != -1)) {
    return true;
  }
  const Expr& choice = p.terms[0].monomial;
  if (choice.kind() == ExprKind::kWhere && choice.type() == ExprType::kInt) {
    const Expr wanted = Expr(p.constant) * -p.terms[0].coefficient;
    return wanted.IsOverflow() || LearnBranch(choice, wanted);
  }
  const bool chooses = choice.kind() == ExprKind::kMin || choice.kind() == ExprKind::kMax;
  if (!chooses || choice.type() != ExprType::kInt || choice.operands().size() > kMostChosenFrom) {
    return true;
  }
  const Expr value = Expr(p.constant) * -p.terms[0].coefficient;
  if (value.IsOverflow()) return true;
  std::vector<Expr> sides;
  for (const Expr& o : choice.operands()) {
    const Expr side = Eq(o, value);
    if (side.AsBool() == true) return true;
    if (RangeOf(o).Contains(*value.AsInt()) && side.AsBool() != false) sides.push_back(side);
  }
  if (sides.empty()) return false;
  return Learn(sides.size() == 1 ? sides[0] : context_->Make(ExprKind::kOr, sides));
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
  const int64_t g = CoefficientGcd(p);
  if (g == INT64_MIN || p.constant == INT64_MIN || p.constant % g != 0) return true;
  // The sum without its constant, over g, is not this.
  const int64_t excluded = -(p.constant / g);
  for (Term& t : p.terms) t.coefficient /= g;
  p.constant = 0;
  const Expr key = FromPolynomial(context_, p);
  if (key.kind() == ExprKind::kMul && key.operands()[0].is_const()) return true;
  excluded_[key].push_back(excluded);
  Range r = RangeOf(p);
  if (r.lower != excluded && r.upper != excluded) return true;
  has_sum_bounds_ |= p.terms.size() > 1;
  return Narrow(key, r);  // leaves what is excluded out
}

// The inequality to come, for questions about symbols that stand inside its monomials.
void Knowledge::NoteInside(const Polynomial& p) {
  if (learnt_.size() > kMostFactsToCompose) return;
  std::vector<Expr> inside;
  for (const Term& t : p.terms) {
    if (IsLikeDivision(t.monomial)) CollectFreeSymbols(t.monomial, inside);
  }
  for (const Expr& s : inside) inside_[s].push_back(static_cast<int>(inequalities_.size()));
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
    NoteInside(p);
    inequalities_.push_back(p);
  }
  if (!BoundOfLinearPart(p)) return false;
  if (p.terms.size() > 1 && !PropagateFrom(p)) return false;
  return Propagate();
}

}  // namespace lathe::symbolic
