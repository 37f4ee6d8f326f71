// Faults that public reports describe in compilers of this kind, on what this library can express.
// Each test is named after its case.

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "symbolic/evaluate.h"
#include "symbolic/guard_predicate.h"
#include "symbolic/parser.h"
#include "symbolic/shape_env.h"
#include "symbolic/shape_rules.h"

namespace lathe::symbolic {
namespace {

const Asker kAsker = {"%op", "m.py:1"};

Expr Parse(absl::string_view text, ExprContext& context) {
  const absl::StatusOr<Expr> e = ParseExpr(text, context);
  EXPECT_TRUE(e.ok()) << text << ": " << e.status();
  return e.value_or(Expr::Overflow());
}

std::vector<int64_t> Values(const Expr& e, const std::vector<int64_t>& at) {
  std::vector<int64_t> values;
  for (const int64_t x : at) {
    values.push_back(*Evaluate(e, [&](const Expr&) { return std::optional<int64_t>(x); }));
  }
  return values;
}

class FaultCases : public testing::Test {
 protected:
  Expr Size(int input, int dimension, int64_t example, bool zero_one = false) {
    return *env_.BindInput(Source::InputSize(input, dimension), example,
                           {DimPolicy::kDynamic, zero_one, {0, Range::kMax}});
  }
  ShapeEnv env_{std::make_shared<ExprContext>()};
};

TEST_F(FaultCases, B121_RemainderOfAQuotientAndARemainder) {
  const Expr e = Parse("(4*((x//32) % 4) + (x % 32)//8) % 32", env_.context());
  EXPECT_EQ(Values(e, {64, 32, 100, 127}), (std::vector<int64_t>{8, 4, 12, 15}));
  env_.AddBacked("x", Source(), std::nullopt, {0, 127});
  EXPECT_EQ(Values(env_.Simplify(e), {64, 32, 100, 127}), (std::vector<int64_t>{8, 4, 12, 15}));
}

TEST_F(FaultCases, B123_DivideThenMultiplyDoesNotCancel) {
  const Expr e = Parse("((i % 12)//3*3) % 6", env_.context());
  EXPECT_EQ(Values(e, {0, 1, 2, 3, 4, 5, 6, 7}), (std::vector<int64_t>{0, 0, 0, 3, 3, 3, 0, 0}));
  env_.AddBacked("i", Source(), std::nullopt, {0, 7});
  EXPECT_EQ(Values(env_.Simplify(e), {0, 1, 2, 3, 4, 5, 6, 7}),
            (std::vector<int64_t>{0, 0, 0, 3, 3, 3, 0, 0}));
  EXPECT_FALSE(env_.IsKnownTrue(Eq(e, Parse("i % 6", env_.context()))));
}

TEST_F(FaultCases, B125_BoundsAreWiderThanTheValuesTheyBound) {
  EXPECT_EQ(CeilDiv(24, 10), Expr(3));
  EXPECT_EQ(CeilDiv(-24, 10), Expr(-2));
  EXPECT_EQ(CeilDiv(int64_t{-2147483648}, 10), Expr(-214748364));
  EXPECT_EQ(CeilDiv(INT64_MIN + 1, 10), Expr(INT64_MIN / 10));
  const Expr x = env_.AddBacked("x", Source(), std::nullopt, {INT64_MIN + 1, INT64_MAX - 1});
  const Range r = env_.RangeOf(CeilDiv(x, 10));
  EXPECT_TRUE(r.Contains((INT64_MIN + 1) / 10) && r.Contains((INT64_MAX - 1) / 10 + 1));
  EXPECT_FALSE(env_.IsKnownTrue(Le(x, x * 2)));
  EXPECT_FALSE(env_.IsKnownTrue(Lt(0, x * x)));
  EXPECT_TRUE(env_.RangeOf(x * x).Contains(INT64_MAX));
}

TEST_F(FaultCases, B127_DivisibilityIsNoProofOfOrder) {
  const Expr s0 = env_.AddBacked("s0", Source(), std::nullopt, {0, Range::kMax});
  const Expr s1 = env_.AddBacked("s1", Source(), std::nullopt, {6, 6});
  ASSERT_TRUE(env_.AddFact(Eq(Mod(s0, s1), 0)).ok());
  const Expr smaller = Min(s0, s1);
  EXPECT_FALSE(env_.IsKnownTrue(Le(6, s0)));
  EXPECT_FALSE(env_.IsKnownEqual(smaller, 6));
  EXPECT_EQ(Values(Substitute(smaller, {{s1, Expr(6)}}, env_.context()), {0, 12}),
            (std::vector<int64_t>{0, 6}));
}

TEST_F(FaultCases, B129_ADataDependentSizeMayBeZeroOrOne) {
  const Expr u0 = env_.FreshUnbacked(Source::Item("%nonzero"), {0, 1});
  // (nz*nz).shape: equal sizes broadcast without a question.
  EXPECT_EQ(*BroadcastSizes(env_, {u0, 2}, {u0, 2}, kAsker), (std::vector<Expr>{u0, 2}));
  // nz[:-1].shape: no guess that u0 is at least 1.
  const Expr length = SliceLength(env_, u0, 0, -1, 1);
  EXPECT_EQ(Values(length, {0, 1}), (std::vector<int64_t>{0, 0}));
  EXPECT_TRUE(env_.IsKnownEqual(length, 0));
  EXPECT_FALSE(env_.IsKnownTrue(Le(1, u0)));
  // ones(u) with u of any value: its size is taken as it is.
  const Expr u1 = env_.FreshUnbacked(Source::Item("%item"), {0, Range::kMax});
  EXPECT_FALSE(env_.TrueOrDefault(Eq(u1, 0), false, kAsker));
  EXPECT_TRUE(env_.guards().empty() && env_.assertions().empty());
}

TEST_F(FaultCases, B131_ASizeUsedAsANumberStaysASymbol) {
  const Expr s = Size(0, 0, 4), numel = s * 3;
  // a.shape[0] * a * b summed over ones: s * numel
  EXPECT_EQ(Values(s * numel, {4, 8}), (std::vector<int64_t>{48, 192}));
  EXPECT_TRUE(env_.guards().empty());
}

TEST_F(FaultCases, B141_AssertionsOfDataDependentSizes) {
  const Expr s = Size(0, 0, 1);
  const Expr u = env_.FreshUnbacked(Source::Item("%item"), {Range::kMin, Range::kMax});
  ASSERT_TRUE(env_.Check(Lt(1, u), kAsker, "u > 1").ok());
  ASSERT_TRUE(env_.Check(Eq(u * s, 5), kAsker, "u * len(a) == 5").ok());
  env_.MarkBound(u);
  const std::vector<Assertion> asserts = env_.TakeReadyAssertions();
  ASSERT_EQ(asserts.size(), 2u);
  const auto failure = [&](int64_t item, int64_t length) -> std::string {
    for (const Assertion& a : asserts) {
      const absl::StatusOr<int64_t> v = Evaluate(a.condition, [&](const Expr& e) {
        return std::optional<int64_t>(e == u ? item : length);
      });
      if (!v.ok() || *v == 0) return a.message;
    }
    return "";
  };
  EXPECT_EQ(failure(5, 1), "");
  EXPECT_EQ(failure(3, 2), "u * len(a) == 5");
  EXPECT_EQ(failure(1, 5), "u > 1");
  // ones(u) has 5 / len(a) elements: nothing contradicts.
  EXPECT_TRUE(env_.IsKnownTrue(Le(2, u)));
}

TEST_F(FaultCases, B143_AnotherStrideIsRefusedByName) {
  env_.BindStrides(0, {3, 2}, {4, 1});  // a slice of a wider tensor
  const std::vector<Source> layout = {Source::InputStride(0, 0), Source::InputStride(0, 1)};
  const absl::StatusOr<GuardPredicate> p = GuardPredicate::Compile(env_, layout);
  ASSERT_TRUE(p.ok()) << p.status();
  const int64_t sliced[] = {4, 1}, fresh[] = {2, 1};
  EXPECT_TRUE(p->Holds(sliced));
  EXPECT_FALSE(p->Holds(fresh));
  EXPECT_EQ(*p->Failure(fresh), "stride 0 of input 0 is 2, the program was made for 4");
}

// A program that was made for dynamic strides takes both.
TEST_F(FaultCases, B143_RelativeStridesTakeBoth) {
  const Expr rows = Size(0, 0, 3), row = Size(0, 1, 2);
  env_.BindStrides(0, {rows, row}, {2, 1});
  const std::vector<Source> layout = {Source::InputSize(0, 0), Source::InputSize(0, 1),
                                      Source::InputStride(0, 0), Source::InputStride(0, 1)};
  const absl::StatusOr<GuardPredicate> p = GuardPredicate::Compile(env_, layout);
  ASSERT_TRUE(p.ok()) << p.status();
  const int64_t a[] = {3, 2, 2, 1}, b[] = {5, 7, 7, 1}, sliced[] = {3, 2, 4, 1};
  EXPECT_TRUE(p->Holds(a) && p->Holds(b));
  EXPECT_FALSE(p->Holds(sliced));
}

}  // namespace
}  // namespace lathe::symbolic
