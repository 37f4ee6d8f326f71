// Every model in third_party/models against PyTorch's recorded answers, and every way of running it
// against every other: tiers, thread counts and the serialised plan give the same bits.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <string>

#include "compiler.h"
#include "driver/check_outputs.h"
#include "driver/tensor_files.h"
#include "driver/user_inputs.h"
#include "dtypes/base/status.h"
#include "ir/text/printer.h"

namespace lathe {
namespace {

using driver::CheckLine;
using driver::CheckOutputs;
using Tensors = std::map<std::string, Tensor>;

std::vector<std::string> ModelPaths() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("third_party/models")) {
    if (entry.path().extension() == ".pt2") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::vector<RunValue> Copies(const std::vector<RunValue>& values) {
  std::vector<RunValue> copies;
  for (const RunValue& value : values) {
    const auto* tensor = std::get_if<Tensor>(&value);
    copies.push_back(tensor != nullptr ? RunValue(tensor->Clone()) : value);
  }
  return copies;
}

std::string Bits(const std::vector<RunValue>& values) {
  std::string bits;
  for (const RunValue& value : values) {
    const auto* tensor = std::get_if<Tensor>(&value);
    if (tensor == nullptr || !tensor->is_defined()) continue;
    const Tensor dense = tensor->Clone();
    bits.append(static_cast<const char*>(dense.data()),
                static_cast<size_t>(*ByteSize(dense.dtype(), dense.numel())));
  }
  return bits;
}

struct Way {
  const char* name;
  CompileOptions options;
};

std::vector<Way> Ways() {
  return {
      {"tile", {.tier = Tier::kTile, .threads = 1}},
      {"tile, two threads", {.tier = Tier::kTile, .threads = 2}},
      {"tile, serialised", {.tier = Tier::kTile, .threads = 1, .through_serialized_plan = true}},
      {"native", {.tier = Tier::kNative, .threads = 1, .strict = true}},
      {"native, two threads", {.tier = Tier::kNative, .threads = 2, .strict = true}},
      {"reference", {.tier = Tier::kReference}},
  };
}

class RunModels : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    setenv("LATHE_CACHE_DIR", testing::TempDir().c_str(), 1);
    std::string answers = GetParam();
    answers.replace(answers.size() - 4, 4, ".io.safetensors");
    absl::StatusOr<Tensors> recorded = driver::ReadTensorFile(answers);
    ASSERT_TRUE(recorded.ok()) << Describe(recorded.status());
    recorded_ = *std::move(recorded);
  }

  bool HasSet(const std::string& suffix) const {
    const std::string prefix = "in" + suffix + ".";
    return std::any_of(recorded_.begin(), recorded_.end(), [&](const auto& entry) {
      return entry.first.compare(0, prefix.size(), prefix) == 0;
    });
  }

  // Runs one set of inputs, compares with the recorded answers, gives the bits of all results.
  std::string RunSet(const Program& program, const Executable& model, const std::string& suffix) {
    auto inputs =
        driver::InputsFromTensors(driver::UserInputsOf(program), recorded_, "in" + suffix);
    EXPECT_TRUE(inputs.ok()) << Describe(inputs.status());
    if (!inputs.ok()) return "";
    const std::vector<RunValue> given = Copies(*inputs);
    absl::StatusOr<std::vector<RunValue>> outputs = model.Run(given);
    EXPECT_TRUE(outputs.ok()) << Describe(outputs.status());
    if (!outputs.ok()) return "";
    for (const CheckLine& line : CheckOutputs(*outputs, *inputs, given, recorded_, suffix)) {
      EXPECT_TRUE(line.comparison.passed) << line.name << ": " << line.comparison.difference;
    }
    return Bits(*outputs) + Bits(given);
  }

  Tensors recorded_;
};

TEST_P(RunModels, EveryWayGivesTheRecordedAnswers) {
  std::map<std::string, std::string> first_bits;  // by input set
  for (const Way& way : Ways()) {
    SCOPED_TRACE(way.name);
    // Loaded anew: a program may change its buffers.
    absl::StatusOr<Program> program = LoadProgram(GetParam());
    ASSERT_TRUE(program.ok()) << Describe(program.status());
    absl::StatusOr<Executable> model = Compile(*program, way.options);
    ASSERT_TRUE(model.ok()) << Describe(model.status());
    for (const std::string suffix : {"", "2"}) {
      if (!HasSet(suffix)) continue;
      const std::string bits = RunSet(*program, *model, suffix);
      if (way.options.tier == Tier::kReference) continue;
      const auto [it, is_first] = first_bits.emplace(suffix, bits);
      EXPECT_TRUE(is_first || it->second == bits) << "other bits than tile on one thread";
    }
  }
}

// A program's text without what the exporter recorded: preconditions, and types that can be
// inferred (a line that binds an unbacked size keeps its own).
std::string WithoutRecordedSizes(const std::string& text) {
  static const std::regex conditions(R"( where [^\n]* \{\n)");
  static const std::regex types(R"((\)) : [^\n]*?( at "[^\n]*)?\n)");
  static const std::regex binds(R"(\bu[0-9])");
  const std::string open = std::regex_replace(text, conditions, " {\n");
  std::string result;
  for (size_t begin = 0, end = 0; begin < open.size(); begin = end) {
    end = open.find('\n', begin);
    end = end == std::string::npos ? open.size() : end + 1;
    const std::string line = open.substr(begin, end - begin);
    const bool keeps = line[0] != ' ' || std::regex_search(line, binds);
    result += keeps ? line : std::regex_replace(line, types, "$1$2\n");
  }
  return result;
}

// The ranges that the exporter recorded come out again, or wider ones, when sizes are inferred
// without them; and these are right: one compile of that program serves both sets of inputs.
TEST_P(RunModels, RecordedRangesAreRederived) {
  absl::StatusOr<Program> recorded = LoadProgram(GetParam());
  ASSERT_TRUE(recorded.ok()) << Describe(recorded.status());
  if (recorded->shapes->symbols().empty()) GTEST_SKIP() << "no dynamic size";
  std::string text = WithoutRecordedSizes(PrintProgram(*recorded));
  const std::string archive = std::filesystem::absolute(GetParam());
  text = std::regex_replace(text, std::regex("archive \"[^\"]*\""), "archive \"" + archive + "\"");
  const std::string path =
      testing::TempDir() + "/" + std::filesystem::path(GetParam()).stem().string() + ".lathe";
  std::ofstream(path) << text;
  absl::StatusOr<Program> program = LoadProgram(path);
  ASSERT_TRUE(program.ok()) << Describe(program.status()) << "\n" << text.substr(0, 4000);
  EXPECT_TRUE(program->main->preconditions().empty());
  for (const Expr& symbol : recorded->shapes->symbols()) {
    const std::optional<Expr> own = program->shapes->context().FindSymbol(symbol.symbol_name());
    ASSERT_TRUE(own) << symbolic::ToString(symbol);
    const symbolic::Range was = recorded->shapes->RangeOf(symbol);
    const symbolic::Range is = program->shapes->RangeOf(*own);
    EXPECT_TRUE(is.lower <= was.lower && was.upper <= is.upper)
        << symbolic::ToString(symbol) << " in [" << is.lower << ", " << is.upper << "], recorded ["
        << was.lower << ", " << was.upper << "]";
  }
  absl::StatusOr<Executable> model = Compile(*program, {.tier = Tier::kTile, .threads = 1});
  ASSERT_TRUE(model.ok()) << Describe(model.status());
  for (const std::string suffix : {"", "2"}) {
    if (HasSet(suffix)) RunSet(*program, *model, suffix);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RunModels, testing::ValuesIn(ModelPaths()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return std::filesystem::path(info.param).stem().string();
                         });

}  // namespace
}  // namespace lathe
