// The operators that every dtype has, on every dtype and layout: the compiled program against the
// reference. calls.txt lists the calls; then come the samples of every row of the registry. The
// reference itself is held against recorded answers (ir/reference) and, for packed integers, which
// have none, against arithmetic in more bits (tests/integers).
//   LATHE_SWEEP=REGEX   only calls that match; prints every difference

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <regex>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler.h"
#include "dtypes/base/status.h"
#include "ir/reference/conform.h"
#include "ir/reference/evaluator.h"
#include "tests/sweep/call_text.h"

namespace lathe::sweep {
namespace {

constexpr DType kSwept[] = {DType::kBool, DType::kU8,  DType::kU16, DType::kU32, DType::kU64,
                            DType::kI8,   DType::kI16, DType::kI32, DType::kI64, DType::kF16,
                            DType::kBF16, DType::kF32, DType::kF64};
constexpr Layout kLayouts[] = {Layout::kDense, Layout::kTransposed, Layout::kSliced,
                               Layout::kExpanded};
constexpr DType kPacked[] = {DType::kU1, DType::kU2, DType::kU3, DType::kU4, DType::kU5,
                             DType::kU6, DType::kU7, DType::kI1, DType::kI2, DType::kI3,
                             DType::kI4, DType::kI5, DType::kI6, DType::kI7};

struct Line {
  std::string call;
  bool no_bool = false, no_float = false, no_int = false;
  bool nonzero = false, small = false, dense = false;

  bool Takes(DType dtype) const {
    if (IsBool(dtype)) return !no_bool;
    return IsFloat(dtype) ? !no_float : !no_int;
  }
};

Line ReadLine(std::string text) {
  Line line;
  const std::pair<const char*, bool*> words[] = {
      {"-bool ", &line.no_bool},   {"-float ", &line.no_float}, {"-int ", &line.no_int},
      {"nonzero ", &line.nonzero}, {"small ", &line.small},     {"dense ", &line.dense}};
  for (bool found = true; found;) {
    found = false;
    for (const auto& [word, flag] : words) {
      if (!absl::StartsWith(text, word)) continue;
      *flag = found = true;
      text.erase(0, std::string(word).size());
    }
  }
  line.call = text;
  return line;
}

// One call with inputs, and copies of them for the reference.
struct Case {
  CallText call;
  bool writes = false;
  std::vector<Tensor> inputs;
  std::vector<HostValue> copies;
};

class Sweeper {
 public:
  // What went wrong, or "".
  std::string Run(const Line& line, DType dtype, Layout layout, bool is_sample = false) {
    absl::StatusOr<Case> made = MakeCase(line, dtype, layout);
    if (!made.ok()) return Describe(made.status());
    absl::StatusOr<Program> program = ProgramOf(made->call, made->inputs);
    if (!program.ok()) {
      if (HasNoCommonType(program.status(), dtype)) return "";
      // Views refuse some layouts.
      const bool refused = absl::IsInvalidArgument(program.status()) && layout != Layout::kDense;
      return refused && is_sample ? "" : Describe(program.status());
    }
    absl::StatusOr<ReferenceResult> expected = EvaluateReference(*program, made->copies);
    absl::StatusOr<std::vector<RunValue>> actual = Compiled(*program, made->inputs, Tier::kTile);
    // What the call refuses to compute, both must refuse.
    if (is_sample && !expected.ok() && !actual.ok()) return "";
    if (!expected.ok()) return absl::StrCat("reference: ", Describe(expected.status()));
    if (!actual.ok()) return Describe(actual.status());
    return Difference(*made, *actual, expected->outputs);
  }

  // Several calls of one program on native code, each against its own reference.
  std::string RunNative(absl::Span<const Line> lines, DType dtype, Layout layout) {
    std::vector<Case> cases;
    std::vector<std::string> names;
    std::vector<std::vector<HostValue>> expected;
    std::vector<CallText> calls;
    std::vector<std::vector<Tensor>> tensors;
    std::vector<Tensor> inputs;
    for (const Line& line : lines) {
      absl::StatusOr<Case> made = MakeCase(line, dtype, layout);
      if (!made.ok()) return absl::StrCat(line.call, ": ", Describe(made.status()));
      const absl::StatusOr<Program> alone = ProgramOf(made->call, made->inputs);
      if (!alone.ok() && HasNoCommonType(alone.status(), dtype)) continue;
      if (!alone.ok()) return absl::StrCat(line.call, ": ", Describe(alone.status()));
      absl::StatusOr<ReferenceResult> result = EvaluateReference(*alone, made->copies);
      if (!result.ok()) return absl::StrCat(line.call, ": ", Describe(result.status()));
      expected.push_back(result->outputs);
      calls.push_back(made->call);
      tensors.push_back(made->inputs);
      inputs.insert(inputs.end(), made->inputs.begin(), made->inputs.end());
      names.push_back(line.call);
      cases.push_back(*std::move(made));
    }
    absl::StatusOr<Program> program = ProgramOf(calls, tensors);
    if (!program.ok()) return Describe(program.status());
    absl::StatusOr<std::vector<RunValue>> actual = Compiled(*program, inputs, Tier::kNative);
    if (!actual.ok()) return Describe(actual.status());
    size_t first = 0;
    for (size_t k = 0; k < cases.size(); first += expected[k++].size()) {
      const auto mine = absl::MakeConstSpan(*actual).subspan(first, expected[k].size());
      const std::string difference = Difference(cases[k], mine, expected[k]);
      if (!difference.empty()) return absl::StrCat(names[k], ": ", difference);
    }
    return "";
  }

 private:
  absl::StatusOr<Case> MakeCase(const Line& line, DType dtype, Layout layout) {
    Case made;
    LATHE_ASSIGN_OR_RETURN(made.call, ReadCall(line.call, dtype));
    made.writes = absl::StrContains(made.call.op, "_.") || absl::EndsWith(made.call.op, "_");
    for (size_t k = 0; k < made.call.tensors.size(); ++k) {
      const CallTensor& t = made.call.tensors[k];
      const bool is_target = made.writes && k == 0 && layout == Layout::kExpanded;
      made.inputs.push_back(EmptyInLayout(t.dtype, t.sizes, is_target ? Layout::kDense : layout));
      Fill(made.inputs.back(), t, line);
    }
    for (const Tensor& t : made.inputs) made.copies.emplace_back(Copy(t));
    return made;
  }

  // Packed integers with floats: PyTorch promotes few of them, and lathe as it does.
  static bool HasNoCommonType(const absl::Status& status, DType dtype) {
    return IsSubByte(dtype) && absl::StrContains(status.message(), "cannot promote");
  }

  static std::string Difference(const Case& made, absl::Span<const RunValue> actual,
                                absl::Span<const HostValue> expected) {
    const bool compares = HasChosenValues(made.call.op);
    for (size_t k = 0; k < actual.size(); ++k) {
      const Tensor* mine = std::get_if<Tensor>(&actual[k]);
      if (mine == nullptr || !expected[k].is_tensor()) continue;
      const std::string difference = CompareTensors(*mine, expected[k].tensor(), compares);
      if (!difference.empty()) return absl::StrCat("result ", k, ": ", difference);
    }
    for (size_t k = 0; made.writes && k < made.inputs.size(); ++k) {
      const std::string difference =
          CompareTensors(made.inputs[k], made.copies[k].tensor(), compares);
      if (!difference.empty()) return absl::StrCat("input ", k, " afterwards: ", difference);
    }
    return "";
  }

  static absl::StatusOr<std::vector<RunValue>> Compiled(const Program& program,
                                                        const std::vector<Tensor>& inputs,
                                                        Tier tier) {
    LATHE_ASSIGN_OR_RETURN(Executable executable, Compile(program, {.tier = tier, .threads = 1}));
    return executable.Run(std::vector<RunValue>(inputs.begin(), inputs.end()));
  }
  static Tensor Copy(const Tensor& t) {
    Tensor copy = EmptyLike(t);
    copy.CopyFrom(t);
    return copy;
  }
  static Tensor EmptyLike(const Tensor& t) {
    int64_t last = t.offset();
    for (int d = 0; d < t.rank(); ++d) {
      if (t.sizes()[d] > 0) last += (t.sizes()[d] - 1) * t.strides()[d];
    }
    return Tensor::Zeros(t.dtype(), {last + 1}).AsStrided(t.sizes(), t.strides(), t.offset());
  }

  int64_t Below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  Scalar Number(DType dtype, const Line& line) {
    if (line.small) return Convert(Scalar(Below(4)), dtype);
    if (IsBool(dtype)) return Scalar(line.nonzero || Below(2) == 1);
    if (IsFloat(dtype)) {
      static constexpr double kSpecial[] = {-0.0, std::numeric_limits<double>::infinity(),
                                            std::numeric_limits<double>::quiet_NaN(), 1.0};
      if (!line.nonzero && Below(12) == 0) return Convert(Scalar(kSpecial[Below(4)]), dtype);
      return Convert(Scalar((static_cast<double>(Below(2000)) - 999.5) / 128), dtype);
    }
    // Around 0 and around the ends of the range; the conversion wraps.
    const int64_t width = BitWidth(dtype);
    const uint64_t centers[] = {0, uint64_t{1} << (width - 1), 0, random_()};
    uint64_t value = centers[Below(4)] + static_cast<uint64_t>(Below(9)) - 4;
    Scalar number = Convert(Scalar(value), dtype);
    if (line.nonzero && !number.ToBool()) number = Convert(Scalar(3), dtype);
    return number;
  }

  // Tensors of a fixed integer dtype are indices: 0 or 1 here.
  void Fill(const Tensor& t, const CallTensor& spec, const Line& line) {
    for (int64_t k = 0; k < t.numel(); ++k) {
      Scalar value = Scalar(Below(2));
      if (spec.is_swept || IsFloat(spec.dtype)) value = Number(spec.dtype, line);
      if (IsBool(spec.dtype) && !spec.is_swept) value = Scalar(Below(2) == 1);
      t.SetLinear(k, value);
    }
  }

  std::mt19937_64 random_{20261129};
};

class Report {
 public:
  Report() {
    if (const char* filter = std::getenv("LATHE_SWEEP")) {
      verbose_ = true;
      pattern_ = std::regex(filter);
    }
  }
  bool Wants(const std::string& call) const { return std::regex_search(call, pattern_); }
  void Add(const std::string& call, DType dtype, Layout layout, const std::string& message) {
    if (message.empty()) {
      ++passed_;
      return;
    }
    ++failed_;
    const std::string text =
        absl::StrCat(call, " of ", Name(dtype), ", ", LayoutName(layout), ": ", message);
    if (verbose_) printf("%s\n", text.c_str());
    std::pair<int, std::string>& entry = first_[call];
    if (entry.first++ == 0) entry.second = text;
  }
  // The calls that differ, a line each; a sweep that ran next to nothing is one too, unless few
  // were asked for.
  std::string Faults() const {
    printf("%d passed, %d failed\n", passed_, failed_);
    std::string text;
    for (const auto& [call, entry] : first_) {
      absl::StrAppend(&text, entry.first, " times: ", entry.second, "\n");
    }
    if (!verbose_ && passed_ <= 1000) absl::StrAppend(&text, "only ", passed_, " calls passed\n");
    return text;
  }

 private:
  bool verbose_ = false;
  std::regex pattern_{""};
  int passed_ = 0, failed_ = 0;
  std::map<std::string, std::pair<int, std::string>> first_;
};

std::vector<Line> ReadLines(const Report& report) {
  std::ifstream file("tests/sweep/calls.txt");
  EXPECT_TRUE(file.is_open());
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    if (!text.empty() && text[0] != '#' && report.Wants(text)) lines.push_back(ReadLine(text));
  }
  return lines;
}

std::string Sweep(absl::Span<const DType> dtypes, absl::Span<const Layout> layouts) {
  Report report;
  Sweeper sweeper;
  for (const Line& line : ReadLines(report)) {
    for (DType dtype : dtypes) {
      if (!line.Takes(dtype)) continue;
      for (Layout layout : layouts) {
        if (line.dense && layout != Layout::kDense) continue;
        report.Add(line.call, dtype, layout, sweeper.Run(line, dtype, layout));
      }
    }
  }
  return report.Faults();
}

TEST(Sweep, EveryDTypeAndLayout) { EXPECT_EQ(Sweep(kSwept, kLayouts), ""); }

constexpr Layout kPackedLayouts[] = {Layout::kDense, Layout::kSliced, Layout::kOffset};

// Every width, from its first bit and from within a byte, with neighbours and with gaps.
TEST(Sweep, PackedUnsigned) {
  EXPECT_EQ(Sweep(absl::MakeConstSpan(kPacked).first(7), kPackedLayouts), "");
}
TEST(Sweep, PackedSigned) {
  EXPECT_EQ(Sweep(absl::MakeConstSpan(kPacked).last(7), kPackedLayouts), "");
}

// Native code takes time to compile: some widths, each in one layout, many calls in one program.
TEST(Sweep, PackedOnNativeCode) {
  constexpr size_t kCalls = 24;
  const std::pair<DType, Layout> kinds[] = {{DType::kU1, Layout::kDense},
                                            {DType::kU3, Layout::kSliced},
                                            {DType::kU4, Layout::kOffset},
                                            {DType::kI4, Layout::kDense},
                                            {DType::kI7, Layout::kOffset}};
  Report report;
  Sweeper sweeper;
  for (const auto& [dtype, layout] : kinds) {
    std::vector<Line> lines;
    for (const Line& line : ReadLines(report)) {
      if (line.Takes(dtype) && !(line.dense && layout != Layout::kDense)) lines.push_back(line);
    }
    for (size_t begin = 0; begin < lines.size(); begin += kCalls) {
      const auto some = absl::MakeConstSpan(lines).subspan(begin, kCalls);
      const std::string message = sweeper.RunNative(some, dtype, layout);
      for (const Line& line : some) report.Add(line.call, dtype, layout, message);
    }
  }
  EXPECT_EQ(report.Faults(), "");
}

// The samples of every row as they are written, in every layout.
TEST(Sweep, SamplesOfTheRegistry) {
  Report report;
  Sweeper sweeper;
  for (const OpRow* row : OpRegistry::Builtin().rows()) {
    for (const std::string& sample : row->samples) {
      if (!report.Wants(sample)) continue;
      Line line = ReadLine(sample);
      line.nonzero = true;  // and no infinities: convolutions may multiply them by padding
      // These see the storage beneath a tensor, which copies do not have.
      line.dense =
          absl::StrContains(sample, "as_strided") || absl::StrContains(sample, "_reshape_alias");
      for (Layout layout : {Layout::kDense, Layout::kTransposed, Layout::kSliced}) {
        if (line.dense && layout != Layout::kDense) continue;
        report.Add(sample, DType::kF32, layout, sweeper.Run(line, DType::kF32, layout, true));
      }
    }
  }
  EXPECT_EQ(report.Faults(), "");
}

}  // namespace
}  // namespace lathe::sweep
