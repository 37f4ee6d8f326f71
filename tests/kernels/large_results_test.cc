// Results too large for the caches are stored past them, and rows are asked for ahead: the bits
// stay those of the tile tier, at every alignment and on two threads.

#include <gtest/gtest.h>

#include <cstring>

#include "codegen/cpu/emit.h"
#include "codegen/plan/emit_plan.h"
#include "compiler.h"
#include "dtypes/base/status.h"
#include "ir/loops/target.h"
#include "ir/ops/registry.h"
#include "ir/passes/pipeline.h"
#include "ir/text/parser.h"

namespace lathe {
namespace {

Tensor Counting(const Dims& sizes) {
  Tensor t = Tensor::Zeros(DType::kF32, sizes);
  float* data = static_cast<float*>(t.data());
  for (int64_t k = 0, n = t.numel(); k < n; ++k) data[k] = static_cast<float>(k % 1013) / 64 - 7;
  return t;
}

Tensor RunOn(const Program& program, Tier tier, int threads, const Tensor& input) {
  CompileOptions options;
  options.tier = tier;
  options.threads = threads;
  absl::StatusOr<Executable> executable = Compile(program, options);
  if (!executable.ok()) return Tensor();
  absl::StatusOr<std::vector<RunValue>> out = executable->Run({input});
  return out.ok() ? std::get<Tensor>((*out)[0]) : Tensor();
}

void ExpectSameBits(const char* text, const Tensor& input) {
  const absl::StatusOr<Program> program = ParseProgram(text, OpRegistry::Builtin());
  ASSERT_TRUE(program.ok()) << program.status();
  const Tensor tile = RunOn(*program, Tier::kTile, 1, input);
  ASSERT_TRUE(tile.is_defined());
  for (int threads : {1, 2}) {
    const Tensor native = RunOn(*program, Tier::kNative, threads, input);
    ASSERT_TRUE(native.is_defined());
    ASSERT_EQ(native.numel(), tile.numel());
    EXPECT_EQ(memcmp(native.data(), tile.data(), tile.numel() * sizeof(float)), 0) << threads;
  }
}

TEST(LargeResults, HaveTheBitsOfTheTileTier) {
  ExpectSameBits("graph @f(%x: f32[s0]) { %y = aten.mul.Tensor(%x, %x) return %y }",
                 Counting({13000003}));
  // Rows of 4097 floats: every alignment of a vector store.
  ExpectSameBits("graph @f(%x: f32[3100, 4097]) { %y = aten.softmax.int(%x, -1) return %y }",
                 Counting({3100, 4097}));
}

std::string CodeOf(const char* text) {
  absl::StatusOr<Program> program = ParseProgram(text, OpRegistry::Builtin());
  if (!program.ok()) return std::string(program.status().message());
  if (!RunPasses(*program, OpRegistry::Builtin(), InferencePasses()).ok()) return "passes failed";
  const absl::StatusOr<EmittedPlan> plan = EmitPlan(*program);
  if (!plan.ok() || plan->kernels.empty()) return "no kernel";
  const absl::StatusOr<cpu::EmittedKernel> kernel = cpu::EmitKernel(plan->kernels[0], HostTarget());
  return kernel.ok() ? kernel->code : std::string(kernel.status().message());
}

bool Has(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }

TEST(LargeResults, OnlyTheyPayForIt) {
  const std::string small =
      CodeOf("graph @f(%x: f32[64, 256]) { %y = aten.softmax.int(%x, -1) return %y }");
  EXPECT_TRUE(Has(small, "hn::StoreN")) << small;
  EXPECT_FALSE(Has(small, "StreamN") || Has(small, "Prefetch")) << small;
  const std::string large =
      CodeOf("graph @f(%x: f32[8192, 4096]) { %y = aten.softmax.int(%x, -1) return %y }");
  EXPECT_TRUE(Has(large, "StreamN") && Has(large, "Prefetch") && Has(large, "FlushStream"))
      << large;
}

}  // namespace
}  // namespace lathe
