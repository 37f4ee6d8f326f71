#include "codegen/tile/tile.h"

#include <string>
#include <utility>
#include <vector>

#include "codegen/testing/spec_cases.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"
#include "ir/loops/streamed_results.h"

namespace lathe {
namespace {

// Every case of a file on every vector target against the evaluator.
class TileTest : public testing::TestWithParam<const char*> {};

TEST_P(TileTest, AgreesWithEvaluatorOnEveryTarget) {
  const auto cases = LoadSpecCases(GetParam());
  ASSERT_TRUE(cases.ok()) << cases.status();
  ASSERT_FALSE(cases->empty());
  for (int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    for (const SpecCase& test : *cases) {
      const auto kernel = CompileTile(test.spec);
      ASSERT_TRUE(kernel.ok()) << test.title << ": " << kernel.status();
      const absl::Status status = CheckAgainstEvaluator(test, **kernel);
      EXPECT_TRUE(status.ok()) << hwy::TargetName(target) << ": " << test.title << ": " << status;
    }
  }
  hwy::SetSupportedTargetsForTest(0);
}

INSTANTIATE_TEST_SUITE_P(Files, TileTest,
                         testing::Values("codegen/testdata/pointwise.spec",
                                         "codegen/testdata/indexing.spec",
                                         "codegen/testdata/reductions.spec",
                                         "codegen/testdata/packed_rows.spec",
                                         "codegen/tile/testdata/tiles.spec"));

// Larger than what the spec evaluator could follow: results that are stored past the caches, in two
// calls whose border lies within a line, with a last tile that ends within one.
TEST(TileStreamTest, StoresEveryElementOfALargeResult) {
  ExprContext context;
  const auto spec = ParseKernelSpec(R"(
kernel k(s0: size) {
  buffer b0: in f32 align 64
  buffer b1: out f32 align 64
  axis i0: parallel s0
  outer [] grain 64
  stage [i0] {
    %0 = load b0[i0] : f32
    %1 = add %0, %0 : f32
    store b1[i0], %1
  }
})",
                                    context);
  ASSERT_TRUE(spec.ok()) << spec.status();
  const auto kernel = CompileTile(*spec);
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  constexpr int64_t kCount = kStreamBytes / 4 + 1234567;
  std::vector<float> from(kCount), to(kCount + 32, -1.0f);
  for (int64_t k = 0; k < kCount; ++k) from[k] = static_cast<float>(k % 4093);
  float* aligned = to.data();
  while (reinterpret_cast<uintptr_t>(aligned) % 64 != 0) ++aligned;
  void* buffers[] = {from.data(), aligned};
  LatheKernelError error;
  for (const auto& [begin, end] : {std::pair<int64_t, int64_t>{0, 100003}, {100003, kCount}}) {
    LatheKernelArgs args{buffers, &kCount, begin, end, nullptr, &error};
    ASSERT_EQ((*kernel)->Call(args), kLatheOk);
  }
  int64_t wrong = 0;
  for (int64_t k = 0; k < kCount; ++k) wrong += aligned[k] != 2 * from[k];
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(aligned[kCount], -1.0f) << "written behind the end";
}

}  // namespace
}  // namespace lathe
