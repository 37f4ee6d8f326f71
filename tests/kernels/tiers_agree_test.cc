// Programs whose loops are put together in ways that once went wrong: every tier gives what the
// reference gives, and the same bits on both compiled tiers.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/kernels/run_text.h"

namespace lathe {
namespace {

void ExpectTiersAgree(const std::string& text, const std::vector<RunValue>& inputs) {
  SCOPED_TRACE(text);
  std::vector<Tensor> expected;
  for (const Tier tier : {Tier::kReference, Tier::kTile, Tier::kNative}) {
    const absl::StatusOr<std::vector<RunValue>> results = RunText(text, tier, inputs);
    ASSERT_TRUE(results.ok()) << results.status();
    std::vector<Tensor> tensors;
    for (const RunValue& value : *results) tensors.push_back(std::get<Tensor>(value));
    if (tier == Tier::kReference) expected = tensors;
    ASSERT_EQ(tensors.size(), expected.size());
    for (size_t k = 0; k < tensors.size(); ++k) {
      ASSERT_EQ(tensors[k].sizes(), expected[k].sizes()) << "result " << k;
      for (int64_t at = 0; at < tensors[k].numel(); ++at) {
        EXPECT_FLOAT_EQ(tensors[k].AtLinear(at).ToDouble(), expected[k].AtLinear(at).ToDouble())
            << "result " << k << ", element " << at;
      }
    }
  }
}

// What lies in the padding is 0, also where the input is computed where it is read and has a value
// at the place itself.
TEST(TiersAgree, OnPoolsOfWhatIsComputedWhereItIsRead) {
  const Tensor x = Counted(DType::kF32, {1, 2, 8}, 1);
  for (const char* pool :
       {"aten.avg_pool1d(%$, [3], [1], [1])", "aten.avg_pool1d(%$, [3], [1], [1], false, false)",
        "aten.avg_pool1d(%$, [5], [1], [2])"}) {
    std::string text = "graph @f(%x: f32[1, 2, 8]) {\n  %v0 = aten.add.Scalar(%x, 1)\n";
    for (int k = 0; k < 4; ++k) {
      std::string call = pool;
      call.replace(call.find('$'), 1, "v" + std::to_string(k));
      text += "  %v" + std::to_string(k + 1) + " = " + call + "\n";
    }
    ExpectTiersAgree(text + "  return %v3, %v4\n}", {x});
  }
  ExpectTiersAgree(R"(graph @f(%x: f32[1, 2, 8]) {
    %a = aten.add.Scalar(%x, 1)
    %b = aten.adaptive_avg_pool1d(%a, [5])
    %c = aten.adaptive_avg_pool1d(%b, [3])
    return %c
  })",
                   {x});
}

// Kernels wait for the numbers they take, whatever else they could join.
TEST(TiersAgree, OnNumbersReadBetweenWhatCouldBeFused) {
  const Tensor x = Counted(DType::kF32, {3, 4}, 1);
  ExpectTiersAgree(R"(graph @f(%x: f32[3, 4], %i: i64[3]) {
    %m = aten.max(%i)
    %n = aten.item(%m) : int(u0)
    %a = aten.mul.Scalar(%x, (u0))
    %b = aten.mul.Scalar(%a, 0.25)
    %q = aten.min(%i)
    %p = aten.item(%q) : int(u1)
    %c = aten.mul.Scalar(%b, (u1))
    %d = aten.add.Scalar(%c, (u1 + u0))
    return %b, %d
  })",
                   {x, Counted(DType::kI64, {3}, 2)});
  ExpectTiersAgree(R"(graph @f(%x: f32[3, 4]) {
    %s = aten.mul.Scalar(%x, 2)
    %v = aten.nonzero(%x) : i64[u0, 2]
    %a = aten.mul.Scalar(%x, (u0))
    %b = aten.mul.Scalar(%a, 0.1)
    return %s, %b
  })",
                   {x});
}

// Branches whose results differ in size.
TEST(TiersAgree, OnSizesThatABranchDecides) {
  const std::string text = R"(graph @f(%p: bool[], %x: f32[s0, 2], %y: f32[s1, 2]) {
    %c = cond(%p, @then, @else, [%x, %y]) : f32[u0, 2]
    %s = aten.sum.dim_IntList(%c, [0])
    %d = aten.mul.Scalar(%c, (u0))
    return %c, %s, %d
  }
  graph @then(%x: f32[s0, 2], %y: f32[s1, 2]) {
    %a = aten.mul.Scalar(%x, 2)
    return %a
  }
  graph @else(%x: f32[s0, 2], %y: f32[s1, 2]) {
    %a = aten.add.Scalar(%y, 1)
    return %a
  })";
  for (const bool chosen : {true, false}) {
    ExpectTiersAgree(text, {Filled(DType::kBool, {}, Scalar(chosen)),
                            Counted(DType::kF32, {3, 2}, 1), Counted(DType::kF32, {5, 2}, 7)});
  }
}

// The first row of something, of which there are some, beside all rows.
TEST(TiersAgree, OnTheFirstOfAnOpenSize) {
  const Tensor a = Counted(DType::kF32, {3, 4}, 1), k = Counted(DType::kF32, {2, 4}, -2);
  ExpectTiersAgree(R"(graph @f(%a: f32[s0, 4], %k: f32[s1, 4]) {
    %s = aten.slice.Tensor(%k, 0, 0, 1) : f32[1, 4]
    %m = aten.mul.Tensor(%a, %s) : f32[s0, 4]
    %g = aten.gt.Scalar(%s, 0) : bool[1, 4]
    %w = aten.where.ScalarOther(%g, %a, 0.0) : f32[s0, 4]
    return %m, %w
  })",
                   {a, k});
}

TEST(TiersAgree, ThatTheFirstOfNothingIsRefused) {
  const std::string text = R"(graph @f(%k: f32[s1, 4]) {
    %s = aten.slice.Tensor(%k, 0, 0, 1) : f32[1, 4]
    return %s
  })";
  for (const Tier tier : {Tier::kReference, Tier::kTile}) {
    const auto result = RunText(text, tier, {Tensor::Empty(DType::kF32, {0, 4})});
    ASSERT_FALSE(result.ok());
    EXPECT_TRUE(absl::IsFailedPrecondition(result.status())) << result.status();
  }
}

}  // namespace
}  // namespace lathe
