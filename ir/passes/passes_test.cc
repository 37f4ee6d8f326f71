// Runs testdata/*.lathe: a file begins with "// RUN: pass,pass"; then pairs of programs, before and
// after, separated by lines of dashes. "// ERROR: phrase" in the place of the second program
// expects the passes to refuse the first. LATHE_UPDATE=1 prints what the passes made.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "dtypes/base/status.h"
#include "dtypes/base/trace.h"
#include "gtest/gtest.h"
#include "ir/graph/equal.h"
#include "ir/graph/verifier.h"
#include "ir/ops/registry.h"
#include "ir/passes/pipeline.h"
#include "ir/passes/same_meaning.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace lathe {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

absl::StatusOr<std::vector<Pass>> PassesOf(absl::string_view file) {
  absl::string_view line = file.substr(0, file.find('\n'));
  if (!absl::ConsumePrefix(&line, "// RUN: ")) return InvalidArgument("no RUN line");
  std::vector<Pass> passes;
  for (absl::string_view name : absl::StrSplit(line, ',')) {
    if (name == "inference") return InferencePasses();
    LATHE_ASSIGN_OR_RETURN(Pass pass, FindPass(name));
    passes.push_back(std::move(pass));
  }
  return passes;
}

void ExpectRefused(Program& program, const std::vector<Pass>& passes, absl::string_view phrase) {
  const absl::Status status = RunPasses(program, OpRegistry::Builtin(), passes);
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(absl::StrContains(status.message(), phrase)) << status;
}

bool IsResolved(const Program& program) {
  for (const Node* node : program.main->nodes()) {
    if (node->row == nullptr) return false;
  }
  return true;
}

void ExpectRewrite(Program& program, const std::vector<Pass>& passes, absl::string_view before,
                   absl::string_view after) {
  const absl::Status status = RunPasses(program, OpRegistry::Builtin(), passes);
  ASSERT_TRUE(status.ok()) << Describe(status);
  const std::string printed = PrintProgram(program);
  ASSERT_TRUE(Verify(program).ok()) << Verify(program) << "\n" << printed;
  if (std::getenv("LATHE_UPDATE") != nullptr) std::fprintf(stderr, "%s", printed.c_str());
  absl::StatusOr<Program> expected = ParseProgram(after, OpRegistry::Builtin());
  ASSERT_TRUE(expected.ok()) << Describe(expected.status()) << "\n" << printed;
  const auto difference = FirstDifference(*program.main, *expected->main);
  EXPECT_EQ(difference, std::nullopt) << "made:\n" << printed << "expected:\n" << after;
  absl::StatusOr<Program> again = ParseProgram(printed, OpRegistry::Builtin());
  ASSERT_TRUE(again.ok()) << Describe(again.status()) << "\n" << printed;
  EXPECT_EQ(FirstDifference(*program.main, *again->main), std::nullopt) << printed;
  const Program original = *ParseProgram(before, OpRegistry::Builtin());
  if (!IsResolved(original) || !IsResolved(program)) return;
  const absl::Status same = CheckSameMeaning(original, program, 17);
  EXPECT_TRUE(same.ok()) << Describe(same) << "\n" << printed;
}

TEST(Passes, RewriteAsTheFilesSay) {
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator("ir/passes/testdata")) {
    SCOPED_TRACE(entry.path().string());
    const std::string text = ReadFile(entry.path());
    absl::StatusOr<std::vector<Pass>> passes = PassesOf(text);
    ASSERT_TRUE(passes.ok()) << passes.status();
    const std::vector<std::string> programs = absl::StrSplit(text, "\n-----\n");
    ASSERT_EQ(programs.size() % 2, 0u) << "before and after are needed";
    for (size_t i = 0; i < programs.size(); i += 2, ++cases) {
      SCOPED_TRACE(programs[i]);
      absl::StatusOr<Program> program = ParseProgram(programs[i], OpRegistry::Builtin());
      ASSERT_TRUE(program.ok()) << Describe(program.status());
      absl::string_view after = programs[i + 1];
      if (absl::ConsumePrefix(&after, "// ERROR: ")) {
        ExpectRefused(*program, *passes, absl::StripAsciiWhitespace(after));
      } else {
        ExpectRewrite(*program, *passes, programs[i], after);
      }
    }
  }
  EXPECT_GE(cases, 35);
}

constexpr char kProgram[] = R"(graph @f(%x: f32[4]) {
  %a = aten.sin(%x)  %b = aten.sin(%x)  %c = aten.cos(%x)
  %d = aten.add.Tensor(%a, %b)
  return %d })";

TEST(Pipeline, EnvironmentSkipsAndLimits) {
  auto nodes_after = [](const char* variable, const char* value) {
    if (variable != nullptr) setenv(variable, value, 1);
    Program program = *ParseProgram(kProgram, OpRegistry::Builtin());
    const absl::Status status =
        RunPasses(program, OpRegistry::Builtin(), {*FindPass("cse"), *FindPass("dce")});
    if (variable != nullptr) unsetenv(variable);
    EXPECT_TRUE(status.ok()) << status;
    return program.main->node_count();
  };
  EXPECT_EQ(nodes_after(nullptr, ""), 2);
  EXPECT_EQ(nodes_after("LATHE_SKIP", "cse"), 3);
  EXPECT_EQ(nodes_after("LATHE_SKIP", "cse,dce"), 4);
  EXPECT_EQ(nodes_after("LATHE_PASS_LIMIT", "1"), 3);
  EXPECT_EQ(nodes_after("LATHE_PASS_LIMIT", "0"), 4);
  EXPECT_EQ(FindPass("nope").status().code(), absl::StatusCode::kNotFound);
}

class CountingSink : public TraceSink {
 public:
  std::vector<std::string> records;
  void Record(absl::string_view, absl::string_view metadata, absl::string_view) override {
    records.emplace_back(metadata);
  }
  void Span(absl::string_view, int64_t, int64_t) override {}
};

TEST(Pipeline, TracesEachPassBeforeAndAfter) {
  CountingSink sink;
  ScopedTrace scope(&sink);
  Program program = *ParseProgram(kProgram, OpRegistry::Builtin());
  ASSERT_TRUE(RunPasses(program, OpRegistry::Builtin(), {*FindPass("cse")}).ok());
  ASSERT_EQ(sink.records.size(), 2u);
  EXPECT_TRUE(absl::StrContains(sink.records[0], "before_cse"));
  EXPECT_TRUE(absl::StrContains(sink.records[1], "after_cse"));
}

TEST(FoldConstants, WeightsThatNoCallChanges) {
  // A batch norm's scale; a counter that the call writes back, and a view of its storage.
  constexpr char kText[] = R"(
graph @f(%x: f32[2], %var: f32[2] = weight("var"), %count: f32[2] = weight("count"),
         %seen: f32[2] = weight("seen")) {
  %a = aten.add.Scalar(%var, 1.0)
  %scale = aten.rsqrt(%a)
  %y = aten.mul.Tensor(%x, %scale)
  %more = aten.add.Scalar(%seen, 1.0)
  %z = aten.mul.Tensor(%y, %more)
  %kept = aten.add_.Scalar(%count, 1.0)
  return %z
})";
  Program program = *ParseProgram(kText, OpRegistry::Builtin());
  program.weights["var"] = Tensor::FromSpan<float>({2}, {3, 15});
  program.weights["count"] = Tensor::FromSpan<float>({2}, {0, 1});
  program.weights["seen"] = program.weights["count"];
  const absl::Status status = RunPasses(program, OpRegistry::Builtin(), InferencePasses());
  ASSERT_TRUE(status.ok()) << Describe(status);
  const std::string printed = PrintProgram(program);
  EXPECT_TRUE(absl::StrContains(printed, "constant(f32[2], [0.5, 0.25])")) << printed;
  EXPECT_FALSE(absl::StrContains(printed, "rsqrt")) << printed;
  EXPECT_TRUE(absl::StrContains(printed, "aten.add.Scalar(%seen, 1.0)")) << printed;
}

}  // namespace
}  // namespace lathe
