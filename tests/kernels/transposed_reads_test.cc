// Stages that read across rows walk in blocks (codegen/cpu/loop_blocks.h): every element is still
// computed once, at every size, layout and number of threads.

#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "tests/kernels/run_text.h"

namespace lathe {
namespace {

struct Case {
  const char* text;
  std::vector<RunValue> inputs;
};

std::vector<Case> Cases() {
  return {
      // Whole blocks, and rests of both axes.
      {"graph @f(%x: f32[128, 192]) { %t = aten.t(%x) %y = aten.add.Scalar(%t, 1.0)"
       " %c = aten.clone(%y, memory_format=contiguous_format) return %c }",
       {Counted(DType::kF32, {128, 192})}},
      {"graph @f(%x: f32[s0, s1]) { %t = aten.t(%x) %y = aten.mul.Scalar(%t, 0.5)"
       " %c = aten.clone(%y, memory_format=contiguous_format) return %c }",
       {Counted(DType::kF32, {131, 203})}},
      {"graph @f(%x: f32[s0, s1]) { %t = aten.t(%x) %y = aten.mul.Scalar(%t, 0.5)"
       " %c = aten.clone(%y, memory_format=contiguous_format) return %c }",
       {Counted(DType::kF32, {1, 3})}},
      // A value of its row, and one of its column.
      {"graph @f(%x: f32[300, 70], %r: f32[70, 1], %c: f32[300]) { %t = aten.t(%x)"
       " %y = aten.mul.Tensor(%t, %r) %z = aten.add.Tensor(%y, %c)"
       " %o = aten.clone(%z, memory_format=contiguous_format) return %o }",
       {Counted(DType::kF32, {300, 70}), Counted(DType::kF32, {70, 1}, 1),
        Counted(DType::kF32, {300}, 2)}},
      // Another axis outside, another between.
      {"graph @f(%x: f32[3, 100, 90]) { %t = aten.permute(%x, [0, 2, 1])"
       " %y = aten.neg(%t) %c = aten.clone(%y, memory_format=contiguous_format) return %c }",
       {Counted(DType::kF32, {3, 100, 90})}},
      {"graph @f(%x: f32[70, 5, 90]) { %t = aten.permute(%x, [2, 1, 0])"
       " %y = aten.neg(%t) %c = aten.clone(%y, memory_format=contiguous_format) return %c }",
       {Counted(DType::kF32, {70, 5, 90})}},
      // Elements of other widths: lines hold more or fewer of them.
      {"graph @f(%x: f16[150, 130]) { %t = aten.t(%x) %y = aten.neg(%t)"
       " %c = aten.clone(%y, memory_format=contiguous_format) return %c }",
       {Counted(DType::kF16, {150, 130}, 0, 0.25)}},
      {"graph @f(%x: f64[150, 130]) { %t = aten.t(%x) %y = aten.neg(%t)"
       " %c = aten.clone(%y, memory_format=contiguous_format) return %c }",
       {Counted(DType::kF64, {150, 130})}},
      {"graph @f(%x: u8[150, 130]) { %t = aten.t(%x) %y = aten.add.Scalar(%t, 3)"
       " %c = aten.clone(%y, memory_format=contiguous_format) return %c }",
       {Counted(DType::kU8, {150, 130})}},
      {"graph @f(%x: i64[150, 130]) { %t = aten.t(%x) %y = aten.gt.Scalar(%t, 1000)"
       " %c = aten.clone(%y, memory_format=contiguous_format) return %c }",
       {Counted(DType::kI64, {150, 130})}},
      // Packed elements, where neighbours share bytes.
      {"graph @f(%x: u4[150, 130]) { %t = aten.t(%x) %y = aten.add.Scalar(%t, 3)"
       " %c = aten.clone(%y, memory_format=contiguous_format) return %c }",
       {Counted(DType::kU4, {150, 130})}},
  };
}

TEST(TransposedReads, HaveTheBitsOfTheReference) {
  for (const Case& c : Cases()) {
    const auto expected = RunText(c.text, Tier::kReference, c.inputs);
    ASSERT_TRUE(expected.ok()) << c.text << ": " << expected.status();
    const Tensor& right = std::get<Tensor>((*expected)[0]);
    for (Tier tier : {Tier::kTile, Tier::kNative}) {
      for (int threads : {1, 2}) {
        const auto result = RunText(c.text, tier, c.inputs, threads);
        ASSERT_TRUE(result.ok()) << c.text << ": " << result.status();
        const Tensor& t = std::get<Tensor>((*result)[0]);
        ASSERT_EQ(t.numel(), right.numel());
        int64_t wrong = 0;
        for (int64_t k = 0; k < t.numel(); ++k) wrong += !(t.AtLinear(k) == right.AtLinear(k));
        EXPECT_EQ(wrong, 0) << c.text << " on " << threads << " threads";
      }
    }
  }
}

}  // namespace
}  // namespace lathe
