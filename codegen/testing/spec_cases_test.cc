#include "codegen/testing/spec_cases.h"

#include "gtest/gtest.h"
#include "ir/loops/spec_evaluator.h"

namespace lathe {
namespace {

// The oracle as a kernel: every case must pass on it, so a case that fails elsewhere is not at
// fault. Changes one result if told to.
class OracleKernel final : public Kernel {
 public:
  OracleKernel(const KernelSpec& spec, bool wrong) : spec_(spec), wrong_(wrong) {}
  int32_t Call(const LatheKernelArgs& args) const override {
    const absl::Status status =
        EvaluateSpec(spec_, {args.buffers, spec_.buffers.size()},
                     {args.scalars, spec_.symbols.size()}, args.begin, args.end);
    if (wrong_ && spec_.buffers.back().role == BufferRole::kOut) {
      *static_cast<unsigned char*>(args.buffers[spec_.buffers.size() - 1]) ^= 1;
    }
    switch (status.code()) {
      case absl::StatusCode::kOk:
        return kLatheOk;
      case absl::StatusCode::kOutOfRange:
        return kLatheIndexError;
      case absl::StatusCode::kInvalidArgument:
        return kLatheDivisionError;
      default:
        return static_cast<int32_t>(spec_.errors.size());
    }
  }
  int64_t ScratchBytes(const int64_t*, int64_t) const override { return 0; }
  absl::string_view tier() const override { return "oracle"; }

 private:
  const KernelSpec& spec_;
  bool wrong_;
};

class SpecCases : public testing::TestWithParam<const char*> {};

TEST_P(SpecCases, PassOnTheOracle) {
  auto cases = LoadSpecCases(std::string("codegen/testdata/") + GetParam());
  ASSERT_TRUE(cases.ok()) << cases.status();
  for (const SpecCase& test : *cases) {
    const absl::Status status = CheckAgainstEvaluator(test, OracleKernel(test.spec, false));
    EXPECT_TRUE(status.ok()) << status;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, SpecCases,
                         testing::Values("pointwise.spec", "indexing.spec", "reductions.spec"));

TEST(SpecCasesRunner, AWrongBitIsFound) {
  auto cases = LoadSpecCases("codegen/testdata/indexing.spec");
  ASSERT_TRUE(cases.ok()) << cases.status();
  SpecCase test = cases->front();
  test.runs = {{3, 5}};
  EXPECT_FALSE(CheckAgainstEvaluator(test, OracleKernel(test.spec, true)).ok());
  EXPECT_FALSE(
      CheckSameBits(test, OracleKernel(test.spec, true), OracleKernel(test.spec, false)).ok());
}

}  // namespace
}  // namespace lathe
