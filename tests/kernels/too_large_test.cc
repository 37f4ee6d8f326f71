// What does not fit into memory, or into 64 bits, is refused with the node that wants it, on every
// tier; what only looks large runs.

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "runtime/tensor/available_memory.h"
#include "tests/kernels/run_text.h"

namespace lathe {
namespace {

constexpr Tier kTiers[] = {Tier::kTile, Tier::kNative, Tier::kReference};

void ExpectRefused(const std::string& text, const std::vector<RunValue>& inputs, const char* node) {
  for (Tier tier : kTiers) {
    const absl::Status status = RunText(text, tier, inputs).status();
    EXPECT_EQ(ExitCode(status), 2) << TierName(tier) << ": " << status;
    EXPECT_EQ(NodeOf(status), node) << TierName(tier) << ": " << Describe(status);
  }
}

TEST(TooLarge, ReductionsOverMoreThanThereIs) {
  ExpectRefused(
      "graph @f(%x: f32[]) { %e = aten.expand(%x, [1000000, 4000000000])"
      " %sum = aten.sum(%e) return %sum }",
      {Ones({})}, "%sum");
  ExpectRefused(
      "graph @f(%x: f32[1, s0], %n: int(s1)) { %e = aten.expand(%x, [s1, s0])"
      " %sum = aten.sum(%e) return %sum }",
      {Ones({1, 4096}), Scalar(int64_t{400000000000000})}, "%sum");
}

TEST(TooLarge, Results) {
  const std::string text =
      "graph @f(%x: f32[1, s0], %n: int(s1)) { %e = aten.expand(%x, [s1, s0])"
      " %big = aten.add.Scalar(%e, 1) return %big }";
  ExpectRefused(text, {Ones({1, 4096}), Scalar(int64_t{1} << 30)}, "%big");
  const absl::Status status =
      RunText(text, Tier::kTile, {Ones({1, 4096}), Scalar(int64_t{1} << 30)}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(absl::StrContains(status.message(), "17592186044416 bytes")) << status;
  EXPECT_TRUE(RunText(text, Tier::kTile, {Ones({1, 8}), Scalar(int64_t{3})}).ok());
}

TEST(TooLarge, IntermediateResults) {
  ExpectRefused(
      "graph @f(%x: f32[1, s0], %n: int(s1)) { %e = aten.expand(%x, [s1, s0])"
      " %wide = aten.exp(%e) %c = aten.cumsum(%wide, 0) %s = aten.sum(%c) return %s }",
      {Ones({1, 4096}), Scalar(int64_t{1} << 30)}, "%wide");
}

TEST(TooLarge, MoreThan64BitsCount) {
  const std::string text =
      "graph @f(%x: f32[1, 1], %n: int(s0)) { %e = aten.expand(%x, [s0, s0])"
      " %big = aten.add.Scalar(%e, 1) return %big }";
  for (Tier tier : {Tier::kTile, Tier::kNative}) {
    const absl::Status status =
        RunText(text, tier, {Ones({1, 1}), Scalar(int64_t{4000000000})}).status();
    EXPECT_EQ(ExitCode(status), 2) << status;
    EXPECT_EQ(NodeOf(status), "%big") << Describe(status);
  }
}

TEST(TooLarge, ViewsAreNot) {
  for (Tier tier : kTiers) {
    const auto result = RunText(
        "graph @f(%x: f32[]) { %e = aten.expand(%x, [1000000, 4000000000])"
        " %s = aten.select.int(%e, 1, 7) %t = aten.slice.Tensor(%s, 0, 0, 3)"
        " %y = aten.neg(%t) return %y }",
        tier, {Ones({})});
    EXPECT_TRUE(result.ok()) << TierName(tier) << ": " << result.status();
  }
}

TEST(AvailableMemory, IsThatOfAMachine) {
  EXPECT_GT(AvailableMemoryBytes(), int64_t{1} << 26);
  EXPECT_LT(AvailableMemoryBytes(), int64_t{1} << 50);
  EXPECT_TRUE(FitsMemory(1 << 20));
  EXPECT_FALSE(FitsMemory(int64_t{1} << 55));
}

}  // namespace
}  // namespace lathe
