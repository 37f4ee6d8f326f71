// Knowledge::IsNonNegative: proofs by linear arithmetic over products, quotients and remainders as
// unknowns, with what the operations say of them.

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolic/condition_bounds.h"
#include "symbolic/domination.h"
#include "symbolic/expr_node.h"
#include "symbolic/knowledge.h"
#include "symbolic/linear_system.h"
#include "symbolic/monomial.h"
#include "symbolic/replace_operation.h"
#include "symbolic/sampler.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/substitution.h"

namespace lathe::symbolic {
namespace {

constexpr size_t kMostUnknowns = 20;
constexpr size_t kMostConstraints = 64;
constexpr size_t kMostFactsPerUnknown = 8;
constexpr size_t kMostFactsAround = 4;
constexpr int kDeepestSplit = 3;
constexpr int kFewProofs = 8;
constexpr int kMostNewProducts = 6;
constexpr int kMostQuotients = 3;  // that are multiplied out, one after another
constexpr size_t kWidestSplit = 4;
constexpr int64_t kLargestLeastQuotient = 4;
constexpr int64_t kLargestPowerBase = 1 << 20;
constexpr size_t kLargestSplit = 1000;  // operations in what is split

Polynomial Constant(int64_t value) {
  Polynomial p;
  p.constant = value;
  return p;
}

Polynomial Single(const Expr& monomial, int64_t coefficient = 1) {
  Polynomial p;
  p.terms.push_back({monomial, coefficient});
  return p;
}

Polynomial Minus(const Polynomial& a, const Polynomial& b) { return AddScaled(a, b, -1); }

}  // namespace

class Prover {
 public:
  explicit Prover(Knowledge& knowledge) : k_(knowledge), context_(knowledge.context()) {}

  // `p` >= 0 given that all of `assumptions` are.
  bool IsNonNegative(const Polynomial& p, const std::vector<Polynomial>& assumptions, int depth) {
    if (p.overflow) return false;
    if (k_.RangeOf(p).lower >= 0) return true;
    if ((p.terms.empty() && assumptions.empty()) || k_.proofs_left_ <= 0) return false;
    --k_.proofs_left_;
    if (RefuteNegation(p, assumptions, /*new_products=*/0)) return true;
    if (k_.proofs_left_ < kFewProofs) return false;  // a question that is to be cheap
    if (!k_.inside_.empty()) {
      --k_.proofs_left_;
      looks_inside_ = true;
      const bool refuted = RefuteNegation(p, assumptions, 0);
      looks_inside_ = false;
      if (refuted) return true;
    }
    if (HasProduct(p)) {
      --k_.proofs_left_;
      if (RefuteNegation(p, assumptions, kMostNewProducts)) return true;
    }
    return depth < kDeepestSplit && ByCases(p, assumptions, depth);
  }

  // The same with quotients multiplied out, which linear arithmetic sees less well: for y >= 1,
  // x//y + r >= 0 is x + r*y >= 0, and r - x//y >= 0 is (r + 1)*y - x - 1 >= 0.
  bool IsNonNegativeWithoutQuotients(const Polynomial& p, int depth) {
    if (p.overflow || depth >= kMostQuotients || p.terms.size() > 8) return false;
    if (k_.proofs_left_ < kFewProofs) return false;
    for (const Term& t : p.terms) {
      if (t.monomial.kind() != ExprKind::kFloorDiv) continue;
      if (t.coefficient != 1 && t.coefficient != -1) continue;
      const Expr& x = t.monomial.operands()[0];
      const Expr& y = t.monomial.operands()[1];
      if (k_.RangeOf(y).lower < 1) continue;
      const Expr r = FromPolynomial(context_, Minus(p, Single(t.monomial, t.coefficient)));
      const Expr cleared = t.coefficient == 1 ? x + r * y : (r + 1) * y - x - 1;
      if (cleared.IsOverflow()) continue;
      const Polynomial q = ToPolynomial(k_.Simplify(cleared));
      if (IsNonNegative(q, {}, 0) || IsNonNegativeBySubstitution(k_, q) ||
          IsNonNegativeWithoutQuotients(q, depth + 1)) {
        return true;
      }
    }
    return false;
  }

 private:
  // ---- linear arithmetic

  static bool HasProduct(const Polynomial& p) {
    return std::any_of(p.terms.begin(), p.terms.end(), [](const Term& t) {
      return t.monomial.kind() == ExprKind::kMul || t.monomial.kind() == ExprKind::kPow;
    });
  }

  bool RefuteNegation(const Polynomial& p, const std::vector<Polynomial>& assumptions,
                      int new_products) {
    new_products_ = new_products;
    unknowns_.clear();
    pending_.clear();
    rows_.clear();
    Require(Minus(Constant(-1), p));
    for (const Polynomial& a : assumptions) Require(a);
    while (!pending_.empty() && rows_.size() < kMostConstraints) {
      const Expr m = pending_.front();
      pending_.pop_front();
      Describe(m);
    }
    LinearSystem system;
    for (const Polynomial& row : rows_) {
      Inequality inequality;
      inequality.constant = row.constant;
      bool complete = true;
      for (const Term& t : row.terms) {
        const auto it = unknowns_.find(t.monomial);
        complete = complete && it != unknowns_.end();
        if (complete) inequality.entries.push_back({it->second, t.coefficient});
      }
      if (complete) system.Add(std::move(inequality));
    }
    return system.IsInfeasible();
  }

  void Require(const Polynomial& p) {
    if (p.overflow || p.terms.size() > 12) return;
    for (const Term& t : p.terms) {
      if (unknowns_.size() >= kMostUnknowns || unknowns_.contains(t.monomial)) continue;
      unknowns_.emplace(t.monomial, static_cast<int>(unknowns_.size()));
      pending_.push_back(t.monomial);
    }
    rows_.push_back(p);
  }

  void RequireZero(const Polynomial& p) {
    Require(p);
    Require(Scaled(p, -1));
  }

  // What is known of one unknown.
  void Describe(const Expr& m) {
    const Range r = k_.RangeOf(m);
    if (r.lower != Range::kMin) Require(Minus(Single(m), Constant(r.lower)));
    if (r.upper != Range::kMax) Require(Minus(Constant(r.upper), Single(m)));
    const Residue residue = k_.ResidueOf(m);
    if (residue.modulus > 1) {  // m = modulus * (m // modulus) + remainder
      const Expr q = FloorDiv(m, residue.modulus);
      RequireZero(Minus(Minus(Single(m), Constant(residue.remainder)),
                        Scaled(ToPolynomial(q), residue.modulus)));
    }
    DescribeOperation(m, r);
    DescribeFacts(m);
  }

  void DescribeOperation(const Expr& m, const Range& r) {
    const absl::Span<const Expr> x = m.operands();
    switch (m.kind()) {
      case ExprKind::kFloorDiv:
        DescribeQuotient(m, ToPolynomial(x[0]), ToPolynomial(x[1]), x[1]);
        return DescribeKnownRest(m, x[0], x[1]);
      case ExprKind::kMod:
        return DescribeRemainder(m, x[0], x[1]);
      case ExprKind::kMin:
        for (const Expr& o : x) Require(Minus(ToPolynomial(o), Single(m)));
        return;
      case ExprKind::kMax:
        for (const Expr& o : x) Require(Minus(Single(m), ToPolynomial(o)));
        return;
      case ExprKind::kAbs:
        Require(Minus(Single(m), ToPolynomial(x[0])));
        return Require(AddScaled(Single(m), ToPolynomial(x[0]), 1));
      case ExprKind::kMul:
      case ExprKind::kPow:
        return DescribeProduct(m);
      case ExprKind::kBitAnd:
      case ExprKind::kBitOr:
      case ExprKind::kBitXor:
        return DescribeBits(m, ToPolynomial(x[0]), ToPolynomial(x[1]));
      case ExprKind::kShiftLeft:
        if (k_.RangeOf(x[1]).lower < 0) return;
        return RequireZero(Minus(Single(m), ToPolynomial(x[0] * Pow(2, x[1]))));
      case ExprKind::kShiftRight:
        if (k_.RangeOf(x[1]).lower < 0) return;
        return RequireZero(Minus(Single(m), ToPolynomial(FloorDiv(x[0], Pow(2, x[1])))));
      default:
        (void)r;
    }
  }

  // With a mask of low bits or one bit, for all integers.
  void DescribeMask(const Expr& m, const Expr& x, int64_t mask) {
    const bool low_bits = mask > 0 && (mask & (mask + 1)) == 0 && mask != INT64_MAX;
    const bool one_bit = mask > 0 && (mask & (mask - 1)) == 0;
    if (!low_bits && !one_bit) return;
    // The part of x under the mask.
    const Expr part = low_bits ? Mod(x, mask + 1) : Mod(FloorDiv(x, mask), 2) * mask;
    Polynomial value = ToPolynomial(part);
    if (m.kind() != ExprKind::kBitAnd) {
      const int64_t taken = m.kind() == ExprKind::kBitOr ? -1 : -2;
      value = AddScaled(AddScaled(ToPolynomial(x), Constant(mask), 1), value, taken);
    }
    RequireZero(Minus(Single(m), value));
  }

  // Bits never carry: x | y is at least each and x ^ y at most the sum, where both are >= 0.
  void DescribeBits(const Expr& m, const Polynomial& x, const Polynomial& y) {
    if (m.kind() != ExprKind::kBitAnd) {  // x | y = x + y - (x & y), and so on
      const Polynomial both = ToPolynomial(BitAnd(m.operands()[0], m.operands()[1]));
      const int64_t taken = m.kind() == ExprKind::kBitOr ? -1 : -2;
      RequireZero(Minus(Single(m), AddScaled(AddScaled(x, y, 1), both, taken)));
    }
    if (const std::optional<int64_t> mask = m.operands()[1].AsInt()) {
      DescribeMask(m, m.operands()[0], *mask);
    }
    const bool x_ok = k_.RangeOf(x).lower >= 0, y_ok = k_.RangeOf(y).lower >= 0;
    if (m.kind() == ExprKind::kBitAnd) {
      if (x_ok) Require(Minus(x, Single(m)));
      if (y_ok) Require(Minus(y, Single(m)));
      return;
    }
    if (!x_ok || !y_ok) return;
    Require(Minus(AddScaled(x, y, 1), Single(m)));
    if (m.kind() != ExprKind::kBitOr) return;
    Require(Minus(Single(m), x));
    Require(Minus(Single(m), y));
  }

  Polynomial Times(const Polynomial& p, const Expr& q) {
    const Polynomial y = ToPolynomial(q);
    Polynomial result = MultiplyByTerm(context_, p, {Expr(1), y.constant});
    if (y.constant == 0) result = Constant(0);
    for (const Term& t : y.terms) result = AddScaled(result, MultiplyByTerm(context_, p, t), 1);
    return result;
  }

  // y*q <= x < y*q + y for positive y
  void DescribeQuotient(const Expr& q, const Polynomial& x, const Polynomial& y, const Expr& b) {
    const Range divisor = k_.RangeOf(b);
    if (divisor.lower < 1) return;
    const Polynomial product = Times(y, q);
    Require(Minus(x, product));
    Require(Minus(Minus(AddScaled(product, y, 1), x), Constant(1)));
    DescribeLeastQuotient(q, x, y, product);
    if (k_.RangeOf(x).lower >= 0) {
      Require(Single(q));
      Require(Minus(x, Single(q)));
    }
  }

  // x >= 3*y makes q >= 3 and q*y >= 3*y, for a positive y that is no number.
  void DescribeLeastQuotient(const Expr& q, const Polynomial& x, const Polynomial& y,
                             const Polynomial& product) {
    if (y.terms.empty()) return;
    for (int64_t least = kLargestLeastQuotient; least > 0; --least) {
      const Polynomial rest = AddScaled(x, y, -least);
      if (rest.overflow || k_.RangeOf(rest).lower < 0) continue;
      Require(Minus(Single(q), Constant(least)));
      return Require(AddScaled(product, y, -least));
    }
  }

  // x = y*q + x % y where something is known of x % y.
  void DescribeKnownRest(const Expr& q, const Expr& x, const Expr& y) {
    if (!y.is_const() || *y.AsInt() < 1 || !k_.knows_remainders_) return;
    const Expr rest = Mod(x, y);
    if (rest.kind() != ExprKind::kMod || !k_.bounds_.contains(rest)) return;
    RequireZero(Minus(Minus(ToPolynomial(x), Times(ToPolynomial(y), q)), Single(rest)));
  }

  void DescribeRemainder(const Expr& r, const Expr& a, const Expr& b) {
    if (k_.RangeOf(b).lower < 1) return;
    const Polynomial x = ToPolynomial(a), y = ToPolynomial(b);
    Require(Single(r));
    Require(Minus(Minus(y, Single(r)), Constant(1)));
    if (k_.RangeOf(x).lower >= 0) Require(Minus(x, Single(r)));
    const Expr q = FloorDiv(a, b);
    const Polynomial product = Times(y, q);
    RequireZero(Minus(Minus(x, product), Single(r)));
    if (q.kind() == ExprKind::kFloorDiv) DescribeLeastQuotient(q, x, y, product);
  }

  // c**e >= 1 + (c - 1)*e (Bernoulli), and c**e is c at least where e >= 1.
  void DescribePower(const Expr& m) {
    const std::optional<int64_t> c = m.operands()[0].AsInt();
    const Range e = k_.RangeOf(m.operands()[1]);
    if (!c || *c < 2 || *c > kLargestPowerBase || e.lower < 0) return;
    const Polynomial exponent = ToPolynomial(m.operands()[1]);
    Require(AddScaled(Minus(Single(m), Constant(1)), exponent, 1 - *c));
  }

  // (f - low)(g - low) >= 0 and so on, for m = f*g.
  void DescribeProduct(const Expr& m) {
    if (m.kind() == ExprKind::kPow && !m.operands()[1].is_const()) return DescribePower(m);
    for (const Power& factor : FactorsOf(m)) {
      const std::optional<Expr> g = DivideMonomial(context_, m, factor.base);
      if (!g || g->is_const()) continue;
      const Range x = k_.RangeOf(factor.base), y = k_.RangeOf(*g);
      const Polynomial f = ToPolynomial(factor.base), h = ToPolynomial(*g);
      const bool x_low = x.lower != Range::kMin, x_high = x.upper != Range::kMax;
      const bool y_low = y.lower != Range::kMin, y_high = y.upper != Range::kMax;
      if (x_low && y_low) RequireProduct(m, f, x.lower, h, y.lower, 1);
      if (x_high && y_high) RequireProduct(m, f, x.upper, h, y.upper, 1);
      if (x_low && y_high) RequireProduct(m, f, x.lower, h, y.upper, -1);
      if (x_high && y_low) RequireProduct(m, f, x.upper, h, y.lower, -1);
      if (factor.base.kind() == ExprKind::kFloorDiv) DescribeOperation(factor.base, x);
      MultiplyFacts(m, factor.base, *g);
      if (g->kind() == ExprKind::kMul) MultiplyFacts(m, *g, factor.base);
      RequireSquares(m, factor.base, *g);
      if (rows_.size() >= kMostConstraints) return;
    }
  }

  // (f - g)**2 >= 0 and (f + g)**2 >= 0 where both squares are spoken of.
  void RequireSquares(const Expr& m, const Expr& f, const Expr& g) {
    const Expr x = Pow(f, 2), y = Pow(g, 2);
    if (f == g || !unknowns_.contains(x) || !unknowns_.contains(y)) return;
    const Polynomial squares = AddScaled(ToPolynomial(x), ToPolynomial(y), 1);
    Require(AddScaled(squares, Single(m), -2));
    Require(AddScaled(squares, Single(m), 2));
  }

  // sign * (f - a) * (h - b) >= 0
  void RequireProduct(const Expr& m, const Polynomial& f, int64_t a, const Polynomial& h, int64_t b,
                      int64_t sign) {
    const std::optional<int64_t> ab = CheckedMul(a, b);
    if (!ab) return;
    Polynomial p = AddScaled(Single(m), f, -b);
    p = AddScaled(AddScaled(p, h, -a), Constant(*ab), 1);
    Require(Scaled(p, sign));
  }

  // A fact about g, times f where f >= 0, is a fact about f*g.
  void MultiplyFacts(const Expr& m, const Expr& f, const Expr& g) {
    if (k_.RangeOf(f).lower < 0) return;
    const auto it = k_.inequalities_with_.find(g);
    if (it == k_.inequalities_with_.end()) return;
    size_t used = 0;
    for (const int i : it->second) {
      const Polynomial product =
          MultiplyByTerm(context_, k_.inequalities_[static_cast<size_t>(i)], {f, 1});
      // Only if nothing new but known products comes in, and a few others where none did.
      const auto unheard =
          std::count_if(product.terms.begin(), product.terms.end(), [&](const Term& t) {
            return t.monomial != m && !t.monomial.is_symbol() && !unknowns_.contains(t.monomial);
          });
      if (unheard > new_products_) continue;
      new_products_ -= static_cast<int>(unheard);
      if (++used <= kMostFactsPerUnknown) Require(product);
    }
  }

  // Inequalities of operations on a symbol, "x//16 == y//16" for one.
  void DescribeFactsAround(const Expr& symbol) {
    const auto it = k_.inside_.find(symbol);
    if (it == k_.inside_.end()) return;
    const size_t n = std::min(it->second.size(), kMostFactsAround);
    for (size_t i = 0; i < n; ++i) {
      const int index = it->second[it->second.size() - 1 - i];
      Require(k_.inequalities_[static_cast<size_t>(index)]);
    }
  }

  void DescribeFacts(const Expr& m) {
    if (looks_inside_ && m.is_symbol()) DescribeFactsAround(m);
    const auto it = k_.inequalities_with_.find(m);
    if (it == k_.inequalities_with_.end()) return;
    const size_t n = std::min(it->second.size(), kMostFactsPerUnknown);
    for (size_t i = 0; i < n; ++i) {
      const int index = it->second[it->second.size() - 1 - i];
      Require(k_.inequalities_[static_cast<size_t>(index)]);
    }
  }

  // ---- cases

  // An operation inside that is one of its operands.
  static std::optional<Expr> Choice(const Polynomial& p) {
    for (const Term& t : p.terms) {
      for (const Power& f : FactorsOf(t.monomial)) {
        const ExprKind kind = f.base.kind();
        const bool chooses = kind == ExprKind::kMin || kind == ExprKind::kMax ||
                             kind == ExprKind::kAbs || kind == ExprKind::kWhere;
        if (chooses && f.base.operands().size() <= kWidestSplit) return f.base;
      }
    }
    return std::nullopt;
  }

  bool ByCases(const Polynomial& p, const std::vector<Polynomial>& assumptions, int depth) {
    const std::optional<Expr> choice = Choice(p);
    if (!choice) return false;
    const Expr whole = FromPolynomial(context_, p);
    if (HasMoreNodesThan(kLargestSplit, whole)) return false;
    const absl::Span<const Expr> x = choice->operands();
    const auto holds = [&](const Expr& value, std::vector<Polynomial> more) {
      more.insert(more.end(), assumptions.begin(), assumptions.end());
      const Expr replaced = ReplaceOperation(context_, whole, *choice, value);
      return IsNonNegative(ToPolynomial(replaced), more, depth + 1);
    };
    switch (choice->kind()) {
      case ExprKind::kAbs: {
        const Polynomial inner = ToPolynomial(x[0]);
        return holds(x[0], {inner}) && holds(-x[0], {Scaled(inner, -1)});
      }
      case ExprKind::kWhere:
        for (const auto& [value, condition] : {std::pair(x[1], x[0]), std::pair(x[2], Not(x[0]))}) {
          for (std::vector<Polynomial>& one : AlternativeBounds(k_, condition)) {
            if (!holds(value, std::move(one))) return false;
          }
        }
        return true;
      default: {
        const int64_t sign = choice->kind() == ExprKind::kMin ? 1 : -1;
        for (const Expr& chosen : x) {
          std::vector<Polynomial> beaten;
          for (const Expr& o : x) {
            if (o == chosen) continue;
            beaten.push_back(Scaled(Minus(ToPolynomial(o), ToPolynomial(chosen)), sign));
          }
          if (!holds(chosen, std::move(beaten))) return false;
        }
        return true;
      }
    }
  }

  Knowledge& k_;
  ExprContext* context_;
  absl::flat_hash_map<Expr, int> unknowns_;
  std::deque<Expr> pending_;
  std::vector<Polynomial> rows_;
  bool looks_inside_ = false;
  int new_products_ = 0;  // that multiplied facts may still bring in
};

bool Knowledge::IsNeverZero(const Polynomial& p) {
  return Prover(*this).IsNonNegative(Constant(-1), {p, Scaled(p, -1)}, 0);
}

bool Knowledge::IsNonNegative(const Polynomial& p) {
  Prover prover(*this);
  if (prover.IsNonNegative(p, {}, 0)) return true;
  if (proofs_left_ >= kFewProofs &&
      (IsNonNegativeByTerms(*this, p) || IsNonNegativeBySubstitution(*this, p))) {
    return true;
  }
  return prover.IsNonNegativeWithoutQuotients(p, 0);
}

}  // namespace lathe::symbolic
