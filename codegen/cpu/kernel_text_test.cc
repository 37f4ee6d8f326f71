#include "codegen/cpu/kernel_text_cases.h"
#include "gtest/gtest.h"

namespace lathe::cpu {
namespace {

TEST(KernelText, ComputesAsScalarsDo) { EXPECT_EQ(KernelTextFaults(), ""); }

TEST(KernelText, ComputesAsScalarsDoWithTheMachinesInstructions) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2") ||
      !__builtin_cpu_supports("fma")) {
    GTEST_SKIP() << "needs AVX2, BMI2 and FMA";
  }
  EXPECT_EQ(KernelTextFaultsOnAvx2(), "");
}

TEST(KernelText, ComputesAsScalarsDoInWideVectors) {
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq")) {
    GTEST_SKIP() << "needs AVX-512";
  }
  EXPECT_EQ(KernelTextFaultsOnAvx512(), "");
}

}  // namespace
}  // namespace lathe::cpu
