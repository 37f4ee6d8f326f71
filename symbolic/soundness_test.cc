// Whatever is answered must hold: facts, claims and rules against brute force.
//
// LATHE_SOUNDNESS_PAIRS=1000000 asks for as many (facts, claim) pairs as that, of another seed
// with LATHE_FUZZ_SEED=n.

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolic/evaluate.h"
#include "symbolic/expr_node.h"
#include "symbolic/shape_env.h"
#include "symbolic/trees_for_tests.h"

namespace lathe::symbolic {
namespace {

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

using Op = Tree::Op;
using Point = std::vector<int64_t>;

absl::StatusOr<int64_t> ValueAt(const Expr& e, absl::Span<const Expr> symbols, const Point& v) {
  return Evaluate(e, [&](const Expr& s) -> std::optional<int64_t> {
    for (size_t i = 0; i < symbols.size(); ++i) {
      if (symbols[i] == s) return v[i];
    }
    return std::nullopt;
  });
}

// One set of facts with its points, and a dozen claims about them.
class Round {
 public:
  explicit Round(uint64_t seed)
      : maker_(seed, 2 + static_cast<int>(seed % 2)), env_(std::make_shared<ExprContext>()) {
    const size_t n = 2 + seed % 2;
    const bool bounded = maker_.Roll(3) != 0;
    for (size_t i = 0; i < n; ++i) {
      const int64_t lower = maker_.Roll(3) == 0 ? maker_.Roll(7) - 4 : maker_.Roll(3);
      const int64_t upper = lower + maker_.Roll(n == 2 ? 13 : 7);
      lower_.push_back(lower);
      upper_.push_back(bounded ? upper : lower + (n == 2 ? 12 : 6));
      const std::string name = absl::StrCat("s", i);
      const Range range = {lower, bounded ? upper : Range::kMax};
      symbols_.push_back(env_.AddBacked(name, Source(), std::nullopt, range));
      absl::StrAppend(&text_, name, " in [", lower, ", ", bounded ? absl::StrCat(upper) : "inf",
                      "], ");
    }
  }

  // False: no point is left.
  bool LearnFacts() {
    std::vector<Tree> facts;
    for (int i = maker_.Roll(4); i > 0; --i) facts.push_back(maker_.Fact());
    Point v = lower_;
    for (bool more = true; more;) {
      bool all = true;
      for (const Tree& fact : facts) all = all && fact.At(v.data()).value_or(0) != 0;
      if (all) points_.push_back(v);
      more = false;
      for (size_t i = 0; i < v.size() && !more; ++i) {
        more = v[i] < upper_[i];
        v[i] = more ? v[i] + 1 : lower_[i];
      }
    }
    for (const Tree& fact : facts) {
      absl::StrAppend(&text_, fact.Text(), ", ");
      const Expr e = fact.Build(symbols_);
      if (e.IsOverflow()) return false;
      const absl::Status added = env_.AddFact(e);
      if (!added.ok()) {
        EXPECT_TRUE(points_.empty()) << text_ << " refused, holds at " << At(points_[0]);
        return false;
      }
    }
    return !points_.empty();
  }

  // 1: answered.
  int CheckClaim() {
    const Tree tree = maker_.Claim();
    const Expr e = tree.Build(symbols_);
    const bool yes = env_.IsKnownTrue(e), no = env_.IsKnownFalse(e);
    const Expr simple = env_.Simplify(e);
    for (const Point& v : points_) {
      const std::optional<int64_t> value = tree.At(v.data());
      if (!value) continue;
      const bool right = *value != 0 ? !no : !yes;
      EXPECT_TRUE(right) << text_ << "|- " << tree.Text() << " is " << *value << " at " << At(v)
                         << ", answered " << (yes ? "true" : "false");
      const absl::StatusOr<int64_t> other = ValueAt(simple, symbols_, v);
      EXPECT_TRUE(other.ok() && *other == *value)
          << text_ << "|- " << tree.Text() << " = " << *value << " at " << At(v) << " became "
          << ToString(simple);
      if (!right || !other.ok() || *other != *value) break;
    }
    return yes || no;
  }

  void CheckInteger() {
    const Tree tree = maker_.Integer(3);
    const Expr e = tree.Build(symbols_);
    const Range range = env_.RangeOf(e);
    const int64_t divisor = env_.KnownDivisor(e);
    const Expr simple = env_.Simplify(e);
    for (const Point& v : points_) {
      const std::optional<int64_t> value = tree.At(v.data());
      if (!value) continue;
      const std::string where =
          absl::StrCat(text_, "|- ", tree.Text(), " = ", *value, " at ", At(v));
      ASSERT_TRUE(range.Contains(*value)) << where << " [" << range.lower << ", " << range.upper;
      ASSERT_TRUE(divisor == 0 ? *value == 0 : *value % divisor == 0) << where << " by " << divisor;
      const absl::StatusOr<int64_t> other = ValueAt(simple, symbols_, v);
      ASSERT_TRUE(other.ok() && *other == *value) << where << " became " << ToString(simple);
    }
  }

 private:
  static std::string At(const Point& v) {
    std::string s = "(";
    for (const int64_t x : v) absl::StrAppend(&s, x, " ");
    return s + ")";
  }

  TreeMaker maker_;
  ShapeEnv env_;
  std::vector<Expr> symbols_;
  Point lower_, upper_;
  std::vector<Point> points_;
  std::string text_;
};

TEST(Soundness, NothingFalseIsProved) {
  const int64_t pairs = FromEnvironment("LATHE_SOUNDNESS_PAIRS", 4000);
  uint64_t seed = 1000003 * static_cast<uint64_t>(FromEnvironment("LATHE_FUZZ_SEED", 1));
  int64_t asked = 0, answered = 0;
  while (asked < pairs) {
    Round round(++seed);
    if (!round.LearnFacts()) continue;
    for (int i = 0; i < 12; ++i, ++asked) answered += round.CheckClaim();
    for (int i = 0; i < 4; ++i) round.CheckInteger();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  std::printf("%ld pairs, %ld answered\n", static_cast<long>(asked), static_cast<long>(answered));
  EXPECT_GT(answered, asked / 5);
}

// The shapes of operands that some rule looks for.
std::vector<Tree> Patterns() {
  const Tree x = Tree::Symbol(0), y = Tree::Symbol(1);
  const auto c = [](int64_t v) { return Tree::Const(v); };
  const auto of = [](Op op, const Tree& a, const Tree& b) { return Tree::Of(op, a, b); };
  const Tree half = of(Op::kFloorDiv, x, c(2)), third = of(Op::kMod, x, c(3));
  return {
      c(-4),
      c(-1),
      c(0),
      c(1),
      c(2),
      c(3),
      c(4),
      c(6),
      x,
      y,
      of(Op::kMul, c(-1), x),
      of(Op::kMul, c(2), x),
      of(Op::kMul, c(6), x),
      of(Op::kAdd, x, c(1)),
      of(Op::kSub, c(3), x),
      of(Op::kAdd, of(Op::kMul, c(4), x), c(2)),
      of(Op::kAdd, x, y),
      of(Op::kSub, x, y),
      of(Op::kAdd, of(Op::kMul, c(4), x), y),
      of(Op::kMul, x, y),
      of(Op::kMul, x, x),
      of(Op::kMul, c(6), of(Op::kMul, x, y)),
      half,
      third,
      of(Op::kMul, c(2), half),
      of(Op::kAdd, half, c(1)),
      of(Op::kMod, half, c(3)),
      of(Op::kMul, c(2), third),
      of(Op::kAdd, of(Op::kMul, c(4), third), c(1)),
      of(Op::kMod, of(Op::kAdd, x, y), c(4)),
      of(Op::kFloorDiv, of(Op::kSub, y, x), c(4)),
      of(Op::kCeilDiv, x, c(4)),
      of(Op::kMod, of(Op::kMul, c(-1), x), c(6)),
      of(Op::kFloorDiv, x, y),
      of(Op::kMod, x, y),
      of(Op::kTruncDiv, x, c(3)),
      of(Op::kTruncMod, x, c(4)),
      of(Op::kMin, x, c(3)),
      of(Op::kMax, x, y),
      of(Op::kMin, of(Op::kMax, x, c(0)), y),
      Tree::Of(Op::kAbs, x),
      Tree::Of(Op::kAbs, of(Op::kSub, x, y)),
      of(Op::kBitAnd, x, c(7)),
      of(Op::kBitXor, x, y),
      Tree::Where(of(Op::kLt, x, y), x, y),
      Tree::Where(of(Op::kEq, x, c(0)), c(1), half),
  };
}

std::vector<Tree> ConditionPatterns() {
  const Tree x = Tree::Symbol(0), y = Tree::Symbol(1);
  const auto c = [](int64_t v) { return Tree::Const(v); };
  const auto of = [](Op op, const Tree& a, const Tree& b) { return Tree::Of(op, a, b); };
  std::vector<Tree> result = {of(Op::kEq, x, c(2)),
                              of(Op::kNe, x, c(2)),
                              of(Op::kLt, x, y),
                              of(Op::kLe, y, x),
                              of(Op::kLe, x, c(2)),
                              of(Op::kLt, c(2), x),
                              of(Op::kEq, of(Op::kMod, x, c(3)), c(1)),
                              of(Op::kEq, x, x),
                              of(Op::kEq, x, y),
                              of(Op::kLt, x, x)};
  const size_t n = result.size();
  for (size_t i = 0; i < n; ++i) {
    result.push_back(Tree::Of(Op::kNot, result[i]));
    result.push_back(of(Op::kAnd, result[i], result[(i + 3) % n]));
    result.push_back(of(Op::kOr, result[i], result[(i + 4) % n]));
  }
  return result;
}

class Rules : public testing::Test {
 protected:
  // The simplified expression has the tree's value wherever that has one.
  void Check(const Tree& tree, int64_t low, int64_t high) {
    const Expr e = tree.Build(symbols_);
    ++checked_;
    for (int64_t x = low; x <= high; ++x) {
      for (int64_t y = low; y <= high; ++y) {
        const Point v = {x, y};
        const std::optional<int64_t> expected = tree.At(v.data());
        if (!expected) continue;
        const absl::StatusOr<int64_t> value = ValueAt(e, symbols_, v);
        ASSERT_TRUE(value.ok() && *value == *expected)
            << tree.Text() << " became " << ToString(e) << " at " << x << ", " << y;
        ASSERT_TRUE(e.node() == nullptr || IntrinsicRange(e).Contains(*value)) << tree.Text();
      }
    }
  }
  ExprContext context_;
  std::vector<Expr> symbols_ = {context_.Symbol("s0"), context_.Symbol("s1")};
  int64_t checked_ = 0;
};

TEST_F(Rules, HoldForAllSmallValuesOfIntegers) {
  const std::vector<Tree> patterns = Patterns();
  for (int op = static_cast<int>(Op::kAdd); op <= static_cast<int>(Op::kLe); ++op) {
    if (op == static_cast<int>(Op::kAbs) || op == static_cast<int>(Op::kWhere)) continue;
    for (const Tree& a : patterns) {
      for (const Tree& b : patterns) {
        Check(Tree::Of(static_cast<Op>(op), a, b), -4, 4);
        if (HasFailure()) return;
      }
    }
  }
  for (const Tree& a : patterns) Check(Tree::Of(Op::kAbs, a), -9, 9);
  EXPECT_GT(checked_, 30000);
}

TEST_F(Rules, HoldForAllSmallValuesOfConditions) {
  const std::vector<Tree> conditions = ConditionPatterns();
  const std::vector<Tree> patterns = Patterns();
  for (const Tree& a : conditions) {
    Check(Tree::Of(Op::kNot, a), -4, 6);
    for (const Tree& b : conditions) {
      for (const Op op : {Op::kAnd, Op::kOr, Op::kEq, Op::kNe, Op::kLt, Op::kAdd}) {
        Check(Tree::Of(op, a, b), -2, 4);
      }
      if (HasFailure()) return;
    }
    for (size_t i = 0; i < patterns.size(); ++i) {
      Check(Tree::Where(a, patterns[i], patterns[(i * 7 + 3) % patterns.size()]), -3, 4);
    }
  }
}

// A rule of one operation on the result of another, by each small constant.
TEST_F(Rules, HoldForNestedDivisionsByConstants) {
  const Op ops[] = {Op::kFloorDiv, Op::kMod, Op::kCeilDiv, Op::kTruncDiv, Op::kTruncMod};
  const Tree x = Tree::Symbol(0), y = Tree::Symbol(1);
  const int64_t constants[] = {-6, -3, -2, -1, 1, 2, 3, 4, 6, 8, 12};
  for (const Op inner : ops) {
    for (const Op outer : ops) {
      for (const int64_t c : constants) {
        for (const int64_t d : constants) {
          for (const int64_t k : {1, 5}) {
            Tree e = Tree::Of(inner, Tree::Of(Op::kAdd, x, Tree::Const(k)), Tree::Const(c));
            if (k == 5) e = Tree::Of(Op::kAdd, Tree::Of(Op::kMul, Tree::Const(2), e), y);
            Check(Tree::Of(outer, e, Tree::Const(d)), -6, 5);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace lathe::symbolic
