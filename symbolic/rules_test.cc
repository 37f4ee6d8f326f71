// Each row of the simplifier: seen at work, and right for all small values, negative ones and zero
// included, against a meaning written here.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolic/evaluate.h"
#include "symbolic/simplify/rule.h"
#include "symbolic/trees_for_tests.h"

namespace lathe::symbolic {
namespace {

constexpr size_t kMostSamples = 150;  // of one row
constexpr int64_t kLow = -6, kHigh = 7;

struct Sample {
  ExprKind kind;
  std::vector<Expr> operands;
  std::optional<Polynomial> p;
  Expr result;
};
std::map<std::string, std::vector<Sample>>& Samples() {
  static auto& samples = *new std::map<std::string, std::vector<Sample>>();
  return samples;
}

void Keep(const Rule& rule, const RuleInput& in, const Expr& result) {
  std::vector<Sample>& kept = Samples()[std::string(rule.name)];
  if (kept.size() >= kMostSamples) return;
  kept.push_back({in.kind,
                  {in.x.begin(), in.x.end()},
                  in.p == nullptr ? std::nullopt : std::optional<Polynomial>(*in.p),
                  result});
}

using Value = std::optional<long double>;  // holds every int64

int64_t FloorQuotient(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

Value OfIntegers(ExprKind kind, int64_t a, int64_t b) {
  const bool by_zero = b == 0 || (a == INT64_MIN && b == -1);
  switch (kind) {
    case ExprKind::kFloorDiv:
      return by_zero ? Value() : Value(FloorQuotient(a, b));
    case ExprKind::kMod:
      if (by_zero) return Value();
      return a % b != 0 && (a < 0) != (b < 0) ? a % b + b : a % b;
    case ExprKind::kTruncDiv:
      return by_zero ? Value() : Value(a / b);
    case ExprKind::kTruncMod:
      return by_zero ? Value() : Value(a % b);
    case ExprKind::kShiftLeft:
      if (b < 0) return Value();
      return a == 0 ? Value(0)
                    : Value(std::ldexp(static_cast<long double>(a), static_cast<int>(b)));
    case ExprKind::kShiftRight:
      return b < 0 ? Value() : Value(a >> std::min<int64_t>(b, 63));
    case ExprKind::kBitAnd:
      return a & b;
    case ExprKind::kBitOr:
      return a | b;
    case ExprKind::kBitXor:
      return a ^ b;
    default:
      ADD_FAILURE() << "no meaning for kind " << static_cast<int>(kind);
      return Value();
  }
}

Value Meaning(ExprKind kind, const std::vector<Value>& v) {
  if (kind == ExprKind::kWhere) return !v[0] ? v[0] : *v[0] != 0 ? v[1] : v[2];
  for (const Value& x : v) {
    if (!x) return x;
  }
  const long double a = *v[0], b = v.size() > 1 ? *v[1] : 0;
  switch (kind) {
    case ExprKind::kMul: {
      long double product = 1;
      for (const Value& x : v) product *= *x;
      return product;
    }
    case ExprKind::kPow:
      return b < 0 ? Value() : Value(std::pow(a, b));
    case ExprKind::kMin:
      return std::min(a, b);
    case ExprKind::kMax:
      return std::max(a, b);
    case ExprKind::kAbs:
      return std::fabs(a);
    case ExprKind::kEq:
      return a == b;
    case ExprKind::kNe:
      return a != b;
    case ExprKind::kLt:
      return a < b;
    case ExprKind::kLe:
      return a <= b;
    case ExprKind::kNot:
      return a == 0;
    case ExprKind::kAnd:
      return std::all_of(v.begin(), v.end(), [](const Value& x) { return *x != 0; });
    case ExprKind::kOr:
      return std::any_of(v.begin(), v.end(), [](const Value& x) { return *x != 0; });
    case ExprKind::kTrueDiv:
      return b == 0 ? Value() : Value(static_cast<double>(a / b));
    case ExprKind::kFloatAdd:
      return static_cast<double>(a) + static_cast<double>(b);
    case ExprKind::kFloatMul:
      return static_cast<double>(a) * static_cast<double>(b);
    case ExprKind::kFloatPow:
      return std::pow(static_cast<double>(a), static_cast<double>(b));
    case ExprKind::kSqrt:
      return std::sqrt(static_cast<double>(a));
    case ExprKind::kLog2:
      return std::log2(static_cast<double>(a));
    case ExprKind::kFloor:
      return std::floor(a);
    case ExprKind::kCeil:
      return std::ceil(a);
    case ExprKind::kTrunc:
      return std::trunc(a);
    case ExprKind::kRound:
      return std::nearbyint(a);
    default:
      return OfIntegers(kind, static_cast<int64_t>(a), static_cast<int64_t>(b));
  }
}

class RuleRows : public testing::Test {
 protected:
  Value ValueOf(const Expr& e) const {
    if (e.kind() == ExprKind::kInfinity) return std::numeric_limits<long double>::infinity();
    if (e.kind() == ExprKind::kNegInfinity) return -std::numeric_limits<long double>::infinity();
    const auto lookup = [&](const Expr& s) {
      return std::optional<int64_t>(s == x_ ? at_x_ : at_y_);
    };
    if (e.type() == ExprType::kFloat) {
      const absl::StatusOr<double> v = EvaluateFloat(e, lookup);
      return v.ok() ? Value(*v) : Value();
    }
    const absl::StatusOr<int64_t> v = Evaluate(e, lookup);
    return v.ok() ? Value(*v) : Value();
  }

  Value LeftSide(const Sample& s) const {
    const bool compares = s.kind >= ExprKind::kEq && s.kind <= ExprKind::kLe;
    if (s.p && (compares || s.kind == ExprKind::kAdd)) {
      long double sum = s.p->constant;
      for (const Term& t : s.p->terms) {
        const Value v = ValueOf(t.monomial);
        if (!v) return v;
        sum += *v * t.coefficient;
      }
      return s.kind == ExprKind::kAdd ? Value(sum) : Meaning(s.kind, {Value(0), Value(sum)});
    }
    std::vector<Value> values;
    for (const Expr& e : s.operands) values.push_back(ValueOf(e));
    return Meaning(s.kind, values);
  }

  // The left side of the law has the value of the right side, wherever it has one that fits.
  void Check(const std::string& name, const Sample& s) {
    for (at_x_ = kLow; at_x_ <= kHigh; ++at_x_) {
      for (at_y_ = kLow; at_y_ <= kHigh; ++at_y_) {
        const Value left = LeftSide(s);
        if (!left || std::fabs(*left) >= 0x1p63L) continue;
        // Coefficients past 64 bits and undefined branches make the whole undefined.
        const bool may_overflow = absl::StartsWith(name, "where.") ||
                                  absl::StartsWith(name, "mul.") || absl::StartsWith(name, "pow.");
        if (s.result.IsOverflow() && may_overflow) continue;
        const Value right = ValueOf(s.result);
        const bool same = right && (*left == *right || (std::isnan(*left) && std::isnan(*right)));
        ASSERT_TRUE(same) << name << " of kind " << static_cast<int>(s.kind) << " made "
                          << ToString(s.result) << " at x = " << at_x_ << ", y = " << at_y_
                          << " where the value is " << static_cast<double>(*left);
      }
    }
  }

  void BuildRandomTrees() {
    const Expr symbols[] = {x_, y_};
    TreeMaker maker(20240917, 2);
    for (int i = 0; i < 12000; ++i) {
      maker.Integer(3).Build(symbols);
      maker.Claim().Build(symbols);
    }
  }

  // What random trees seldom have.
  void BuildRareOnes() {
    const Expr least = INT64_MIN, inf = Expr::Infinity();
    const Expr c = Lt(x_, y_), d = Or(c, Eq(x_, 3));
    for (const Expr& e : {least, Expr(5), Expr(-5)}) FloorDiv(e, least), Mod(e, least);
    for (const Expr& e : {x_, x_ + y_, Expr(0), Expr(6), Expr(-1), least}) {
      for (const int64_t k : {-1, 0, 2, 62, 63, 64}) ShiftLeft(e, k), ShiftRight(e, k);
      for (const int64_t k : {-2, 0, 1, 2, 3}) Pow(e, k), Pow(e * y_, k), Pow(Pow(e, 2), k);
      BitXor(BitXor(e, y_), y_), BitAnd(BitAnd(e, y_), y_), BitOr(BitAnd(e, y_), y_), Pow(4, y_);
      for (const int64_t k : {0, -1, 7, 6}) BitAnd(e, k), BitOr(e, k), BitXor(e, k);
      TruncDiv(e, 1), TruncDiv(e, -1), TruncDiv(e, -4), TruncMod(e, -4), TruncMod(e, 1);
      TruncDiv(0, e), TruncMod(0, e), FloorDiv(0, e), Mod(0, e), ShiftLeft(0, e), e * 0;
      Lt(e, inf), Le(-inf, e), Eq(e, inf), e*(x_ - y_ + 1), Where(c, Expr::Overflow(), e);
      Mod(Mod(e, 6) * y_ + x_, 3), Mod(Mod(x_, 4) * Mod(y_, 8), 4);
      Mod(2 * Mod(e, y_) + x_, y_), Mod(4 * e, 6 * y_), FloorDiv(4 * e, -6 * y_);
      Lt(e, Expr::Float(1.5)), Le(Expr::Float(-2), e), Eq(e, Expr::Float(3)),
          Ne(e, Expr::Float(2.5));
      for (const Expr& f : {TrueDiv(e, 2), TrueDiv(e, -3), ToFloat(e) * Expr::Float(-0.5)}) {
        for (const Expr& c : {Expr::Float(1.5), Expr(1), Expr::Float(-0.1)}) {
          Lt(f, c), Le(c, f), Eq(f, c), Ne(c, f + Expr::Float(1));
          for (const ExprKind kind : {ExprKind::kFloor, ExprKind::kTrunc, ExprKind::kRound}) {
            Le(context_.Make(kind, {f}), 1), Eq(2, context_.Make(kind, {f}));
          }
        }
      }
      TrueDiv(e, e), TrueDiv(e, 1), TrueDiv(e, 0), TrueDiv(e, 3), ToFloat(e) * Expr::Float(1);
      Min(e + 2, e), Max(Min(e, y_), y_), Min(Mod(e, 4), 9), Min(x_, y_) * Max(x_, y_) * e;
      4 * Mod(FloorDiv(e, 4), 3) + Mod(e, 4), 8 * FloorDiv(e, 4) + 2 * Mod(e, 4) + y_;
      for (const ExprKind kind : {ExprKind::kFloor, ExprKind::kCeil, ExprKind::kRound}) {
        context_.Make(kind, {e}), context_.Make(kind, {TrueDiv(5, 2)});
      }
    }
    for (const Expr& e : {c, d, Not(d), Not(c), Expr::Bool(true), Expr::Bool(false)}) {
      And(e, d), Or(Not(e), e), And(e, Not(e)), Or(e, Expr::Bool(true)), And(e, Expr::Bool(true));
      Eq(e, c), Ne(e, Expr::Bool(true)), Eq(e, e), Where(e, Expr::Bool(false), Expr::Bool(true));
      Where(e, Expr::Bool(true), Expr::Bool(false)), Where(e, x_, x_), Where(e, x_, 3), Not(Not(e));
    }
    Abs(Mod(x_, 4)), Abs(-Mod(x_, 4)), Abs(y_ - x_), Mod(x_, 4) - Mod(x_, 4) * 2;
    context_.Make(ExprKind::kSqrt, {9}), context_.Make(ExprKind::kLog2, {8});
    Eq(4 * x_ + 2, 2 * y_ + 1), Le(x_, x_ + 3), Le(3 * x_, 6 * y_ + 4), Lt(Mod(x_, 4), 9);
  }

  ExprContext context_;
  const Expr x_ = context_.Symbol("x"), y_ = context_.Symbol("y");
  int64_t at_x_ = 0, at_y_ = 0;
};

TEST_F(RuleRows, HoldForAllSmallValues) {
  Samples().clear();
  ObserveRules(Keep);
  BuildRareOnes();
  BuildRandomTrees();
  ObserveRules(nullptr);
  size_t checked = 0;
  for (const Rule* rule : AllRules()) {
    const std::string name(rule->name);
    EXPECT_FALSE(rule->law.empty() || rule->when.empty()) << name;
    EXPECT_FALSE(Samples()[name].empty()) << name << " was never seen";
    for (const Sample& s : Samples()[name]) {
      Check(name, s);
      ++checked;
      if (HasFatalFailure()) return;
    }
  }
  std::printf("%zu rows, %zu applications\n", AllRules().size(), checked);
}

TEST_F(RuleRows, HaveNamesOfTheirOwn) {
  std::map<std::string, int> seen;
  for (const Rule* rule : AllRules()) EXPECT_EQ(++seen[std::string(rule->name)], 1) << rule->name;
}

}  // namespace
}  // namespace lathe::symbolic
