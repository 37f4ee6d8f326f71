// Every model in third_party/models and module in third_party/modules against PyTorch's recorded
// answers, and every way of running it against every other: tiers, thread counts and the serialised
// plan give the same bits.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "codegen/plan/size_assumptions.h"
#include "compiler.h"
#include "driver/check_outputs.h"
#include "driver/compare_tensors.h"
#include "driver/tensor_files.h"
#include "driver/user_inputs.h"
#include "dtypes/base/status.h"
#include "ir/text/printer.h"

namespace lathe {
namespace {

using driver::CheckLine;
using driver::CheckOutputs;
using Tensors = std::map<std::string, Tensor>;

std::vector<std::string> ProgramsIn(const std::string& directory) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
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

  void CheckEveryWay();

  Tensors recorded_;
};

// Complex numbers are computed by reference evaluation, which --strict refuses.
bool HasComplexNumbers(const Program& program) {
  for (const Node* node = program.main->first(); node != nullptr; node = node->next) {
    for (const Value* result : node->results) {
      if (result->type.is_tensor() && IsComplex(result->type.tensor().dtype)) return true;
    }
  }
  return false;
}

void RunModels::CheckEveryWay() {
  std::map<std::string, std::string> first_bits;  // by input set
  for (const Way& way : Ways()) {
    SCOPED_TRACE(way.name);
    // Loaded anew: a program may change its buffers.
    absl::StatusOr<Program> program = LoadProgram(GetParam());
    ASSERT_TRUE(program.ok()) << Describe(program.status());
    CompileOptions options = way.options;
    options.strict &= !HasComplexNumbers(*program);
    absl::StatusOr<Executable> model = Compile(*program, options);
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

TEST_P(RunModels, EveryWayGivesTheRecordedAnswers) { CheckEveryWay(); }

class RunModules : public RunModels {};

TEST_P(RunModules, EveryWayGivesTheRecordedAnswers) { CheckEveryWay(); }

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

std::string RangeText(const symbolic::Range& r) {
  return absl::StrCat("[", r.lower == symbolic::Range::kMin ? "-inf" : absl::StrCat(r.lower), ", ",
                      r.upper == symbolic::Range::kMax ? "inf" : absl::StrCat(r.upper), "]");
}

// "model symbol [lower, upper]" lines of the model.
std::vector<std::string> ExpectedRanges(const std::string& model) {
  std::ifstream in("tests/models/derived_ranges.txt");
  EXPECT_TRUE(in.good());
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, model.size() + 1, model + " ") == 0) lines.push_back(line);
  }
  return lines;
}

// What is run: the reference tier goes element by element.
constexpr int64_t kLargestSize = 66;
constexpr int64_t kMostElements = 160000;

constexpr int64_t kUsualSize = 2;

// The ends of both ranges and their neighbours.
std::set<int64_t> SizesToTry(const symbolic::Range& was, const symbolic::Range& is) {
  std::set<int64_t> sizes;
  for (const int64_t end : {was.lower, was.upper, is.lower, is.upper}) {
    for (const int64_t near : {-1, 0, 1}) {
      if (end >= 0 && end < kLargestSize && end + near >= 0) sizes.insert(end + near);
    }
  }
  return sizes;
}

// Where the ranges allow the size `model` gives what the reference gives, elsewhere both refuse it.
// Symbols that the exporter saw at one size go together, the others stay at a usual one.
void RunAt(const Program& program, const ShapeEnv& recorded, const Executable& model,
           const Executable& reference, const Expr& symbol, int64_t size) {
  SCOPED_TRACE(absl::StrCat(symbolic::ToString(symbol), " = ", size));
  ShapeEnv& shapes = *program.shapes;
  const auto seen = [&](const Expr& s) {
    const std::optional<Expr> in_recorded = recorded.context().FindSymbol(s.symbol_name());
    return in_recorded ? recorded.hint(*in_recorded) : std::nullopt;
  };
  bool is_allowed = true;
  for (const Expr& s : shapes.symbols()) {
    const bool moves = s == symbol || seen(s) == seen(symbol);
    shapes.SetHint(s, moves ? size : kUsualSize);
    is_allowed = is_allowed && (!moves || shapes.RangeOf(s).Contains(size));
  }
  const auto inputs = driver::MakeUpInputs(program);
  ASSERT_TRUE(inputs.ok()) << Describe(inputs.status());
  int64_t elements = 0;
  for (const RunValue& value : *inputs) {
    if (const auto* tensor = std::get_if<Tensor>(&value)) elements += tensor->numel();
  }
  if (elements > kMostElements) return;
  const absl::StatusOr<std::vector<RunValue>> ours = model.Run(Copies(*inputs));
  const absl::StatusOr<std::vector<RunValue>> expected = reference.Run(Copies(*inputs));
  ASSERT_EQ(ours.ok(), is_allowed) << Describe(ours.status());
  ASSERT_EQ(expected.ok(), is_allowed) << Describe(expected.status());
  if (!is_allowed) return;
  ASSERT_EQ(ours->size(), expected->size());
  for (size_t i = 0; i < ours->size(); ++i) {
    const auto* a = std::get_if<Tensor>(&(*ours)[i]);
    const auto* b = std::get_if<Tensor>(&(*expected)[i]);
    if (a == nullptr || b == nullptr || !a->is_defined()) continue;
    const driver::Comparison c =
        driver::CompareTensors(*a, *b, Tensor(), driver::CheckTolerance(a->dtype()));
    EXPECT_TRUE(c.passed) << "output " << i << ": " << c.difference;
  }
}

// The ranges that the exporter recorded come out again, or those of derived_ranges.txt, when sizes
// are inferred without them. And these are right: one compile of that program serves both sets of
// inputs and the sizes at and about the ends of both ranges; what it refuses the reference refuses.
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
  const std::vector<Expr> symbols = program->shapes->symbols();  // compiling adds others
  absl::StatusOr<Executable> model = Compile(*program, {.tier = Tier::kTile, .threads = 1});
  ASSERT_TRUE(model.ok()) << Describe(model.status());
  absl::StatusOr<Executable> reference = Compile(*program, {.tier = Tier::kReference});
  ASSERT_TRUE(reference.ok()) << Describe(reference.status());
  for (const SizeAssumption& a : SizeAssumptions(*program->main, *program->shapes)) {
    const absl::Status learnt = program->shapes->AddFact(a.condition);
    ASSERT_TRUE(learnt.ok()) << Describe(learnt);
  }
  const std::string name = std::filesystem::path(GetParam()).stem().string();
  std::vector<std::string> derived;
  for (const Expr& symbol : symbols) {
    const symbolic::Range is = program->shapes->RangeOf(symbol);
    derived.push_back(absl::StrCat(name, " ", symbolic::ToString(symbol), " ", RangeText(is)));
    const std::optional<Expr> same = recorded->shapes->context().FindSymbol(symbol.symbol_name());
    if (!same || symbol.symbol_kind() == symbolic::SymbolKind::kUnbacked) continue;
    for (const int64_t size : SizesToTry(recorded->shapes->RangeOf(*same), is)) {
      RunAt(*program, *recorded->shapes, *model, *reference, symbol, size);
    }
  }
  EXPECT_EQ(derived, ExpectedRanges(name));
  for (const std::string suffix : {"", "2"}) {
    if (HasSet(suffix)) RunSet(*program, *model, suffix);
  }
}

INSTANTIATE_TEST_SUITE_P(All, RunModels, testing::ValuesIn(ProgramsIn("third_party/models")),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return std::filesystem::path(info.param).stem().string();
                         });
INSTANTIATE_TEST_SUITE_P(All, RunModules, testing::ValuesIn(ProgramsIn("third_party/modules")),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return std::filesystem::path(info.param).stem().string();
                         });

}  // namespace
}  // namespace lathe
