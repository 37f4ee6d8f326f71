// Every model of third_party/models through the passes that lead to the scheduler: the result is
// sound, functional, fully decomposed, prints as text that reads back, and computes what the
// model computes.

#include <filesystem>
#include <set>
#include <string>

#include "capture/pt2/load_pt2.h"
#include "dtypes/base/status.h"
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

void ExpectRoundTrip(const Program& program) {
  const std::string text = PrintProgram(program);
  absl::StatusOr<Program> again = ParseProgram(text, OpRegistry::Builtin());
  ASSERT_TRUE(again.ok()) << Describe(again.status()) << "\n" << text;
  EXPECT_EQ(FirstDifference(*program.main, *again->main), std::nullopt);
}

void CheckModel(const std::string& path) {
  absl::StatusOr<Program> original = LoadPt2(path, OpRegistry::Builtin());
  ASSERT_TRUE(original.ok()) << Describe(original.status());
  // Text is read with inferred types.
  absl::StatusOr<bool> inferred = FindPass("infer_types")->run(*original, OpRegistry::Builtin());
  ASSERT_TRUE(inferred.ok()) << Describe(inferred.status());
  ExpectRoundTrip(*original);
  absl::StatusOr<Program> program = LoadPt2(path, OpRegistry::Builtin());
  ASSERT_TRUE(program.ok()) << Describe(program.status());
  const absl::Status status = RunPasses(*program, OpRegistry::Builtin(), InferencePasses());
  ASSERT_TRUE(status.ok()) << Describe(status) << "\n" << PrintProgram(*program);
  ASSERT_TRUE(Verify(*program).ok()) << Verify(*program) << "\n" << PrintProgram(*program);
  std::set<std::string> left;
  for (const Node* node : program->main->nodes()) {
    const OpRow& row = *node->row;
    if (row.composite || row.effect == Effect::kMutates || (row.decompose && !row.lower)) {
      left.insert(node->op);
    }
  }
  EXPECT_TRUE(left.empty()) << *left.begin();
  ExpectRoundTrip(*program);
  const absl::Status same = CheckSameMeaning(*original, *program, 3);
  EXPECT_TRUE(same.ok()) << Describe(same);
}

TEST(PassesOnModels, KeepWhatModelsCompute) {
  int models = 0;
  for (const auto& entry : std::filesystem::directory_iterator("third_party/models")) {
    if (entry.path().extension() != ".pt2") continue;
    SCOPED_TRACE(entry.path().string());
    CheckModel(entry.path().string());
    ++models;
  }
  EXPECT_GE(models, 15);
}

}  // namespace
}  // namespace lathe
