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

using Check = ConformAnswer (*)(const RecordedCall& call, const OpRegistry& registry);

// Runs `check` on every recorded call of a file; at least `wanted` must pass and none may fail.
void CheckAll(Check check, const std::string& file, int wanted) {
  const std::string path = "third_party/vectors/" + file;
  absl::StatusOr<std::vector<RecordedCall>> calls =
      ReadRecordedCalls(ReadFile(path + ".jsonl"), ReadFile(path + ".safetensors"));
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
    if (count.failed > 0) {
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
TEST(Conform, EvaluateAgrees) { CheckAll(CheckCall, "ops", 9056); }
TEST(Conform, LoweringsAgree) { CheckAll(CheckLowering, "ops", 5545); }
TEST(Conform, EvaluateAgreesOnMore) { CheckAll(CheckCall, "more_ops", 1117); }
TEST(Conform, LoweringsAgreeOnMore) { CheckAll(CheckLowering, "more_ops", 58); }
TEST(Conform, EvaluateAgreesOnIntegers) { CheckAll(CheckCall, "integer_ops", 1039); }
TEST(Conform, LoweringsAgreeOnIntegers) { CheckAll(CheckLowering, "integer_ops", 169); }

}  // namespace
}  // namespace lathe
