// Ten threads share one Executable: each call owns its context, so all get the answers that one
// thread gets, bit for bit.

#include <cstring>
#include <thread>

#include "compiler.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"

namespace lathe {
namespace {

// Fused loops, a reduction, a product with an epilogue, a view, sizes that differ from call to
// call, and an unbacked size.
constexpr char kText[] = R"(
graph @f(%x: f32[s0, 24], %w: f32[16, 24], %b: f32[16]) {
  %h = aten.linear(%x, %w, %b)
  %g = aten.gelu(%h)
  %m = aten.mean.dim(%g, [1], true)
  %d = aten.sub.Tensor(%g, %m)
  %s = aten.softmax.int(%d, 1)
  %t = aten.t(%s)
  %c = aten.gt.Scalar(%d, 0.0)
  %n = aten.nonzero(%c) : i64[u0, 2]
  return %t, %n, %m
})";

Tensor Filled(const Dims& sizes, int seed) {
  Tensor tensor = Tensor::Empty(DType::kF32, sizes);
  for (int64_t k = 0; k < tensor.numel(); ++k) {
    tensor.SetLinear(k, Scalar(static_cast<double>((k * 37 + seed * 11) % 101) / 50 - 1));
  }
  return tensor;
}

std::string Bits(const std::vector<RunValue>& values) {
  std::string bits;
  for (const RunValue& value : values) {
    const Tensor dense = std::get<Tensor>(value).Clone();
    bits += TypeString(dense);
    bits.append(static_cast<const char*>(dense.data()),
                static_cast<size_t>(*ByteSize(dense.dtype(), dense.numel())));
  }
  return bits;
}

class SharedExecutable : public testing::TestWithParam<Tier> {};

INSTANTIATE_TEST_SUITE_P(Tiers, SharedExecutable, testing::Values(Tier::kTile, Tier::kNative),
                         [](const auto& info) { return std::string(TierName(info.param)); });

TEST_P(SharedExecutable, TenThreads) {
  setenv("LATHE_CACHE_DIR", testing::TempDir().c_str(), 1);
  absl::StatusOr<Program> program = ParseProgram(kText, OpRegistry::Builtin());
  ASSERT_TRUE(program.ok()) << program.status();
  absl::StatusOr<Executable> executable =
      Compile(*program, {.tier = GetParam(), .threads = 2, .strict = true});
  ASSERT_TRUE(executable.ok()) << executable.status();

  constexpr int kThreads = 10, kCases = 7, kCalls = 30;
  const Tensor weight = Filled({16, 24}, 1), bias = Filled({16}, 2);
  std::vector<Tensor> inputs;
  std::vector<std::string> expected;
  for (int k = 0; k < kCases; ++k) {
    inputs.push_back(Filled({1 + 13 * k, 24}, k));
    absl::StatusOr<std::vector<RunValue>> outputs = executable->Run({inputs[k], weight, bias});
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    expected.push_back(Bits(*outputs));
  }
  std::vector<int> wrong(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int call = 0; call < kCalls; ++call) {
        const int k = (t + call) % kCases;
        absl::StatusOr<std::vector<RunValue>> outputs = executable->Run({inputs[k], weight, bias});
        wrong[t] += !outputs.ok() || Bits(*outputs) != expected[k];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(kThreads));
}

}  // namespace
}  // namespace lathe
