// A call whose sizes do not fit one another is refused before a kernel reads past a buffer, where
// the type rules could not know.

#include <gtest/gtest.h>

#include "compiler.h"
#include "dtypes/base/status.h"
#include "ir/ops/registry.h"
#include "ir/text/parser.h"

namespace lathe {
namespace {

Tensor Ones(const Dims& sizes) {
  Tensor t = Tensor::Zeros(DType::kF32, sizes);
  for (int64_t k = 0; k < t.numel(); ++k) static_cast<float*>(t.data())[k] = 1;
  return t;
}

absl::Status StatusOf(const std::string& text, const std::vector<RunValue>& inputs) {
  const absl::StatusOr<Program> program = ParseProgram(text, OpRegistry::Builtin());
  if (!program.ok()) return program.status();
  CompileOptions options;
  options.tier = Tier::kTile;
  const absl::StatusOr<Executable> executable = Compile(*program, options);
  if (!executable.ok()) return executable.status();
  return executable->Run(inputs).status();
}

TEST(SizesThatDoNotFit, AreRefused) {
  const std::string add =
      "graph @f(%x: f32[s0], %y: f32[s1]) { %a = aten.add.Tensor(%x, %y) return %a }";
  EXPECT_TRUE(StatusOf(add, {Ones({3}), Ones({3})}).ok());
  EXPECT_TRUE(StatusOf(add, {Ones({0}), Ones({0})}).ok());
  EXPECT_EQ(ExitCode(StatusOf(add, {Ones({3}), Ones({2})})), 2);
  const std::string constant =
      "graph @f(%x: f32[s0], %y: f32[4]) { %a = aten.add.Tensor(%x, %y) return %a }";
  EXPECT_TRUE(StatusOf(constant, {Ones({4}), Ones({4})}).ok());
  EXPECT_EQ(ExitCode(StatusOf(constant, {Ones({3}), Ones({4})})), 2);
}

TEST(SizesThatDoNotFit, BehindViewsToo) {
  for (const char* view :
       {"aten.select.int(%x, 0, 5)", "aten.select.int(%x, 0, 5000000000)", "aten.view(%x, [2, 3])",
        "aten.expand(%x, [4])", "aten.narrow(%x, 0, 2, 5)"}) {
    const std::string text =
        std::string("graph @f(%x: f32[s0]) { %a = ") + view + " %b = aten.neg(%a) return %b }";
    const absl::Status status = StatusOf(text, {Ones({3})});
    EXPECT_EQ(ExitCode(status), 2) << view << ": " << status;
  }
}

TEST(SizesThatDoNotFit, AnIndexLongerThanItsSource) {
  const Tensor index = Tensor::Zeros(DType::kI64, {4});
  for (const char* op : {"aten.scatter_add(%x, 0, %i, %y)", "aten.scatter.src(%x, 0, %i, %y)",
                         "aten.index_add(%x, 0, %i, %y)"}) {
    for (const char* sizes : {"[2]", "[s0]"}) {
      const std::string text = std::string("graph @f(%x: f32[3], %i: i64[4], %y: f32") + sizes +
                               ") { %a = " + op + " return %a }";
      const absl::Status status = StatusOf(text, {Ones({3}), index, Ones({2})});
      EXPECT_EQ(ExitCode(status), 2) << op << sizes << ": " << status;
    }
  }
}

}  // namespace
}  // namespace lathe
