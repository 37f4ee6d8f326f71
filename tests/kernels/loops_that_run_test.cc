// while_loop on every tier: the number of turns is known only while running.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/kernels/run_text.h"

namespace lathe {
namespace {

// The results of the program, the same bits on both compiled tiers and near the reference's, whose
// sums have an order of their own.
std::vector<Tensor> OnAllTiers(const std::string& text, const std::vector<RunValue>& inputs) {
  std::vector<Tensor> first;
  for (const Tier tier : {Tier::kTile, Tier::kNative, Tier::kReference}) {
    absl::StatusOr<std::vector<RunValue>> results = RunText(text, tier, inputs);
    EXPECT_TRUE(results.ok()) << results.status();
    if (!results.ok()) return {};
    std::vector<Tensor> tensors;
    for (const RunValue& value : *results) tensors.push_back(std::get<Tensor>(value));
    if (first.empty()) first = tensors;
    for (size_t k = 0; k < tensors.size(); ++k) {
      EXPECT_EQ(tensors[k].sizes(), first[k].sizes());
      for (int64_t at = 0; at < tensors[k].numel(); ++at) {
        const Scalar value = tensors[k].AtLinear(at), wanted = first[k].AtLinear(at);
        if (tier == Tier::kReference) {
          EXPECT_FLOAT_EQ(value.ToDouble(), wanted.ToDouble()) << "result " << k << ", " << at;
        } else {
          EXPECT_TRUE(value.Identical(wanted)) << "result " << k << ", element " << at;
        }
      }
    }
  }
  return first;
}

constexpr char kGraphs[] = R"(
graph @main(%x: f32[s0, 3], %n: i64[], %w: f32[3]) where 1 <= s0 {
  %zero = aten.full([], 0, dtype=i64)
  %e = aten.neg(%x)
  %i, %y = while_loop(@below, @turn, [%zero, %e], [%n, %w])
  %s = aten.sum.dim_IntList(%y, [1])
  %d = aten.exp(%x)
  return %i, %y, %s, %d
}
graph @below(%i: i64[], %y: f32[s0, 3], %n: i64[], %w: f32[3]) {
  %c = aten.lt.Tensor(%i, %n)
  return %c
}
graph @turn(%i: i64[], %y: f32[s0, 3], %n: i64[], %w: f32[3]) {
  %j = aten.add.Scalar(%i, 1)
  %a = aten.mul.Tensor(%y, %w)
  %z = aten.add.Scalar(%a, 1)
  return %j, %z
})";

TEST(Loops, TurnAsOftenAsTheirConditionHolds) {
  for (const int64_t turns : {0, 1, 2, 7}) {
    const Tensor x = Counted(DType::kF32, {4, 3}), w = Counted(DType::kF32, {3}, 0.5, 0.25);
    const std::vector<Tensor> results =
        OnAllTiers(kGraphs, {x, Filled(DType::kI64, {}, Scalar(turns)), w});
    ASSERT_EQ(results.size(), 4u);
    EXPECT_EQ(results[0].AtLinear(0).ToInt(), turns);
    for (int64_t k = 0; k < 12; ++k) {
      float y = -static_cast<float>(k);
      for (int64_t turn = 0; turn < turns; ++turn) {
        y = y * static_cast<float>(0.5 + 0.25 * static_cast<double>(k % 3)) + 1;
      }
      EXPECT_EQ(results[1].AtLinear(k).ToDouble(), y) << turns << " turns, element " << k;
      EXPECT_FLOAT_EQ(results[3].AtLinear(k).ToDouble(), std::exp(static_cast<float>(k)));
    }
  }
}

// The body gives its square transposed, and what it was given besides.
constexpr char kTurned[] = R"(
graph @main(%x: f32[3, 3], %n: i64[], %b: f32[2]) {
  %zero = aten.full([], 0, dtype=i64)
  %k = aten.neg(%b)
  %m = aten.exp(%b)
  %i, %y, %l = while_loop(@below, @turn, [%zero, %x, %k], [%n, %m])
  %r = aten.mul.Scalar(%y, 2)
  return %y, %r, %l, %k
}
graph @below(%i: i64[], %y: f32[3, 3], %k: f32[2], %n: i64[], %b: f32[2]) {
  %c = aten.lt.Tensor(%i, %n)
  return %c
}
graph @turn(%i: i64[], %y: f32[3, 3], %k: f32[2], %n: i64[], %b: f32[2]) {
  %j = aten.add.Scalar(%i, 1)
  %a = aten.add.Scalar(%y, 1)
  %t = aten.permute(%a, [1, 0])
  return %j, %t, %b
})";

TEST(Loops, KeepLayoutsAndWhatTheyPassOn) {
  for (const int64_t turns : {0, 1, 2, 3}) {
    const Tensor x = Counted(DType::kF32, {3, 3});
    const std::vector<Tensor> results =
        OnAllTiers(kTurned, {x, Filled(DType::kI64, {}, Scalar(turns)), Ones({2})});
    ASSERT_EQ(results.size(), 4u);
    for (int64_t k = 0; k < 9; ++k) {
      const int64_t from = turns % 2 == 0 ? k : k % 3 * 3 + k / 3;
      EXPECT_EQ(results[0].AtLinear(k).ToInt(), from + turns);
      EXPECT_EQ(results[1].AtLinear(k).ToInt(), 2 * (from + turns));
    }
    EXPECT_FLOAT_EQ(results[2].AtLinear(1).ToDouble(), turns == 0 ? -1 : std::exp(1.0f));
    EXPECT_EQ(results[3].AtLinear(1).ToDouble(), -1);
  }
}

// Nothing that is written later changes what a loop gave, also without a turn.
TEST(Loops, GiveResultsOfTheirOwn) {
  const std::string text = R"(
graph @main(%x: f32[2], %n: i64[]) {
  %zero = aten.full([], 0, dtype=i64)
  %c = aten.clone(%x)
  %i, %y = while_loop(@below, @turn, [%zero, %c], [%n])
  %m = aten.mul_.Scalar(%c, 2)
  %r = aten.add_.Scalar(%y, 100)
  return %y, %c
}
graph @below(%i: i64[], %y: f32[2], %n: i64[]) {
  %c = aten.lt.Tensor(%i, %n)
  return %c
}
graph @turn(%i: i64[], %y: f32[2], %n: i64[]) {
  %j = aten.add.Scalar(%i, 1)
  %z = aten.add.Scalar(%y, 1)
  return %j, %z
})";
  for (const int64_t turns : {0, 2}) {
    const std::vector<Tensor> results =
        OnAllTiers(text, {Ones({2}), Filled(DType::kI64, {}, Scalar(turns))});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_EQ(results[0].AtLinear(0).ToInt(), 101 + turns);
    EXPECT_EQ(results[1].AtLinear(0).ToInt(), 2);
  }
}

TEST(Loops, AreRefusedWhereTheBodyChangesWhatIsCarried) {
  const std::string text = R"(
graph @main(%x: f32[3]) {
  %y = while_loop(@always, @grow, [%x])
  return %y
}
graph @always(%y: f32[3]) {
  %c = aten.full([], true, dtype=bool)
  return %c
}
graph @grow(%y: f32[3]) {
  %z = aten.cat([%y, %y])
  return %z
})";
  const absl::StatusOr<std::vector<RunValue>> result = RunText(text, Tier::kTile, {Ones({3})});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(
      std::string(result.status().message()),
      testing::HasSubstr("while_loop: carried value 0 is f32[3], its body makes it f32[6]"));
}

}  // namespace
}  // namespace lathe
