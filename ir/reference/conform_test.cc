// Every recorded call whose op the registry knows, against its recorded answer.
//   LATHE_CONFORM=REGEX   only ops whose name matches; prints every difference

#include "ir/reference/conform.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Count {
  int passed = 0, failed = 0, unsupported = 0;
  std::string message;
};

// Calls that are known to differ from eager, and why. No more may fail than stated.
int KnownDifferences(const std::string& op) {
  static const auto* known = new std::map<std::string, int>{
      {"aten.grid_sampler_2d.default", 6},    // halves: eager computes places in halves
      {"aten.histc.default", 1},              // f16: eager computes the part in f16
      {"aten.kthvalue.default", 11},          // ties: eager's places depend on its quickselect
      {"aten.upsample_linear1d.default", 1},  // f16: eager rounds in between
  };
  auto it = known->find(op);
  return it == known->end() ? 0 : it->second;
}

using Check = ConformAnswer (*)(const RecordedCall& call, const OpRegistry& registry);

// Runs `check` on every recorded call; at least `wanted` must pass and none may fail.
void CheckAll(Check check, int wanted) {
  absl::StatusOr<std::vector<RecordedCall>> calls = ReadRecordedCalls(
      ReadFile("third_party/vectors/ops.jsonl"), ReadFile("third_party/vectors/ops.safetensors"));
  ASSERT_TRUE(calls.ok()) << calls.status();
  const char* filter = std::getenv("LATHE_CONFORM");
  std::regex pattern(filter != nullptr ? filter : "");
  std::map<std::string, Count> counts;
  Count total;
  for (const RecordedCall& call : *calls) {
    if (!std::regex_search(call.op, pattern)) continue;
    ConformAnswer answer = check(call, OpRegistry::Builtin());
    Count& count = counts[call.op];
    for (Count* c : {&count, &total}) {
      c->passed += answer.conformity == Conformity::kPassed;
      c->failed += answer.conformity == Conformity::kFailed;
      c->unsupported += answer.conformity == Conformity::kUnsupported;
    }
    if (answer.conformity == Conformity::kPassed) continue;
    std::string message = absl::StrCat("#", call.id, ": ", answer.message);
    if (count.message.empty() || answer.conformity == Conformity::kFailed) count.message = message;
    if (filter != nullptr) printf("%s %s\n", call.op.c_str(), message.c_str());
  }
  for (const auto& [op, count] : counts) {
    if (count.failed > KnownDifferences(op)) {
      ADD_FAILURE() << op << ": " << count.passed << " passed, " << count.failed << " failed; "
                    << count.message;
    } else if (count.unsupported > 0) {
      printf("unsupported: %s (%d of %d): %s\n", op.c_str(), count.unsupported,
             count.unsupported + count.passed, count.message.c_str());
    }
  }
  printf("%d passed, %d failed, %d unsupported\n", total.passed, total.failed, total.unsupported);
  if (filter == nullptr) {
    EXPECT_GE(total.passed, wanted);
  }
}

// The numbers rise with every op that is added.
TEST(Conform, EvaluateAgrees) { CheckAll(CheckCall, 8787); }
TEST(Conform, LoweringsAgree) { CheckAll(CheckLowering, 5460); }

}  // namespace
}  // namespace lathe
