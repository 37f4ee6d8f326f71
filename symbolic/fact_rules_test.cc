// Each row of refine/: seen at work, and right for all small values that the facts allow, negative
// ones and zero included.

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolic/evaluate.h"
#include "symbolic/refine/fact_rule.h"
#include "symbolic/shape_env.h"
#include "symbolic/trees_for_tests.h"

namespace lathe::symbolic {
namespace {

constexpr int kMostApplications = 200;  // of one row that are checked

struct Application {
  const FactRule* rule;
  Expr e, result;
};
std::vector<Application>& Applications() {
  static auto& applications = *new std::vector<Application>();
  return applications;
}
void Keep(const FactRule& rule, const Expr& e, const Expr& result) {
  Applications().push_back({&rule, e, result});
}

// Symbols x and y with their bounds and facts, and all the points that these allow.
class World {
 public:
  World(Range x_range, Range y_range) : env_(std::make_shared<ExprContext>()) {
    x = env_.AddBacked("x", Source(), std::nullopt, x_range);
    y = env_.AddBacked("y", Source(), std::nullopt, y_range);
    const auto end = [](const Range& r) { return r.upper == Range::kMax ? r.lower + 24 : r.upper; };
    for (int64_t a = x_range.lower; a <= end(x_range); ++a) {
      for (int64_t b = y_range.lower; b <= end(y_range); ++b) points_.push_back({a, b});
    }
  }

  // False: no point is left.
  bool Learn(const Expr& fact) {
    std::vector<std::pair<int64_t, int64_t>> kept;
    for (const auto& p : points_) {
      if (ValueAt(fact, p).value_or(0) != 0) kept.push_back(p);
    }
    points_ = std::move(kept);
    return !points_.empty() && env_.AddFact(fact).ok();
  }

  // Simplifies `e` and checks what each row made on the way.
  void Simplify(const Expr& e) {
    Applications().clear();
    ObserveFactRules(Keep);
    (void)env_.Simplify(e);
    ObserveFactRules(nullptr);
    for (const Application& a : Applications()) {
      int& seen = checked_[std::string(a.rule->name)];
      if (seen++ < kMostApplications) Check(a);
    }
  }

  static std::map<std::string, int>& checked() { return checked_; }
  ExprContext& context() { return env_.context(); }

  Expr x, y;

 private:
  std::optional<int64_t> ValueAt(const Expr& e, const std::pair<int64_t, int64_t>& p) const {
    const absl::StatusOr<int64_t> v = Evaluate(
        e, [&](const Expr& s) { return std::optional<int64_t>(s == x ? p.first : p.second); });
    return v.ok() ? std::optional<int64_t>(*v) : std::nullopt;
  }

  void Check(const Application& a) const {
    for (const auto& p : points_) {
      const std::optional<int64_t> left = ValueAt(a.e, p);
      if (!left) continue;
      ASSERT_EQ(left, ValueAt(a.result, p))
          << a.rule->name << ": " << ToString(a.e) << " became " << ToString(a.result)
          << " at x = " << p.first << ", y = " << p.second;
    }
  }

  ShapeEnv env_;
  std::vector<std::pair<int64_t, int64_t>> points_;
  static std::map<std::string, int> checked_;
};
std::map<std::string, int> World::checked_;

// What random facts and trees seldom bring together.
void SimplifyRareOnes() {
  for (const int64_t low : {-5, 0, 1, 2}) {
    World w({low, low + 9}, {1, Range::kMax});
    const Expr &x = w.x, &y = w.y;
    if (!w.Learn(Eq(Mod(x, 4), 1)) || !w.Learn(Eq(Mod(y, 6), 2))) continue;
    if (!w.Learn(Or(Lt(x, 3), Eq(y, 2))) || !w.Learn(Ne(x + y, 7))) continue;
    for (const Expr& e : {FloorDiv(3 * y + x, 2),
                          FloorDiv(x, 16),
                          Mod(x + 3 * y + 1, 4),
                          Mod(x, 16),
                          FloorDiv(8 * y + Mod(x, 4), 16),
                          Mod(8 * y + Mod(x, 4), 16),
                          FloorDiv(x * y, 4 * y),
                          FloorDiv(x * y + x, y),
                          FloorDiv((x + 1) * (y + 1), y + 1),
                          Mod((x + 1) * (y + 1), y + 1),
                          Mod(x * y + x, y),
                          FloorDiv(x, 40 * y),
                          Mod(x, 40 * y),
                          4 * FloorDiv(x - 1, 4) * y,
                          6 * FloorDiv(y - 2, 6) + x,
                          TruncDiv(y, 3),
                          TruncMod(y, 3),
                          TruncDiv(y, x),
                          TruncMod(y, x),
                          Abs(y),
                          Abs(-y * y),
                          Min(x, 20 * y),
                          Max(x, 20 * y),
                          Min(x * y, 3 * y),
                          Mod(x * y, 4 * y),
                          Mod(x * y, y * y),
                          Mod(Mod(x, 3 * y) + 1, y),
                          Mod(2 * Mod(x + y, y * y), y),
                          Max(2 * x * y, 5 * y * y),
                          FloorDiv(FloorDiv(x, y), y + 1),
                          Pow(2, y + 3),
                          Le(TrueDiv(y, 2), TrueDiv(y, 2)),
                          Where(Or(Lt(x, 3), Eq(y, 2)), x, y),
                          Where(Ne(x + y, 7), x, y),
                          Eq(x + y, 7),
                          Lt(x, 20 * y),
                          Eq(2 * y, 4 * FloorDiv(x, 3) + 2),
                          Eq(Mod(x + 2, 4), 2),
                          And(Or(Lt(x, 3), Eq(y, 2)), Lt(x, y)),
                          Le(y * FloorDiv(x, y), x),
                          Lt(x * y, 3 * y * y + y),
                          Eq(x * y, y * y + 2 * y)}) {
      w.Simplify(e);
    }
  }
  World powers({0, 6}, {0, 4});
  {
    const Expr &x = powers.x, &y = powers.y;
    EXPECT_TRUE(powers.Learn(Le(y, x)));
    for (const Expr& e :
         {Pow(2, x) * Pow(2, y), Pow(4, x) * 3 * Pow(2, y), FloorDiv(Pow(2, x), Pow(2, y)),
          FloorDiv(3 * Pow(2, x), 2 * Pow(2, y)), FloorDiv(6 * Pow(3, x) * x, Pow(3, y)),
          Mod(5 * Pow(2, x), Pow(2, y)), Lt(Pow(2, x), Pow(2, y + 1)), Eq(Pow(3, x), 3 * Pow(3, y)),
          Le(Pow(2, x), 17), Le(9, Pow(2, x)), Eq(Pow(2, x), 8), Ne(Pow(2, x), 6),
          BitAnd(x + 5, Pow(2, y) - 1), BitAnd(-x, Pow(2, y + 1) - 1), Eq(Min(x, y), y),
          Ne(Max(x, y), y), FloorDiv(Mod(x, (y + 1) * (x + 2)), y + 1)}) {
      powers.Simplify(e);
    }
  }
  World floats({-40, 60}, {1, 9});
  {
    const Expr &x = floats.x, &y = floats.y;
    const auto of = [&](ExprKind kind) {
      return [&floats, kind](const Expr& e) { return floats.context().Make(kind, {e}); };
    };
    const auto floor_of = of(ExprKind::kFloor), ceil_of = of(ExprKind::kCeil),
               trunc_of = of(ExprKind::kTrunc);
    const auto root_of = of(ExprKind::kSqrt), log_of = of(ExprKind::kLog2);
    for (const Expr& e :
         {floor_of(TrueDiv(x, y)), ceil_of(TrueDiv(x, 7)), trunc_of(TrueDiv(x, y)),
          floor_of(Expr::Float(0.75) * ToFloat(x)), trunc_of(Expr::Float(-2.5) * ToFloat(x)),
          ceil_of(Expr::Float(0.125) * ToFloat(x)), Le(root_of(y), 2), Le(2, root_of(y)),
          Lt(log_of(y), 3), Eq(log_of(y), 2), Eq(root_of(y), 3)}) {
      floats.Simplify(e);
    }
  }
  World apart({-8, 8}, {-8, 8});
  EXPECT_TRUE(apart.Learn(Eq(Mod(apart.x, 4), 0)) && apart.Learn(Eq(Mod(apart.y, 4), 0)));
  EXPECT_TRUE(apart.Learn(Ne(apart.x, apart.y)));
  apart.Simplify(Le(4, Abs(apart.x - apart.y)));
  World signs({-5, 5}, {-5, 5});
  {
    const Expr &x = signs.x, &y = signs.y;
    for (const Expr& e : {Eq(x * x, y * y), Lt(4 * x * x, 9 * y * y), Le(x * x * x, 8 * y * y * y),
                          Ne(x * x * x * x, y * y * y * y)}) {
      signs.Simplify(e);
    }
  }
  World whole({0, 60}, {1, 4});
  EXPECT_TRUE(whole.Learn(Eq(Mod(whole.x, 3 * whole.y), 0)));
  whole.Simplify(Mod(FloorDiv(whole.x, whole.y), 3));
  World odd({-5, 12}, {0, 3});
  EXPECT_TRUE(odd.Learn(Eq(Mod(odd.x, 2), 1)));
  odd.Simplify(Eq(Mod(odd.x, 4), 2));
  odd.Simplify(Ne(Mod(odd.x + 1, 6), 3));
  for (const int64_t d : {2, 3}) {
    World w({-6, 8}, {-4, 4});
    const Expr &x = w.x, &y = w.y;
    if (!w.Learn(Ne(y, 0)) || !w.Learn(Eq(Mod(x, y), 0))) continue;
    w.Simplify(y * FloorDiv(x, y) * d + x);
    w.Simplify(FloorDiv(x * y * d, y) + Mod(x * d, y));
    w.Simplify(Mod(x * d + d, y));
    w.Simplify(Mod(x * x + 1, y));
    if (!w.Learn(Eq(Mod(x + 2 * y, d), 1))) continue;
    w.Simplify(Mod(x + 2 * y + 5, d));
    w.Simplify(Mod(3 * x + 6 * y, d));
    if (!w.Learn(Eq(x * y, 6))) continue;
    w.Simplify(4 * x * y + x);
    w.Simplify(Lt(x * y, 7));
  }
}

void SimplifyRandomOnes() {
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    TreeMaker maker(seed * 7919, 2);
    const auto range = [&] {
      const int64_t lower = maker.Roll(3) == 0 ? maker.Roll(7) - 4 : maker.Roll(3);
      return Range{lower, maker.Roll(2) == 0 ? Range::kMax : lower + maker.Roll(12)};
    };
    const Range x_range = range(), y_range = range();
    World w(x_range, y_range);
    const Expr symbols[] = {w.x, w.y};
    bool possible = true;
    for (int i = maker.Roll(4); i > 0 && possible; --i) {
      const Expr fact = maker.Fact().Build(symbols);
      possible = !fact.IsOverflow() && w.Learn(fact);
    }
    for (int i = 0; i < 8 && possible; ++i) {
      w.Simplify(maker.Integer(3).Build(symbols));
      w.Simplify(maker.Claim().Build(symbols));
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(FactRuleRows, HoldForAllSmallValues) {
  World::checked().clear();
  SimplifyRareOnes();
  SimplifyRandomOnes();
  int checked = 0;
  for (const FactRule* rule : AllFactRules()) {
    const std::string name(rule->name);
    EXPECT_FALSE(rule->law.empty() || rule->when.empty()) << name;
    const int seen = World::checked()[name];
    EXPECT_GT(seen, 0) << name << " was never seen";
    checked += std::min(seen, kMostApplications);
  }
  std::printf("%zu rows, %d applications\n", AllFactRules().size(), checked);
}

TEST(FactRuleRows, HaveNamesOfTheirOwn) {
  std::map<std::string, int> seen;
  for (const FactRule* rule : AllFactRules()) {
    EXPECT_EQ(++seen[std::string(rule->name)], 1) << rule->name;
  }
}

}  // namespace
}  // namespace lathe::symbolic
