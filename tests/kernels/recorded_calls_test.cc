// Recorded calls of the operators that others compose, as compiled programs.

#include "ir/reference/recorded_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "compiler.h"
#include "dtypes/base/status.h"
#include "ir/ops/registry.h"
#include "ir/reference/conform_program.h"

namespace lathe {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

HostValue ToHost(const RunValue& value) {
  if (const Scalar* number = std::get_if<Scalar>(&value)) return HostValue(*number);
  const Tensor& tensor = std::get<Tensor>(value);
  return tensor.is_defined() ? HostValue(tensor) : HostValue();
}

absl::StatusOr<std::vector<HostValue>> RunOn(Tier tier, const Program& program,
                                             const std::vector<HostValue>& inputs) {
  CompileOptions options;
  options.tier = tier;
  LATHE_ASSIGN_OR_RETURN(const Executable executable, Compile(program, options));
  std::vector<RunValue> values;
  for (const HostValue& input : inputs) values.emplace_back(input.tensor());
  LATHE_ASSIGN_OR_RETURN(std::vector<RunValue> outputs, executable.Run(values));
  std::vector<HostValue> results;
  for (const RunValue& output : outputs) results.push_back(ToHost(output));
  return results;
}

// Of every `stride`-th call.
void ExpectAnswers(const std::string& file, Tier tier, size_t stride) {
  const std::string path = "third_party/vectors/" + file;
  absl::StatusOr<std::vector<RecordedCall>> all =
      ReadRecordedCalls(ReadFile(path + ".jsonl"), ReadFile(path + ".safetensors"));
  ASSERT_TRUE(all.ok()) << all.status();
  std::vector<RecordedCall> calls;
  for (size_t k = 0; k < all->size(); k += stride) calls.push_back(std::move((*all)[k]));
  const auto run = [tier](const Program& program, const std::vector<HostValue>& inputs) {
    return RunOn(tier, program, inputs);
  };
  constexpr size_t kBatch = 32;
  for (size_t begin = 0; begin < calls.size(); begin += kBatch) {
    const absl::Span<const RecordedCall> batch =
        absl::MakeConstSpan(calls).subspan(begin, std::min(kBatch, calls.size() - begin));
    const std::vector<ConformAnswer> answers = CheckByProgram(batch, OpRegistry::Builtin(), run);
    for (size_t k = 0; k < batch.size(); ++k) {
      EXPECT_EQ(answers[k].conformity, Conformity::kPassed)
          << batch[k].op << " #" << batch[k].id << ": " << answers[k].message;
    }
  }
}

TEST(RecordedCalls, HaveTheirAnswersOnTile) { ExpectAnswers("more_ops", Tier::kTile, 1); }
TEST(RecordedCalls, HaveTheirAnswersOnNative) { ExpectAnswers("more_ops", Tier::kNative, 25); }
TEST(RecordedCalls, OfIntegersHaveTheirAnswersOnTile) {
  ExpectAnswers("integer_ops", Tier::kTile, 1);
}
TEST(RecordedCalls, OfIntegersHaveTheirAnswersOnNative) {
  ExpectAnswers("integer_ops", Tier::kNative, 50);
}

}  // namespace
}  // namespace lathe
