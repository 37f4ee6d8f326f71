// Faults that public reports describe in exported programs and their runtimes, from archive or text
// to results. Each test is named after its case.

#include <thread>
#include <vector>

#include "capture/pt2/load_pt2.h"
#include "capture/pt2/program_writer.h"
#include "compiler.h"
#include "gtest/gtest.h"
#include "ir/text/parser.h"
#include "tests/import/floats.h"

namespace lathe {
namespace {

using pt2::F32;
using pt2::Named;
using pt2::ProgramWriter;

class FaultCases : public testing::TestWithParam<Tier> {
 protected:
  void LoadText(const std::string& text) {
    absl::StatusOr<Program> program = ParseProgram(text, OpRegistry::Builtin());
    ASSERT_TRUE(program.ok()) << program.status();
    program_ = *std::move(program);
    CompileProgram();
  }
  void CompileProgram() {
    absl::StatusOr<Executable> executable = Compile(program_, {.tier = GetParam(), .threads = 1});
    ASSERT_TRUE(executable.ok()) << executable.status();
    executable_.emplace(*std::move(executable));
  }
  std::vector<RunValue> Run(const std::vector<RunValue>& inputs) {
    absl::StatusOr<std::vector<RunValue>> outputs = executable_->Run(inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return outputs.ok() ? *outputs : std::vector<RunValue>(1);
  }

  Program program_ = NewProgram("none");
  std::optional<Executable> executable_;
};

INSTANTIATE_TEST_SUITE_P(Tiers, FaultCases, testing::Values(Tier::kTile, Tier::kReference),
                         [](const auto& info) { return std::string(TierName(info.param)); });

// y = x + n; n' = n + 1; x' = x * 2, twice.
TEST_P(FaultCases, B139_MutationsOfTheSignatureAreApplied) {
  ProgramWriter p;
  p.Weight("buffer", "n", "n", F32({}));
  p.Input("x", F32({"2"}));
  const std::string one = R"({"as_int": 1})", two = R"({"as_int": 2})";
  p.Node("torch.ops.aten.add.Tensor", {{"self", Named("x")}, {"other", Named("n")}},
         {{"y", F32({"2"})}});
  p.Node("torch.ops.aten.add.Tensor", {{"self", Named("n")}, {"other", one}}, {{"n2", F32({})}});
  p.Node("torch.ops.aten.mul.Tensor", {{"self", Named("x")}, {"other", two}}, {{"x2", F32({"2"})}});
  p.Mutation("buffer_mutation", "n2", "buffer_name", "n");
  p.Mutation("user_input_mutation", "x2", "user_input_name", "x");
  p.Output(Named("y"));
  absl::StatusOr<Program> program = LoadPt2Bytes(
      p.Archive({{"n", "weight_0", F32({}), std::string(4, 0)}}), OpRegistry::Builtin());
  ASSERT_TRUE(program.ok()) << program.status();
  program_ = *std::move(program);
  CompileProgram();
  if (HasFatalFailure()) return;
  const Tensor x = Floats({2}, {1, 2});
  EXPECT_EQ(ValuesOf(Run({x})[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(ValuesOf(Run({x})[0]), (std::vector<float>{3, 5}));
  EXPECT_EQ(ValuesOf(program_.weights.at("n")), (std::vector<float>{2}));
  EXPECT_EQ(ValuesOf(x), (std::vector<float>{4, 8}));
}

// The same values for a slice and a fresh input, from one compile.
TEST_P(FaultCases, B143_SlicedAndFreshInputsGiveTheSame) {
  LoadText(R"(
graph @f(%x: f32[3, 2]) {
  %s = aten.sum.dim_IntList(%x, [1])
  %c = aten.select.int(%x, 1, 0)
  %y = aten.mul.Tensor(%s, %c)
  return %y
})");
  if (HasFatalFailure()) return;
  Tensor b = Tensor::Empty(DType::kF32, {3, 4});
  for (int64_t k = 0; k < 12; ++k) b.SetLinear(k, Scalar(static_cast<double>(k)));
  const Tensor sliced = b.AsStrided({3, 2}, {4, 1}, 1);
  const std::vector<float> expected = {3, 55, 171};
  EXPECT_EQ(ValuesOf(Run({sliced.Clone()})[0]), expected);
  absl::StatusOr<std::vector<RunValue>> outputs = executable_->Run({sliced});
  if (outputs.ok()) {
    EXPECT_EQ(ValuesOf((*outputs)[0]), expected);
  } else {  // or refused, saying which stride was wanted
    EXPECT_NE(outputs.status().message().find("stride"), absl::string_view::npos)
        << outputs.status();
  }
}

// Eight callers of one executable, none sees another's scratch memory.
TEST_P(FaultCases, B145_CallersOfOneModelShareNoScratch) {
  LoadText(R"(
graph @f(%x: f32[64]) {
  %d = aten.mul.Tensor(%x, 2.0)
  %e = aten.add.Tensor(%d, 1.0)
  %y = aten.cumsum(%e, 0)
  return %y
})");
  if (HasFatalFailure()) return;
  std::vector<std::vector<float>> last(8);
  std::vector<std::thread> callers;
  for (size_t k = 0; k < last.size(); ++k) {
    callers.emplace_back([&, k] {
      const Tensor x = Floats({64}, std::vector<float>(64, static_cast<float>(k)));
      for (int call = 0; call < 50; ++call) {
        absl::StatusOr<std::vector<RunValue>> outputs = executable_->Run({x});
        if (outputs.ok()) last[k].push_back(ValuesOf((*outputs)[0]).back());
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (size_t k = 0; k < last.size(); ++k) {
    EXPECT_EQ(last[k], std::vector<float>(50, 64.0f + 128.0f * static_cast<float>(k)));
  }
}

}  // namespace
}  // namespace lathe
