// Products along chosen dimensions, and what is made of them: small answers worked out by hand.

#include <gtest/gtest.h>

#include "tests/kernels/run_text.h"

namespace lathe {
namespace {

struct Case {
  const char* text;
  std::vector<RunValue> inputs;
  std::vector<double> expected;
};

std::vector<Case> Cases() {
  const Tensor rows = Counted(DType::kF32, {2, 2}, 1);  // 1 2, 3 4
  const Tensor pair = Counted(DType::kF32, {2}, 1);     // 1 2
  return {
      {"graph @f(%x: f32[s0, s1], %y: f32[s2, s1]) { %a = aten.inner(%x, %y) return %a }",
       {rows, rows},
       {5, 11, 11, 25}},
      {"graph @f(%x: f32[2, 2], %y: f32[2, 2]) {"
       " %a = aten.tensordot(%x, %y, [0, 1], [1, 0]) return %a }",
       {rows, rows},
       {1 * 1 + 2 * 3 + 3 * 2 + 4 * 4}},
      {"graph @f(%x: f32[2, 2], %y: f32[2]) {"
       " %a = aten.tensordot(%x, %y, [-1], [0]) return %a }",
       {rows, pair},
       {5, 11}},
      {"graph @f(%x: f32[s0, 2], %y: f32[2]) { %a = aten.kron(%x, %y) return %a }",
       {rows, pair},
       {1, 2, 2, 4, 3, 6, 4, 8}},
      {"graph @f(%x: f32[s0]) { %a = aten.diff(%x, 2) return %a }",
       {Counted(DType::kF32, {4}, 1, 3)},
       {0, 0}},
      {"graph @f(%x: f32[2], %p: f32[2]) { %a = aten.diff(%x, 1, 0, %p) return %a }",
       {Counted(DType::kF32, {2}, 5), pair},
       {1, 3, 1}},
      {"graph @f(%x: bool[3]) { %a = aten.diff(%x) return %a }",
       {Counted(DType::kBool, {3}, 0)},
       {1, 0}},
      // (3, 4) and (4, 3): 24 / 25; zero vectors divide by eps.
      {"graph @f(%x: f64[2, 2], %y: f64[2, 2]) {"
       " %a = aten.cosine_similarity(%x, %y) return %a }",
       {Tensor::FromSpan<double>({2, 2}, {3, 4, 0, 0}),
        Tensor::FromSpan<double>({2, 2}, {4, 3, 1, 1})},
       {0.96, 0}},
  };
}

TEST(Contractions, HaveTheirAnswers) {
  for (const Case& c : Cases()) {
    for (Tier tier : {Tier::kReference, Tier::kTile, Tier::kNative}) {
      const auto result = RunText(c.text, tier, c.inputs);
      ASSERT_TRUE(result.ok()) << c.text << ": " << result.status();
      const Tensor& t = std::get<Tensor>((*result)[0]);
      ASSERT_EQ(t.numel(), static_cast<int64_t>(c.expected.size())) << c.text;
      for (size_t k = 0; k < c.expected.size(); ++k) {
        EXPECT_NEAR(t.AtLinear(static_cast<int64_t>(k)).ToDouble(), c.expected[k], 1e-6) << c.text;
      }
    }
  }
}

TEST(Contractions, RefuseWhatDoesNotFit) {
  for (const char* text :
       {"graph @f(%x: f32[2, 3], %y: f32[2, 2]) { %a = aten.inner(%x, %y) return %a }",
        "graph @f(%x: f32[2, 3], %y: f32[2, 2]) {"
        " %a = aten.tensordot(%x, %y, [1], [0]) return %a }",
        "graph @f(%x: f32[2, 3], %y: f32[2, 2]) {"
        " %a = aten.tensordot(%x, %y, [1, 1], [0, 0]) return %a }",
        "graph @f(%x: f32[2, 3], %y: f64[2, 3]) { %a = aten.inner(%x, %y) return %a }",
        "graph @f(%x: i64[2, 3], %y: i64[2, 3]) {"
        " %a = aten.cosine_similarity(%x, %y) return %a }"}) {
    EXPECT_EQ(ExitCode(ParseProgram(text, OpRegistry::Builtin()).status()), 2) << text;
  }
}

// Each order is a node of the graph: far orders are a limit that says so.
TEST(Contractions, DifferencesHaveALimit) {
  const auto exit_code = [](const char* text) {
    return ExitCode(ParseProgram(text, OpRegistry::Builtin()).status());
  };
  EXPECT_EQ(exit_code("graph @f(%x: f32[100]) { %a = aten.diff(%x, 64) return %a }"), 0);
  EXPECT_EQ(exit_code("graph @f(%x: f32[100]) { %a = aten.diff(%x, 65) return %a }"), 3);
  EXPECT_EQ(exit_code("graph @f(%x: f32[3]) { %a = aten.diff(%x, 1000) return %a }"), 0);
}

}  // namespace
}  // namespace lathe
