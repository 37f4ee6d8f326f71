// Rules of Knowledge::Simplify: those that need a range, a divisor or a fact.

#include <algorithm>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "symbolic/expr_node.h"
#include "symbolic/knowledge.h"
#include "symbolic/monomial.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/divide_common.h"
#include "symbolic/walk.h"

namespace lathe::symbolic {
namespace {

constexpr int kRefinements = 4;  // of one node
constexpr int kPasses = 3;       // over an expression
constexpr size_t kMostCompared = 6;

std::optional<int64_t> OnlyValue(const Range& r) {
  if (r.lower != r.upper || r.lower == Range::kMin || r.lower == Range::kMax) return std::nullopt;
  return r.lower;
}

Polynomial Constant(int64_t value) {
  Polynomial p;
  p.constant = value;
  return p;
}

}  // namespace

class Refiner {
 public:
  explicit Refiner(Knowledge& knowledge) : k_(knowledge), context_(knowledge.context()) {}

  Expr Refine(const Expr& e) {
    if (e.type() == ExprType::kFloat) return e;
    if (const std::optional<int64_t> v = OnlyValue(k_.RangeOf(e))) {
      return e.type() == ExprType::kBool ? Expr::Bool(*v != 0) : Expr(*v);
    }
    const absl::Span<const Expr> x = e.operands();
    switch (e.kind()) {
      case ExprKind::kAdd:
        return RefineSum(e);
      case ExprKind::kMul:
        return RefineTerm(ToTerm(e)).value_or(e);
      case ExprKind::kFloorDiv:
        return x[1].is_const() ? DivideByConstant(e, *x[1].AsInt()) : Divide(e, x[0], x[1]);
      case ExprKind::kMod:
        return x[1].is_const() ? ModByConstant(e, *x[1].AsInt()) : Remainder(e, x[0], x[1]);
      case ExprKind::kTruncDiv:
        return NonNegative(x[0]) && NonNegative(x[1]) ? FloorDiv(x[0], x[1]) : e;
      case ExprKind::kTruncMod:
        return NonNegative(x[0]) && NonNegative(x[1]) ? Mod(x[0], x[1]) : e;
      case ExprKind::kAbs:
        if (NonNegative(x[0])) return x[0];
        return k_.RangeOf(x[0]).upper <= 0 ? -x[0] : e;
      case ExprKind::kMin:
      case ExprKind::kMax:
        return RefineMinMax(e);
      case ExprKind::kEq:
      case ExprKind::kNe:
      case ExprKind::kLt:
      case ExprKind::kLe:
        return RefineComparison(e);
      case ExprKind::kWhere:
        if (const std::optional<bool> truth = k_.AsLearnt(x[0])) return *truth ? x[1] : x[2];
        return e;
      default:
        if (const std::optional<bool> truth = k_.AsLearnt(e)) return Expr::Bool(*truth);
        return e;
    }
  }

 private:
  bool NonNegative(const Expr& e) { return k_.RangeOf(e).lower >= 0; }

  // A term whose product is known, or whose quotient is exact: 4*(s0//4) = s0.
  std::optional<Expr> RefineTerm(const Term& t) {
    if (t.monomial.kind() == ExprKind::kMul) {
      if (const auto v = OnlyValue(k_.RangeOf(t.monomial))) return Expr(*v) * t.coefficient;
    } else if (t.monomial.kind() != ExprKind::kFloorDiv) {
      return std::nullopt;
    }
    if (!HasQuotientAsFactor(t.monomial)) return std::nullopt;
    const std::vector<Power> factors = FactorsOf(t.monomial);
    for (const Power& f : factors) {
      if (f.exponent != 1 || f.base.kind() != ExprKind::kFloorDiv) continue;
      const Expr& x = f.base.operands()[0];
      const Expr& y = f.base.operands()[1];
      const std::optional<Expr> others = DivideMonomial(context_, t.monomial, f.base);
      if (!others) continue;
      if (const std::optional<int64_t> d = y.AsInt()) {
        if (*d <= 0 || t.coefficient % *d != 0 || k_.DivisorOf(x) % *d != 0) continue;
        return x * *others * (t.coefficient / *d);
      }
      const Polynomial divisor = ToPolynomial(y);
      if (divisor.terms.size() != 1 || divisor.constant != 0) continue;
      if (t.coefficient % divisor.terms[0].coefficient != 0) continue;
      const std::optional<Expr> rest = DivideMonomial(context_, *others, divisor.terms[0].monomial);
      if (!rest || k_.RangeOf(Mod(x, y)) != Range{0, 0}) continue;
      return x * *rest * (t.coefficient / divisor.terms[0].coefficient);
    }
    return std::nullopt;
  }

  static bool HasQuotientAsFactor(const Expr& monomial) {
    if (monomial.kind() == ExprKind::kFloorDiv) return true;
    const absl::Span<const Expr> x = monomial.operands();
    return std::any_of(x.begin(), x.end(),
                       [](const Expr& f) { return f.kind() == ExprKind::kFloorDiv; });
  }

  Expr RefineSum(const Expr& e) {
    for (const Expr& operand : e.operands()) {
      if (operand.is_const() || operand.is_symbol()) continue;
      const Term t = ToTerm(operand);
      const std::optional<Expr> refined = RefineTerm(t);
      if (!refined) continue;
      Polynomial rest = ToPolynomial(e);
      rest.terms.erase(std::find(rest.terms.begin(), rest.terms.end(), t));
      return FromPolynomial(context_, AddScaled(rest, ToPolynomial(*refined), 1));
    }
    return e;
  }

  bool IsMultiple(const Term& t, int64_t d) {
    if (t.coefficient % d == 0) return true;
    return static_cast<__int128>(t.coefficient) * k_.DivisorOf(t.monomial) % d == 0;
  }

  // Terms that `d` divides go to `multiple`.
  void SplitMultiples(const Polynomial& p, int64_t d, Polynomial& multiple, Polynomial& rest) {
    for (const Term& t : p.terms) (IsMultiple(t, d) ? multiple : rest).terms.push_back(t);
    rest.constant = p.constant;
  }

  // p = g*a + r where 0 <= r - g*shift < g for a g that divides d: what is below g does not
  // matter to the digits above.
  struct Digits {
    Polynomial high, low;  // high includes the shift, low is r - g*shift
    int64_t g = 1;
  };
  std::optional<Digits> SplitDigits(const Polynomial& p, int64_t d) {
    absl::InlinedVector<int64_t, 4> tried;
    for (const Term& t : p.terms) {
      const int64_t g = Gcd(t.coefficient, d);
      if (g == 1 || g == d || std::find(tried.begin(), tried.end(), g) != tried.end()) continue;
      tried.push_back(g);
      Digits s;
      s.g = g;
      for (const Term& u : p.terms) {
        if (u.coefficient % g == 0) {
          s.high.terms.push_back({u.monomial, u.coefficient / g});
        } else {
          s.low.terms.push_back(u);
        }
      }
      s.low.constant = p.constant;
      if (s.low.terms.empty()) continue;  // the simplifier has done that
      const std::optional<int64_t> shift = ConstantQuotient(k_.RangeOf(s.low), g);
      if (!shift) continue;
      s.high.constant = *shift;
      s.low = AddScaled(s.low, Constant(*shift), -g);
      if (!s.low.overflow) return s;
    }
    return std::nullopt;
  }

  Expr DivideByConstant(const Expr& e, int64_t d) {
    if (d <= 1) return e;
    const Polynomial p = ToPolynomial(e.operands()[0]);
    Polynomial multiple, rest;
    SplitMultiples(p, d, multiple, rest);
    if (!multiple.terms.empty() && (!rest.terms.empty() || rest.constant != 0)) {
      return FloorDiv(FromPolynomial(context_, multiple), d) +
             FloorDiv(FromPolynomial(context_, rest), d);
    }
    if (const auto q = ConstantQuotient(k_.RangeOf(p), d)) return *q;
    if (const std::optional<Digits> s = SplitDigits(p, d)) {
      return FloorDiv(FromPolynomial(context_, s->high), d / s->g);
    }
    return e;
  }

  // Terms whose remainder is known become numbers.
  bool UseResidues(Polynomial& p, int64_t d) {
    for (size_t i = 0; i < p.terms.size(); ++i) {
      const Term t = p.terms[i];
      const Residue r = k_.ResidueOf(t.monomial);
      const bool applies =
          r.modulus > 1 && static_cast<__int128>(t.coefficient) * r.modulus % d == 0;
      if (!applies && !IsMultiple(t, d)) continue;
      const std::optional<int64_t> value =
          applies ? CheckedMul(t.coefficient % d, r.remainder % d) : 0;
      if (!value) continue;
      p.terms.erase(p.terms.begin() + static_cast<int64_t>(i));
      p = AddScaled(p, Constant(ModBy(*value, d)), 1);
      return true;
    }
    // The sum as a whole.
    if (p.terms.size() < 2 || k_.residues_.empty()) return false;
    const Residue r = k_.ResidueOf(LinearPart(context_, p));
    if (r.modulus % d != 0) return false;
    p = AddScaled(Constant(p.constant), Constant(r.remainder % d), 1);
    return true;
  }

  Expr ModByConstant(const Expr& e, int64_t d) {
    if (d <= 1) return e;
    Polynomial p = ToPolynomial(e.operands()[0]);
    bool changed = false;
    while (!p.overflow && UseResidues(p, d)) changed = true;
    if (p.overflow) return e;
    if (changed) return Mod(FromPolynomial(context_, p), d);
    if (const auto q = ConstantQuotient(k_.RangeOf(p), d)) {
      return FromPolynomial(context_, AddScaled(p, Constant(*q), -d));
    }
    if (const std::optional<Digits> s = SplitDigits(p, d)) {
      return Mod(FromPolynomial(context_, s->high), d / s->g) * s->g +
             FromPolynomial(context_, s->low);
    }
    return e;
  }

  // x = y * quotient + rest, term by term for a product y.
  void DivideTerms(const Polynomial& x, const Term& y, Polynomial& quotient, Polynomial& rest) {
    rest.constant = x.constant;
    for (const Term& t : x.terms) {
      const bool whole = t.coefficient % y.coefficient == 0 && y.coefficient != -1;
      const std::optional<Expr> m =
          whole ? DivideMonomial(context_, t.monomial, y.monomial) : std::nullopt;
      if (!m) {
        rest.terms.push_back(t);
      } else if (m->is_const()) {
        quotient = AddScaled(quotient, Constant(t.coefficient / y.coefficient), 1);
      } else {
        Polynomial one;
        one.terms.push_back({*m, t.coefficient / y.coefficient});
        quotient = AddScaled(quotient, one, 1);
      }
    }
  }

  // The factors common to both that are known not to be 0.
  Expr CommonFactor(const Polynomial& x, const Polynomial& y) {
    std::vector<Power> common = CommonPowers(PowersCommonToTerms(x), PowersCommonToTerms(y));
    common.erase(std::remove_if(common.begin(), common.end(),
                                [&](const Power& p) { return !k_.IsNonZero(p.base); }),
                 common.end());
    return ProductOf(context_, common);
  }

  Expr Over(const Polynomial& x, const Expr& monomial) {
    if (x.terms.size() == 1 && x.constant == 0) {
      const std::optional<Expr> q = DivideMonomial(context_, x.terms[0].monomial, monomial);
      return q ? *q * x.terms[0].coefficient : Expr::Overflow();
    }
    Polynomial divisor;
    divisor.terms.push_back({monomial, 1});
    const std::optional<Polynomial> q = DivideExactly(context_, x, divisor);
    return q ? FromPolynomial(context_, *q) : Expr::Overflow();
  }

  bool IsRemainderOf(const Polynomial& rest, const Polynomial& divisor) {
    return k_.IsNonNegative(rest) &&
           k_.IsNonNegative(AddScaled(AddScaled(divisor, Constant(1), -1), rest, -1));
  }

  Expr Divide(const Expr& e, const Expr& a, const Expr& b) {
    const Polynomial x = ToPolynomial(a), y = ToPolynomial(b);
    if (x.overflow || y.overflow) return e;
    const Expr common = CommonFactor(x, y);
    if (!common.is_const()) {
      const Expr p = Over(x, common), q = Over(y, common);
      if (!p.IsOverflow() && !q.IsOverflow()) return FloorDiv(p, q);
    }
    if (!k_.IsNonZero(b)) return e;
    Polynomial quotient, rest;
    if (y.terms.size() == 1 && y.constant == 0) {
      DivideTerms(x, y.terms[0], quotient, rest);
      if (!quotient.terms.empty() || quotient.constant != 0) {
        return FromPolynomial(context_, quotient) + FloorDiv(FromPolynomial(context_, rest), b);
      }
    } else if (const auto q = DivideExactly(context_, x, y)) {
      return FromPolynomial(context_, *q);
    }
    if (k_.RangeOf(b).lower >= 1 && IsRemainderOf(x, y)) return 0;
    return e;
  }

  Expr Remainder(const Expr& e, const Expr& a, const Expr& b) {
    const Polynomial x = ToPolynomial(a), y = ToPolynomial(b);
    if (x.overflow || y.overflow || !k_.IsNonZero(b)) return e;
    Polynomial quotient, rest;
    if (y.terms.size() == 1 && y.constant == 0) {
      DivideTerms(x, y.terms[0], quotient, rest);
      if (!quotient.terms.empty() || quotient.constant != 0) {
        return Mod(FromPolynomial(context_, rest), b);
      }
    } else if (DivideExactly(context_, x, y)) {
      return 0;
    }
    if (k_.RangeOf(b).lower >= 1 && IsRemainderOf(x, y)) return a;
    return e;
  }

  Expr RefineMinMax(const Expr& e) {
    const absl::Span<const Expr> x = e.operands();
    if (e.type() != ExprType::kInt || x.size() > kMostCompared) return e;
    const int64_t sign = e.kind() == ExprKind::kMin ? 1 : -1;
    for (size_t i = 0; i < x.size(); ++i) {
      for (size_t j = 0; j < x.size(); ++j) {
        if (i == j) continue;
        // x[i] >= x[j] (of a maximum: <=): x[i] is not needed.
        const Polynomial difference = AddScaled(ToPolynomial(x[i]), ToPolynomial(x[j]), -1);
        if (!k_.IsNonNegative(Scaled(difference, sign))) continue;
        absl::InlinedVector<Expr, 6> kept(x.begin(), x.end());
        kept.erase(kept.begin() + static_cast<int64_t>(i));
        return kept.size() == 1 ? kept[0] : context_->Make(e.kind(), kept);
      }
    }
    return e;
  }

  Expr RefineComparison(const Expr& e) {
    if (const std::optional<bool> truth = k_.AsLearnt(e)) return Expr::Bool(*truth);
    const Expr& a = e.operands()[0];
    const Expr& b = e.operands()[1];
    if (a.type() != ExprType::kInt || b.type() != ExprType::kInt) return e;
    const bool equality = e.kind() == ExprKind::kEq || e.kind() == ExprKind::kNe;
    // Beside a number the bounds of the other side have said all they can.
    if ((a.is_const() || b.is_const()) && !equality) return e;
    const Polynomial p = Difference(b, a);
    if (p.overflow) return e;
    const Range zero = {0, 0};
    const Range truth = RangeOfOperation(e.kind(), {zero, k_.RangeOf(p)});
    if (const auto v = OnlyValue(truth)) return Expr::Bool(*v != 0);
    const bool never = equality && (k_.IsNeverZeroByRemainder(p) || IsNeverThatRemainder(p));
    return never ? Expr::Bool(e.kind() == ExprKind::kNe) : e;
  }

  // x % d + c == 0 needs x + c to be a multiple of d.
  bool IsNeverThatRemainder(const Polynomial& p) {
    if (p.terms.size() != 1 || p.terms[0].monomial.kind() != ExprKind::kMod) return false;
    const int64_t sign = p.terms[0].coefficient;
    const absl::Span<const Expr> x = p.terms[0].monomial.operands();
    const std::optional<int64_t> d = x[1].AsInt();
    if (!d || *d <= 0 || (sign != 1 && sign != -1)) return false;
    return k_.IsNeverZeroByRemainder(AddScaled(Constant(p.constant), ToPolynomial(x[0]), sign), *d);
  }

  Knowledge& k_;
  ExprContext* context_;
};

// The common case of a question, without a rewritten expression.
std::optional<bool> Knowledge::ByBounds(const Expr& condition) {
  if (!replacements_.empty() || condition.type() != ExprType::kBool) return std::nullopt;
  if (condition.AsBool()) return condition.AsBool();
  const std::optional<int64_t> truth = OnlyValue(RangeOf(condition));
  return truth ? std::optional<bool>(*truth != 0) : std::nullopt;
}

Expr Knowledge::Simplify(const Expr& original) {
  if (original.node() == nullptr || original.node()->context == nullptr) return original;
  if (const Expr* known = simplify_memo_.Find(original, version_)) return *known;
  if (const std::optional<bool> truth = ByBounds(original)) return Expr::Bool(*truth);
  const Question question(*this);
  Refiner refiner(*this);
  const auto leaf = [&](const Expr& e) -> Expr {
    if (!e.is_symbol()) return e;
    if (!replacements_.empty()) {
      const auto replaced = replacements_.find(e);
      if (replaced != replacements_.end()) return replaced->second;
    }
    const std::optional<int64_t> value = OnlyValue(BoundOfSymbol(e));
    return value ? Expr(*value) : e;
  };
  const auto pass = [&](const Expr& root) -> Expr {
    absl::flat_hash_map<Expr, Expr> done;
    const auto is_done = [&](const Expr& e) { return e.operands().empty() || done.contains(e); };
    VisitOperandsFirst(root, is_done, [&](const Expr& e) {
      if (const Expr* known = simplify_memo_.Find(e, version_)) {
        done.emplace(e, *known);
        return;
      }
      absl::InlinedVector<Expr, 8> operands;
      for (const Expr& o : e.operands()) {
        operands.push_back(o.operands().empty() ? leaf(o) : done.at(o));
      }
      Expr result =
          absl::MakeSpan(operands) == e.operands() ? e : context_->Make(e.kind(), operands);
      for (int i = 0; i < kRefinements && !result.operands().empty(); ++i) {
        const Expr refined = refiner.Refine(result);
        if (refined == result) break;
        result = refined;
      }
      if (result.IsOverflow()) result = e;  // undefined for all values: nothing to gain
      done.emplace(e, result);
      if (result == e) simplify_memo_.Store(e, version_, e);
    });
    return root.operands().empty() ? leaf(root) : done.at(root);
  };
  Expr e = original;
  for (int i = 0; i < kPasses; ++i) {
    const Expr next = pass(e);
    if (next == e) break;
    e = next;
  }
  simplify_memo_.Store(original, version_, e);
  return e;
}

}  // namespace lathe::symbolic
