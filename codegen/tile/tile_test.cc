#include "codegen/tile/tile.h"

#include <string>
#include <vector>

#include "codegen/testing/spec_cases.h"
#include "gtest/gtest.h"
#include "hwy/targets.h"

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

}  // namespace
}  // namespace lathe
