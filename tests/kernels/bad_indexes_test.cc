// Indexes from data that name no place: every tier accepts and refuses the same ones, as eager
// does.

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "ir/reference/conform.h"
#include "tests/kernels/run_text.h"

namespace lathe {
namespace {

struct Case {
  const char* call;
  bool wraps;  // -size..-1 count from the end
};

// x has three rows.
constexpr Case kCases[] = {
    {"aten.index_select(%x, 0, %i)", false},
    {"aten.gather(%x, 0, %j)", false},
    {"aten.take(%x, %k)", true},
    {"aten.embedding(%x, %i)", false},
    {"aten.index.Tensor(%x, [%i])", true},
    {"aten.take_along_dim(%x, %j, 0)", false},
    {"aten.index_add(%x, 0, %i, %y)", false},
    {"aten.index_copy(%x, 0, %i, %y)", false},
    {"aten.index_fill.int_Scalar(%x, 0, %i, 1)", true},
    {"aten.scatter.src(%x, 0, %j, %y)", false},
    {"aten.scatter.value(%x, 0, %j, 2.0)", false},
    {"aten.scatter_add(%x, 0, %j, %y)", false},
    {"aten.scatter_reduce.two(%x, 0, %j, %y, \"amax\")", false},
    {"aten.index_put(%x, [%i], %y)", true},
    {"aten.put(%x, %k, %z)", true},
};

std::string TextOf(const Case& c) {
  return absl::StrCat(
      "graph @f(%x: f32[s0, 2], %i: i64[1], %j: i64[1, 2], %k: i64[1], "
      "%y: f32[1, 2], %z: f32[1]) { %a = ",
      c.call, " return %a }");
}

std::vector<RunValue> Inputs(int64_t index) {
  // take and put see six places.
  const int64_t flat = index >= 3 ? index + 3 : index < -3 ? index - 3 : index;
  return {Counted(DType::kF32, {3, 2}),
          Filled(DType::kI64, {1}, Scalar(index)),
          Filled(DType::kI64, {1, 2}, Scalar(index)),
          Filled(DType::kI64, {1}, Scalar(flat)),
          Counted(DType::kF32, {1, 2}, 10),
          Ones({1})};
}

void Check(const Case& c, Tier tier) {
  for (int64_t index : {int64_t{0}, int64_t{2}, int64_t{3}, int64_t{-1}, int64_t{-3}, int64_t{-4},
                        INT64_MAX - 8, INT64_MIN + 8}) {
    const bool is_good = index >= (c.wraps ? -3 : 0) && index < 3;
    const auto result = RunText(TextOf(c), tier, Inputs(index));
    EXPECT_EQ(ExitCode(result.status()), is_good ? 0 : 2)
        << c.call << " of " << index << " on " << TierName(tier) << ": " << result.status();
    if (!result.ok() || !is_good) continue;
    const auto expected = RunText(TextOf(c), Tier::kReference, Inputs(index));
    ASSERT_TRUE(expected.ok()) << expected.status();
    EXPECT_EQ(
        CompareTensors(std::get<Tensor>((*result)[0]), std::get<Tensor>((*expected)[0]), true), "")
        << c.call << " of " << index << " on " << TierName(tier);
  }
}

TEST(BadIndexes, OnTheReference) {
  for (const Case& c : kCases) Check(c, Tier::kReference);
}
TEST(BadIndexes, OnTiles) {
  for (const Case& c : kCases) Check(c, Tier::kTile);
}
TEST(BadIndexes, OnNativeKernels) {
  for (const Case& c : kCases) Check(c, Tier::kNative);
}

// Every size open: results may be large enough for the ways of large results.
TEST(BadIndexes, WithEverySizeOpen) {
  const std::string text =
      "graph @f(%x: f32[s0, s3], %i: i64[s1, s2]) { %y = aten.gather(%x, 0, %i)"
      " %z = aten.take_along_dim(%y, %i, 0) return %y, %z }";
  Tensor index = Filled(DType::kI64, {2, 3}, Scalar(int64_t{1}));
  for (Tier tier : {Tier::kReference, Tier::kTile, Tier::kNative}) {
    index.SetLinear(4, Scalar(int64_t{0}));
    const auto result = RunText(text, tier, {Counted(DType::kF32, {4, 3}), index});
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(std::get<Tensor>((*result)[0]).AtLinear(3).ToDouble(), 3);
    EXPECT_EQ(std::get<Tensor>((*result)[0]).AtLinear(4).ToDouble(), 1);
    index.SetLinear(4, Scalar(int64_t{4}));
    const auto refused = RunText(text, tier, {Counted(DType::kF32, {4, 3}), index});
    EXPECT_EQ(ExitCode(refused.status()), 2) << refused.status();
  }
}

}  // namespace
}  // namespace lathe
