// Writing to a tensor that has several elements at one place: every tier refuses in the same words,
// and accepts where every element gets the same value. What is returned of a changed input has that
// input's layout.

#include "ir/ops/written_targets.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "ir/reference/conform.h"
#include "tests/kernels/run_text.h"

namespace lathe {
namespace {

constexpr Tier kTiers[] = {Tier::kTile, Tier::kNative, Tier::kReference};

TEST(WrittenTargets, ThatAreExpandedAreRefused) {
  for (const char* call :
       {"aten.add_.Scalar(%e, 1)", "aten.mul_.Tensor(%e, %x)", "aten.copy_(%e, %x)",
        "aten.relu_(%e)", "aten.index_fill_.int_Scalar(%e, 0, %i, 1)"}) {
    const std::string text = std::string(
                                 "graph @f(%x: f32[1, 3], %i: i64[1]) {"
                                 " %e = aten.expand(%x, [2, 3]) %y = ") +
                             call + " return %y }";
    for (Tier tier : kTiers) {
      const absl::Status status =
          RunText(text, tier, {Ones({1, 3}), Tensor::Zeros(DType::kI64, {1})}).status();
      EXPECT_EQ(ExitCode(status), 2) << call << " on " << TierName(tier) << ": " << status;
      EXPECT_TRUE(absl::StrContains(status.message(), kOverlappingTarget)) << status;
    }
  }
}

TEST(WrittenTargets, MayBeFilled) {
  for (Tier tier : kTiers) {
    const Tensor x = Ones({1, 3});
    const auto result = RunText(
        "graph @f(%x: f32[1, 3]) { %e = aten.expand(%x, [2, 3]) %y = aten.fill_.Scalar(%e, 7)"
        " return %y }",
        tier, {x});
    ASSERT_TRUE(result.ok()) << TierName(tier) << ": " << result.status();
    EXPECT_EQ(CompareTensors(x, Filled(DType::kF32, {1, 3}, Scalar(7)), true), "")
        << TierName(tier);
  }
}

// A view of some of an input whose elements have gaps between them.
TEST(WrittenTargets, ViewsOfThemHaveTheInputsLayout) {
  for (const char* view :
       {"aten.select.int(%x, 1, 1)", "aten.slice.Tensor(%x, 0, 1, 3)", "aten.permute(%x, [1, 0])",
        "aten.unsqueeze(%x, 0)", "aten.diagonal(%x)"}) {
    const std::string text =
        std::string("graph @f(%x: f32[3, 4]{16, 2}) { %z = aten.add_.Scalar(%x, 1) %y = ") + view +
        " return %y }";
    const auto run = [&](Tier tier) {
      const Tensor storage = Counted(DType::kF32, {64});
      const Tensor x = storage.AsStrided({3, 4}, {16, 2}, 0);
      const auto result = RunText(text, tier, {x});
      EXPECT_TRUE(result.ok()) << view << " on " << TierName(tier) << ": " << result.status();
      const Tensor y = result.ok() ? std::get<Tensor>((*result)[0]) : Tensor();
      if (y.is_defined()) {
        EXPECT_EQ(y.storage()->data(), storage.data()) << view;
      }
      return y;
    };
    const Tensor expected = run(Tier::kReference);
    for (Tier tier : {Tier::kTile, Tier::kNative}) {
      const Tensor actual = run(tier);
      ASSERT_TRUE(actual.is_defined() && expected.is_defined());
      EXPECT_EQ(CompareTensors(actual, expected, true), "") << view << " on " << TierName(tier);
      EXPECT_EQ(actual.offset(), expected.offset()) << view;
    }
  }
}

}  // namespace
}  // namespace lathe
