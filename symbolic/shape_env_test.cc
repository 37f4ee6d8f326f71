// ShapeEnv's symbols, guards, assertions and their reasons; what is compiled and kept of them.

#include "symbolic/shape_env.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "symbolic/automatic_dynamic.h"
#include "symbolic/explain.h"
#include "symbolic/guard_predicate.h"
#include "symbolic/shape_rules.h"

namespace lathe::symbolic {
namespace {

using Code = absl::StatusCode;

const Asker kAdd = {"%add", "m.py:3"};
const Asker kView = {"%view", "m.py:7"};

class ShapeEnvTest : public testing::Test {
 protected:
  Expr Size(int input, int dimension, int64_t example, DimChoice choice = {}) {
    const absl::StatusOr<Expr> e =
        env_.BindInput(Source::InputSize(input, dimension), example, choice);
    EXPECT_TRUE(e.ok()) << e.status();
    return e.value_or(Expr::Overflow());
  }
  Expr Unbacked(Range range = {0, Range::kMax}) {
    return env_.FreshUnbacked(Source::Item("%item"), range);
  }
  ShapeEnv env_{std::make_shared<ExprContext>()};
};

TEST_F(ShapeEnvTest, EqualExamplesAreOneSymbolUnlessAsked) {
  const DimChoice own = {DimPolicy::kDynamic, true, {0, Range::kMax}};
  const Expr a = Size(0, 0, 8), b = Size(0, 1, 8), c = Size(1, 0, 8, own), d = Size(1, 1, 9);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_NE(a, d);
  EXPECT_EQ(env_.RangeOf(a), (Range{2, Range::kMax}));
  EXPECT_EQ(env_.hint(c), 8);
  ASSERT_EQ(env_.bindings().size(), 4u);
  EXPECT_EQ(env_.bindings()[1].value, a);
}

TEST_F(ShapeEnvTest, ZeroAndOneAreAChoiceOfEachDimension) {
  const DimChoice open = {DimPolicy::kDynamic, false, {0, Range::kMax}};
  EXPECT_EQ(Size(0, 0, 1), Expr(1));
  EXPECT_EQ(Size(0, 1, 0), Expr(0));
  const Expr s = Size(0, 2, 1, open);
  EXPECT_TRUE(s.is_symbol());
  EXPECT_EQ(env_.RangeOf(s), (Range{0, Range::kMax}));
  EXPECT_EQ(Size(0, 3, 5, {DimPolicy::kStatic, true, {}}), Expr(5));
  const Expr u = Size(0, 4, 5, {DimPolicy::kUnbacked, true, {0, Range::kMax}});
  EXPECT_EQ(u.symbol_kind(), SymbolKind::kUnbacked);
  EXPECT_EQ(env_.BindInput(Source::InputSize(0, 5), 9, {DimPolicy::kDuck, true, {2, 8}})
                .status()
                .message(),
            "size 5 of input 0 is 9, outside of its range [2, 8]");
}

TEST_F(ShapeEnvTest, StridesFollowSizes) {
  const Expr a = Size(0, 0, 4), b = Size(0, 1, 6), c = Size(0, 2, 8);
  EXPECT_EQ(env_.BindStrides(0, {a, b, c}, {48, 8, 1}), (std::vector<Expr>{b * c, c, 1}));
  EXPECT_EQ(env_.BindStrides(1, {a, b, c}, {1, 32, 4}), (std::vector<Expr>{1, a * c, a}));
  EXPECT_EQ(env_.BindStrides(2, {a, b, c}, {0, 11, 1}), (std::vector<Expr>{0, 11, 1}));
}

TEST_F(ShapeEnvTest, ChecksGuardBackedAndAssertUnbacked) {
  const Expr s = Size(0, 0, 8), u = Unbacked(), v = Unbacked();
  EXPECT_TRUE(env_.Check(Le(s, 100), kAdd).ok());
  EXPECT_EQ(env_.guards().size(), 1u);
  EXPECT_TRUE(env_.Check(Lt(u, s), kAdd, "u must fit").ok());
  EXPECT_TRUE(env_.Check(Eq(v, u + 1), kView).ok());
  EXPECT_TRUE(env_.Check(Le(u, 200), kView).ok());  // follows: nothing is added
  ASSERT_EQ(env_.assertions().size(), 2u);
  EXPECT_EQ(env_.assertions()[0].message, "u must fit");
  EXPECT_EQ(env_.guards().size(), 1u);
  EXPECT_TRUE(env_.IsKnownTrue(Lt(u, 100)));
  EXPECT_TRUE(env_.TakeReadyAssertions().empty());
  env_.MarkBound(u);
  std::vector<Assertion> ready = env_.TakeReadyAssertions();
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready[0].condition, Lt(u, s));
  env_.MarkBound(v);
  ready = env_.TakeReadyAssertions();
  ASSERT_EQ(ready.size(), 1u);
  EXPECT_EQ(ready[0].condition, Eq(v, u + 1));
  EXPECT_TRUE(env_.TakeReadyAssertions().empty());
}

TEST_F(ShapeEnvTest, ChecksThatCannotHoldSaySo) {
  const Expr s = Size(0, 0, 8), u = Unbacked({0, 7});
  absl::Status status = env_.Check(Eq(s, 9), kAdd, "batch must be 9");
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "the check s0 == 9 fails for the example sizes: batch must be 9 (asked by %add at "
            "m.py:3)");
  status = env_.Check(Lt(8, u), kAdd);
  EXPECT_EQ(status.code(), Code::kOutOfRange);
  EXPECT_EQ(status.message(),
            "the check 9 <= u0 cannot hold; known: u0 in [0, 7] (asked by %add at m.py:3)");
}

TEST_F(ShapeEnvTest, FrozenMakesNoGuards) {
  const Expr s = Size(0, 0, 8);
  EXPECT_TRUE(*env_.GuardTrue(Lt(s, 16), kAdd));
  const int64_t version = env_.version();
  env_.Freeze();
  EXPECT_TRUE(*env_.GuardTrue(Lt(s, 20), kAdd));  // known
  const absl::Status status = env_.GuardTrue(Lt(s, 10), kView).status();
  EXPECT_EQ(status.code(), Code::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "the guard s0 <= 9 is needed, but no guards are made any more (asked by %view at "
            "m.py:7)");
  EXPECT_FALSE(env_.TrueOrDefault(Lt(s, 10), false, kView));
  EXPECT_EQ(env_.version(), version);
}

TEST_F(ShapeEnvTest, GuardsOnReplacedSymbolsNameBackedOnes) {
  const Expr s = Size(0, 0, 8), u = Unbacked();
  ASSERT_TRUE(env_.AddFact(Eq(u, s * 2), {"%cat", "m.py:5"}).ok());
  EXPECT_FALSE(*env_.GuardTrue(Eq(u, 20), kView));
  ASSERT_EQ(env_.guards().size(), 1u);
  EXPECT_EQ(env_.guards()[0].condition, Ne(s, 10));
  EXPECT_EQ(env_.guards()[0].asked, Ne(u, 20));
  EXPECT_EQ(ExplainGuard(env_, env_.guards()[0]).ToString(),
            "true:\n  u0 == 2*s0: precondition (asked by %cat at m.py:5)\n");
}

TEST_F(ShapeEnvTest, ProofsNameTheFewFactsThatForceAnAnswer) {
  const Expr a = Size(0, 0, 6), b = Size(1, 0, 7), c = Size(2, 0, 9);
  ASSERT_TRUE(env_.AddFact(Le(c, 50)).ok());
  ASSERT_TRUE(*env_.GuardTrue(Lt(a, b), kAdd));
  ASSERT_TRUE(*env_.GuardTrue(Lt(b, 8), kView));
  ASSERT_TRUE(*env_.GuardTrue(Le(6, a), kView));
  EXPECT_EQ(Explain(env_, Eq(a, 6)).ToString(),
            "true:\n"
            "  s0 < s1: guard (asked by %add at m.py:3)\n"
            "  s1 <= 7: guard (asked by %view at m.py:7)\n"
            "  6 <= s0: guard (asked by %view at m.py:7)\n");
  EXPECT_EQ(Explain(env_, Eq(c, 3)).ToString(), "unknown\n");
  const std::vector<ConstantSymbol> constants = ExplainConstants(env_);
  ASSERT_EQ(constants.size(), 2u);
  EXPECT_EQ(constants[1].symbol, b);
  EXPECT_EQ(constants[1].value, 7);
  EXPECT_EQ(ExplainConflict(env_, Le(60, c)).ToString(), "false:\n  s2 <= 50: precondition\n");
}

// ---- shape rules

TEST_F(ShapeEnvTest, BroadcastingTakesTheGeneralPath) {
  const Expr s = Size(0, 0, 8), u = Unbacked(), v = Unbacked();
  EXPECT_EQ(*BroadcastSizes(env_, {s, 1}, {4}, kAdd), (std::vector<Expr>{s, 4}));
  EXPECT_EQ(*BroadcastSize(env_, u, 1, kAdd), u);
  EXPECT_TRUE(env_.assertions().empty());
  EXPECT_EQ(*BroadcastSize(env_, u, v, kAdd), u);
  ASSERT_EQ(env_.assertions().size(), 1u);
  EXPECT_EQ(env_.assertions()[0].condition, Eq(u, v));
  const absl::Status bad = BroadcastSizes(env_, {s, 3}, {s, 4}, kAdd).status();
  EXPECT_EQ(bad.code(), Code::kInvalidArgument);
  EXPECT_EQ(bad.message().substr(0, 61),
            "sizes [s0, 3] and [s0, 4] do not broadcast at dimension 1: 3 ");
}

TEST_F(ShapeEnvTest, ReshapesCheckTheirElements) {
  const Expr s = Size(0, 0, 8), u = Unbacked();
  EXPECT_EQ(*ReshapeSizes(env_, {s, 6}, {3, -1}, kView), (std::vector<Expr>{3, s * 2}));
  EXPECT_TRUE(env_.guards().empty());
  EXPECT_EQ(*ReshapeSizes(env_, {u}, {-1, 4}, kView), (std::vector<Expr>{u / 4, 4}));
  ASSERT_EQ(env_.assertions().size(), 1u);
  EXPECT_EQ(env_.assertions()[0].condition, Eq(u % 4, 0));
  EXPECT_EQ(*ReshapeSizes(env_, {s, 5}, {5, -1}, kView), (std::vector<Expr>{5, s}));
  EXPECT_FALSE(ReshapeSizes(env_, {s, 5}, {7, -1}, kView).ok());
  EXPECT_FALSE(ReshapeSizes(env_, {s, 5}, {0, -1}, kView).ok());
  EXPECT_FALSE(ReshapeSizes(env_, {s, 5}, {-1, -1}, kView).ok());
}

TEST_F(ShapeEnvTest, MessagesOfShapeRulesSayWhatWasAsked) {
  const Expr u = Unbacked();
  EXPECT_EQ(ReshapeSizes(env_, {u}, {-1, 0}, {}).status().message(),
            "sizes [u0] do not reshape to [-1, 0]: the size of -1 could be anything");
  EXPECT_EQ(ReshapeSizes(env_, {6}, {-1, 4}, {}).status().message(),
            "sizes [6] do not reshape to [-1, 4]: 6 elements are no multiple of 4");
  EXPECT_EQ(ReshapeSizes(env_, {6}, {4}, {}).status().message(),
            "sizes [6] do not reshape to [4]: they have 6 and 4 elements");
  EXPECT_EQ(BroadcastSizes(env_, {0}, {3}, {}).status().message(),
            "sizes [0] and [3] do not broadcast at dimension 0: 0 and 3 differ, and neither is 1");
}

TEST_F(ShapeEnvTest, ContiguousStridesAreContiguous) {
  const Expr u = Unbacked();
  const std::vector<Expr> sizes = {4, u, 2};
  EXPECT_TRUE(IsContiguous(env_, sizes, ContiguousStrides(env_, sizes), kView));
  EXPECT_EQ(ViewStrides(env_, sizes, ContiguousStrides(env_, sizes), {8 * u}, kView),
            (std::vector<Expr>{1}));
}

// A name is of one number: who adds it for another one gets another symbol.
TEST_F(ShapeEnvTest, NamesThatClashAreTwoSymbols) {
  const Expr a = env_.AddBacked("s0", Source::InputSize(0, 0), 4, {0, 9});
  const Expr b = env_.AddBacked("s0", Source::InputSize(0, 1), 7, {5, 20});
  EXPECT_NE(a, b);
  EXPECT_EQ(env_.hint(a), 4);
  EXPECT_EQ(env_.hint(b), 7);
  EXPECT_EQ(env_.source(a), Source::InputSize(0, 0));
  EXPECT_EQ(env_.AddBacked("s0", Source::InputSize(0, 0), 4, {0, 9}), a);
}

TEST_F(ShapeEnvTest, AFailedCheckLeavesNothingBehind) {
  const Expr s = Size(0, 0, 4, {DimPolicy::kDynamic, true, {1, 6}}), u = Unbacked({-3, 3});
  ASSERT_TRUE(env_.Check(Eq(s, u + 2), kAdd).ok());
  EXPECT_EQ(env_.Check(Lt(u, 2), kView).code(), Code::kFailedPrecondition);
  EXPECT_TRUE(env_.guards().empty());
  EXPECT_EQ(env_.RangeOf(s), (Range{2, 5}));
  EXPECT_FALSE(env_.IsKnownTrue(Ge(s, 4)));
  EXPECT_TRUE(env_.Check(Lt(u, 3), kView).ok());
  EXPECT_EQ(env_.guards().size(), 1u);
}

TEST_F(ShapeEnvTest, RangesOfUnbackedInputsAreAsserted) {
  const Expr u = Size(0, 0, 5, {DimPolicy::kUnbacked, true, {2, 10}});
  EXPECT_TRUE(env_.IsKnownTrue(Ge(u, 2)));
  const std::vector<Assertion> ready = env_.TakeReadyAssertions();
  ASSERT_EQ(ready.size(), 2u);
  EXPECT_EQ(ready[0].condition, Le(2, u));
  EXPECT_EQ(ready[1].condition, Le(u, 10));
  Size(0, 1, 5, {DimPolicy::kUnbacked, true, {0, Range::kMax}});
  EXPECT_TRUE(env_.TakeReadyAssertions().empty());
  EXPECT_EQ(env_.BindInput(Source::InputSize(0, 2), 0, {DimPolicy::kUnbacked, true, {2, 10}})
                .status()
                .code(),
            Code::kOutOfRange);
}

TEST_F(ShapeEnvTest, ConstantsThatOnlyAProofShowsAreExplained) {
  const Expr s = Size(0, 0, 3), t = Size(0, 1, 5), r = Size(0, 2, 7);
  ASSERT_TRUE(*env_.GuardTrue(Eq(s * t, 15), kAdd));
  ASSERT_TRUE(*env_.GuardTrue(Lt(s, t), kView));
  ASSERT_TRUE(*env_.GuardTrue(Lt(r, 15), kView));
  const std::vector<ConstantSymbol> constants = ExplainConstants(env_);
  ASSERT_EQ(constants.size(), 2u);
  EXPECT_EQ(constants[0].symbol, s);
  EXPECT_EQ(constants[0].value, 3);
  EXPECT_FALSE(constants[0].proof.reasons.empty());
}

TEST_F(ShapeEnvTest, StridesOfViews) {
  const Expr s = Size(0, 0, 8), t = Size(0, 1, 6), u = Unbacked();
  EXPECT_EQ(ContiguousStrides(env_, {s, t, 4}), (std::vector<Expr>{4 * t, 4, 1}));
  EXPECT_EQ(ContiguousStrides(env_, {3, u}), (std::vector<Expr>{Max(u, 1), 1}));
  EXPECT_TRUE(IsContiguous(env_, {s, t}, {t, 1}, kView));
  EXPECT_TRUE(IsContiguous(env_, {s, 1}, {1, 77}, kView));
  EXPECT_TRUE(IsContiguous(env_, {3, u}, {Max(u, 1), 1}, kView));
  EXPECT_FALSE(IsContiguous(env_, {u, 4}, {1, u}, kView));
  EXPECT_TRUE(IsKnownDense(env_, {t, s}, {1, t}));
  EXPECT_FALSE(IsKnownDense(env_, {t, s}, {1, t + 1}));
  EXPECT_EQ(ViewStrides(env_, {s, t}, {t, 1}, {s * t}, kView), (std::vector<Expr>{1}));
  // Transposed: each dimension can be cut, the two cannot be joined.
  EXPECT_EQ(ViewStrides(env_, {t, 4, s}, {1, t, 4 * t}, {t, 2, 2, s}, kView),
            (std::vector<Expr>{1, 2 * t, t, 4 * t}));
  EXPECT_EQ(ViewStrides(env_, {t, s}, {1, t}, {t * s}, kView), std::nullopt);
  EXPECT_EQ(SliceLength(env_, s, 1, s, 1), s - 1);
  EXPECT_EQ(SliceLength(env_, s, 0, -1, 1), s - 1);
  EXPECT_EQ(SliceLength(env_, s, 0, s, 2), (s + 1) / 2);
}

// ---- predicates

std::vector<Source> Layout(int inputs, int rank) {
  std::vector<Source> layout;
  for (int i = 0; i < inputs; ++i) {
    for (int d = 0; d < rank; ++d) layout.push_back(Source::InputSize(i, d));
    for (int d = 0; d < rank; ++d) layout.push_back(Source::InputStride(i, d));
  }
  return layout;
}

TEST_F(ShapeEnvTest, PredicatesCheckSizesStridesAndGuards) {
  const Expr a = Size(0, 0, 8), b = Size(0, 1, 6);
  env_.BindStrides(0, {a, b}, {6, 1});
  Size(1, 0, 8);
  Size(1, 1, 3, {DimPolicy::kStatic, true, {}});
  env_.BindStrides(1, {a, 3}, {3, 1});
  ASSERT_TRUE(*env_.GuardTrue(Lt(a, 100), kAdd));
  ASSERT_TRUE(*env_.GuardTrue(Lt(a, 50), kAdd));
  ASSERT_TRUE(*env_.GuardTrue(Eq(Mod(a * b, 4), 0), kView));
  const absl::StatusOr<GuardPredicate> p = GuardPredicate::Compile(env_, Layout(2, 2));
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->general_guards().size(), 1u);
  EXPECT_EQ(p->dropped_guards(), 2u);  // both are in the range of s0
  const auto why = [&](std::vector<int64_t> values) {
    const std::optional<std::string> failure = p->Failure(values.data());
    EXPECT_EQ(failure.has_value(), !p->Holds(values.data()));
    return failure.value_or("holds");
  };
  EXPECT_EQ(why({8, 6, 6, 1, 8, 3, 3, 1}), "holds");
  EXPECT_EQ(why({4, 9, 9, 1, 4, 3, 3, 1}), "holds");
  EXPECT_EQ(why({8, 6, 6, 1, 8, 4, 3, 1}), "size 1 of input 1 is 4, the program was made for 3");
  EXPECT_EQ(why({8, 6, 6, 1, 9, 3, 3, 1}),
            "size 0 of input 1 is 9, size 0 of input 0 is 8: the program was made for equal ones");
  EXPECT_EQ(why({8, 6, 7, 1, 8, 3, 3, 1}),
            "stride 0 of input 0 is 7, size 1 of input 0 is 6: the program was made for equal "
            "ones");
  EXPECT_EQ(why({60, 6, 6, 1, 60, 3, 3, 1}),
            "size 0 of input 0 is 60, the program was made for at least 2 and at most 49");
  EXPECT_EQ(why({7, 6, 6, 1, 7, 3, 3, 1}),
            "the guard s0*s1 % 4 == 0 does not hold (asked by %view at m.py:7)");
  EXPECT_EQ(GuardPredicate::Compile(env_, Layout(1, 2)).status().message(),
            "the program depends on size 0 of input 1, which is not among the packed values");
}

TEST_F(ShapeEnvTest, PredicatesOfUndefinedConditionsDoNotHold) {
  const DimChoice open = {DimPolicy::kDynamic, false, {0, Range::kMax}};
  const Expr a = Size(0, 0, 12, open), b = Size(0, 1, 4, open);
  ASSERT_TRUE(*env_.GuardTrue(Eq(a / b, 3), kAdd));
  const absl::StatusOr<GuardPredicate> p = GuardPredicate::Compile(env_, Layout(1, 2));
  ASSERT_TRUE(p.ok()) << p.status();
  const auto holds = [&](int64_t x, int64_t y) {
    const int64_t values[] = {x, y, 0, 0};
    return p->Holds(values);
  };
  EXPECT_TRUE(holds(12, 4));
  EXPECT_TRUE(holds(14, 4));
  EXPECT_FALSE(holds(16, 4));
  EXPECT_FALSE(holds(12, 0));
}

// Floats over sizes, as exported graphs compute output sizes with them.
TEST_F(ShapeEnvTest, PredicatesEvaluateFloats) {
  const Expr a = Size(0, 0, 12), b = Size(0, 1, 8);
  const Expr ratio = TrueDiv(a, b);  // 1.5
  ASSERT_TRUE(*env_.GuardTrue(Le(ratio, Expr::Float(1.5)), kAdd));
  ASSERT_TRUE(*env_.GuardTrue(Eq(env_.context().Make(ExprKind::kCeil, {ratio}), 2), kView));
  const Expr root = env_.context().Make(ExprKind::kSqrt, {a + 4});
  ASSERT_TRUE(*env_.GuardTrue(Lt(root * Expr::Float(2), Max(ToFloat(b), Expr::Float(9.5))), kAdd));
  const absl::StatusOr<GuardPredicate> p = GuardPredicate::Compile(env_, Layout(1, 2));
  ASSERT_TRUE(p.ok()) << p.status();
  EXPECT_EQ(p->general_guards().size(), 3u);
  for (int64_t x = 2; x < 40; ++x) {
    for (int64_t y = 2; y < 40; ++y) {
      const double q = static_cast<double>(x) / static_cast<double>(y);
      const bool expected = q <= 1.5 && std::ceil(q) == 2 &&
                            std::sqrt(x + 4.0) * 2 < std::max(static_cast<double>(y), 9.5);
      const int64_t values[] = {x, y, 0, 0};
      EXPECT_EQ(p->Holds(values), expected) << x << ", " << y;
    }
  }
  const int64_t bad[] = {16, 8, 0, 0};
  EXPECT_EQ(*p->Failure(bad), "the guard s0/s1 <= 1.5 does not hold (asked by %add at m.py:3)");
}

// A symbol without a place of its own is what a derived size says.
TEST_F(ShapeEnvTest, PredicatesSolveForDerivedSizes) {
  const Expr b = env_.AddBacked("b", Source(), 5, {2, 9});
  env_.Bind(Source::InputSize(0, 0), 2 * b + 1);
  ASSERT_TRUE(*env_.GuardTrue(Ne(b, 6), kAdd));
  const std::vector<Source> layout = {Source::InputSize(0, 0), Source::InputSize(1, 0)};
  const absl::StatusOr<GuardPredicate> alone =
      GuardPredicate::Compile(env_, absl::MakeConstSpan(layout).first(1));
  ASSERT_TRUE(alone.ok()) << alone.status();
  for (int64_t x = -3; x < 30; ++x) {
    const bool expected = x >= 5 && x <= 19 && x % 2 == 1 && x != 13;
    EXPECT_EQ(alone->Holds(&x), expected) << x;
    EXPECT_EQ(alone->Failure(&x).has_value(), !expected) << x;
  }
  const int64_t even = 12;
  EXPECT_EQ(*alone->Failure(&even), "size 0 of input 0 is 12, the program was made for 2*b + 1");
  env_.Bind(Source::InputSize(1, 0), b);
  const absl::StatusOr<GuardPredicate> both = GuardPredicate::Compile(env_, layout);
  ASSERT_TRUE(both.ok()) << both.status();
  for (int64_t x = 0; x < 24; ++x) {
    for (int64_t y = 0; y < 12; ++y) {
      const int64_t values[] = {x, y};
      EXPECT_EQ(both->Holds(values), x == 2 * y + 1 && y >= 2 && y <= 9 && y != 6) << x << y;
    }
  }
}

TEST_F(ShapeEnvTest, PredicatesHoldForTheirExampleBeyond64Bits) {
  const Expr a = Size(0, 0, int64_t{1} << 40), b = Size(0, 1, 8);
  ASSERT_TRUE(*env_.GuardTrue(Lt(5, a * a), kAdd));
  ASSERT_TRUE(*env_.GuardTrue(Lt(5 * b, a * a), kAdd));
  const absl::StatusOr<GuardPredicate> p = GuardPredicate::Compile(env_, Layout(1, 2));
  ASSERT_TRUE(p.ok()) << p.status();
  const int64_t example[] = {int64_t{1} << 40, 8, 0, 0}, other[] = {3, 8, 0, 0};
  EXPECT_TRUE(p->Holds(example)) << p->Failure(example).value_or("");
  EXPECT_FALSE(p->Holds(other));
}

TEST_F(ShapeEnvTest, PredicatesTakeLongSums) {
  std::vector<Expr> sizes;
  std::vector<Source> layout;
  for (int i = 0; i < 200; ++i) {
    sizes.push_back(Size(i, 0, 2 + i, {DimPolicy::kDynamic, true, {0, Range::kMax}}));
    layout.push_back(Source::InputSize(i, 0));
  }
  ASSERT_TRUE(*env_.GuardTrue(Lt(Sum(sizes), 40000), kAdd));
  const absl::StatusOr<GuardPredicate> p = GuardPredicate::Compile(env_, layout);
  ASSERT_TRUE(p.ok()) << p.status();
  std::vector<int64_t> values(200, 199);
  EXPECT_TRUE(p->Holds(values.data()));
  values[7] = 399;
  EXPECT_FALSE(p->Holds(values.data()));
}

// ---- automatic dynamic

TEST(AutomaticDynamicTest, ValuesBecomeDynamicWhenTheyChange) {
  AutomaticDynamic seen;
  EXPECT_EQ(seen.SizePolicy("x", 0), DimPolicy::kStatic);
  seen.ObserveTensor("x", {8, 64}, {64, 1});
  seen.ObserveScalar("n", 3);
  EXPECT_EQ(seen.SizePolicy("x", 0), DimPolicy::kStatic);
  seen.ObserveTensor("x", {16, 64}, {64, 1});
  seen.ObserveScalar("n", 4);
  EXPECT_EQ(seen.SizePolicy("x", 0), DimPolicy::kDuck);
  EXPECT_EQ(seen.SizePolicy("x", 1), DimPolicy::kStatic);
  EXPECT_EQ(seen.ScalarPolicy("n"), DimPolicy::kDynamic);
  seen.ObserveTensor("x", {16, 32}, {32, 1});  // still contiguous
  const std::string text = seen.Serialize();
  EXPECT_EQ(text.substr(0, text.find("end ")),
            "lathe automatic dynamic 2\nscalar n *\ntensor x sizes * * strides @1 1\n");
  EXPECT_EQ(seen.StridePolicy("x", 0), DimPolicy::kStatic);
  seen.ObserveTensor("x", {4}, {1});
  EXPECT_TRUE(seen.IsAnyRank("x"));
  EXPECT_EQ(seen.SizePolicy("x", 3), DimPolicy::kDuck);
  AutomaticDynamic strides;
  strides.ObserveTensor("y", {4, 4}, {4, 1});
  strides.ObserveTensor("y", {4, 4}, {8, 1});
  EXPECT_EQ(strides.StridePolicy("y", 0), DimPolicy::kDynamic);
  // Apart from a size that changes too: rows with padding.
  strides.ObserveTensor("rows", {4, 8}, {8, 1});
  strides.ObserveTensor("rows", {5, 8}, {16, 1});
  EXPECT_EQ(strides.StridePolicy("rows", 0), DimPolicy::kDynamic);
  EXPECT_EQ(strides.StridePolicy("rows", 1), DimPolicy::kStatic);
  // An empty one is contiguous too.
  strides.ObserveTensor("empty", {4, 3, 8}, {24, 8, 1});
  strides.ObserveTensor("empty", {4, 0, 8}, {8, 8, 1});
  EXPECT_EQ(strides.StridePolicy("empty", 0), DimPolicy::kStatic);
}

TEST(AutomaticDynamicTest, MergingIsAJoin) {
  std::vector<AutomaticDynamic> all;
  const std::vector<std::vector<int64_t>> sizes = {{8, 64}, {8, 32}, {1, 64}, {8}, {8, 64}};
  for (size_t i = 0; i < sizes.size(); ++i) {
    for (const int64_t first : {1, 64}) {
      AutomaticDynamic one;
      std::vector<int64_t> strides(sizes[i].size(), 1);
      if (strides.size() == 2) strides[0] = first;
      one.ObserveTensor(i % 2 == 0 ? "x" : "y", sizes[i], strides);
      if (i > 2) one.ObserveScalar("x", static_cast<int64_t>(i) * first);
      all.push_back(one);
    }
  }
  all.push_back({});
  const auto merged = [](AutomaticDynamic a, const AutomaticDynamic& b) {
    a.Merge(b);
    return a;
  };
  for (const AutomaticDynamic& a : all) {
    EXPECT_EQ(merged(a, a), a);
    for (const AutomaticDynamic& b : all) {
      EXPECT_EQ(merged(a, b), merged(b, a));
      for (const AutomaticDynamic& c : all) {
        ASSERT_EQ(merged(merged(a, b), c), merged(a, merged(b, c)));
        const AutomaticDynamic abc = merged(merged(a, b), c);
        const absl::StatusOr<AutomaticDynamic> back = AutomaticDynamic::Parse(abc.Serialize());
        ASSERT_TRUE(back.ok()) << back.status();
        ASSERT_EQ(*back, abc);
      }
    }
  }
}

TEST(AutomaticDynamicTest, PersistsToAFile) {
  const std::string path = testing::TempDir() + "/seen.txt";
  AutomaticDynamic seen;
  seen.ObserveTensor("L['a b'].x\n", {8, 64}, {64, 1});
  ASSERT_TRUE(seen.Save(path).ok());
  EXPECT_EQ(*AutomaticDynamic::Load(path), seen);
  EXPECT_EQ(AutomaticDynamic::Load(path + ".none").status().code(), Code::kNotFound);
  EXPECT_EQ(seen.Save(testing::TempDir()).code(), Code::kFailedPrecondition);
  std::remove(path.c_str());
}

TEST(AutomaticDynamicTest, WhatWasCutOrDamagedIsRefused) {
  AutomaticDynamic seen;
  seen.ObserveTensor("x", {128, 64}, {64, 1});
  seen.ObserveTensor("y", std::vector<int64_t>(65, 1), std::vector<int64_t>(65, 1));
  seen.ObserveScalar("n", 12345);
  const std::string text = seen.Serialize();
  ASSERT_TRUE(AutomaticDynamic::Parse(text).ok()) << AutomaticDynamic::Parse(text).status();
  EXPECT_EQ(*AutomaticDynamic::Parse(text), seen);
  for (size_t cut = 0; cut < text.size(); ++cut) {
    EXPECT_EQ(AutomaticDynamic::Parse(text.substr(0, cut)).status().code(), Code::kInvalidArgument);
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[cut] = static_cast<char>(flipped[cut] ^ (1 << bit));
      EXPECT_FALSE(AutomaticDynamic::Parse(flipped).ok()) << cut << ", " << bit;
    }
  }
  EXPECT_EQ(AutomaticDynamic::Parse("lathe automatic dynamic 1\nscalar n 3\n").status().message(),
            "line 1: expected 'lathe automatic dynamic 2', not 'lathe automatic dynamic 1'");
}

TEST(AutomaticDynamicTest, SeveralThreadsSaveToOnePath) {
  const std::string path = testing::TempDir() + "/raced.txt";
  AutomaticDynamic seen;
  for (int64_t i = 0; i < 40; ++i) seen.ObserveScalar(std::to_string(i), i);
  ASSERT_TRUE(seen.Save(path).ok());
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const bool saved = seen.Save(path).ok();
        const absl::StatusOr<AutomaticDynamic> loaded = AutomaticDynamic::Load(path);
        if (!saved || !loaded.ok() || !(*loaded == seen)) ++failed;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(failed, 0);
  std::remove(path.c_str());
}

TEST(SourceTest, KeysReadBack) {
  for (const Source& s :
       {Source(), Source::InputSize(1, 2), Source::InputStride(0, 3), Source::InputOffset(4),
        Source::InputScalar(5), Source::Item("%a:b"), Source::Attribute("self.x")}) {
    const absl::StatusOr<Source> back = Source::FromKey(s.Key());
    ASSERT_TRUE(back.ok()) << s.Key();
    EXPECT_EQ(*back, s);
  }
  for (const char* bad : {"", "size:1", "size:1:2:3", "size:-1:0", "offset:x", "what:1"}) {
    EXPECT_FALSE(Source::FromKey(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace lathe::symbolic
