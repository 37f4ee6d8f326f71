// lathe conform: operators against recorded calls.

#include <regex.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "compiler.h"
#include "driver/command.h"
#include "driver/compile_flags.h"
#include "dtypes/base/status.h"
#include "ir/reference/conform_program.h"
#include "runtime/files/mapped_file.h"

namespace lathe::driver {
namespace {

constexpr char kUsage[] =
    "CASES.jsonl TENSORS.safetensors [--filter REGEX] [--grad] "
    "[--relayout transposed|sliced|expanded] [--tile N] [--device cpu] [--tier "
    "auto|tile|native|reference] [--threads N] [--strict] [--json]";

// Calls in one program: native code compiles in parallel units, and a failure is found by halving.
constexpr size_t kBatch = 32;

// A POSIX extended regular expression, which reports errors without exceptions.
class Pattern {
 public:
  static absl::StatusOr<std::unique_ptr<Pattern>> Parse(const std::string& text) {
    std::unique_ptr<Pattern> pattern(new Pattern);
    int error = regcomp(&pattern->regex_, text.c_str(), REG_EXTENDED | REG_NOSUB);
    if (error == 0) {
      pattern->compiled_ = true;
      return pattern;
    }
    char message[200];
    regerror(error, &pattern->regex_, message, sizeof(message));
    return InvalidArgument("--filter ", text, ": ", message);
  }
  ~Pattern() {
    if (compiled_) regfree(&regex_);
  }
  bool Matches(const std::string& text) const {
    return regexec(&regex_, text.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  Pattern() = default;
  regex_t regex_;
  bool compiled_ = false;
};

HostValue ToHostValue(const RunValue& value) {
  if (const Scalar* number = std::get_if<Scalar>(&value)) return HostValue(*number);
  const Tensor& tensor = std::get<Tensor>(value);
  return tensor.is_defined() ? HostValue(tensor) : HostValue();
}

absl::StatusOr<std::vector<HostValue>> RunProgram(const Program& program,
                                                  const std::vector<HostValue>& inputs,
                                                  const CompileOptions& options) {
  LATHE_ASSIGN_OR_RETURN(Executable executable, Compile(program, options));
  std::vector<RunValue> values;
  for (const HostValue& input : inputs) values.push_back(input.tensor());
  LATHE_ASSIGN_OR_RETURN(std::vector<RunValue> outputs, executable.Run(values));
  std::vector<HostValue> results;
  for (const RunValue& output : outputs) results.push_back(ToHostValue(output));
  return results;
}

struct Counts {
  int64_t passed = 0, failed = 0, unsupported = 0;
  void Add(Conformity c) {
    passed += c == Conformity::kPassed;
    failed += c == Conformity::kFailed;
    unsupported += c == Conformity::kUnsupported;
  }
};

void PrintSummary(const Counts& total, const std::map<std::string, Counts>& by_op, bool json) {
  if (!json) {
    printf("%ld passed, %ld failed, %ld unsupported\n", static_cast<long>(total.passed),
           static_cast<long>(total.failed), static_cast<long>(total.unsupported));
    return;
  }
  auto text = [](const Counts& c, JsonObject o) {
    return o.Add("passed", c.passed).Add("failed", c.failed).Add("unsupported", c.unsupported);
  };
  JsonObject ops;
  for (const auto& [op, counts] : by_op) ops.AddRaw(op, text(counts, {}).Text());
  printf("%s\n", text(total, {}).AddRaw("ops", ops.Text()).Text().c_str());
}

absl::StatusOr<int> TileFrom(const Arguments& arguments) {
  LATHE_ASSIGN_OR_RETURN(const int64_t tile, arguments.Integer("tile", 1024, 64, 1024));
  if ((tile & (tile - 1)) != 0) {
    return InvalidArgument("--tile must be a power of two from 64 to 1024, not ", tile);
  }
  return static_cast<int>(tile);
}

absl::StatusOr<std::optional<Relayout>> RelayoutFrom(const Arguments& arguments) {
  if (!arguments.Has("relayout")) return std::optional<Relayout>();
  const std::string text = *arguments.Value("relayout");
  const std::optional<Relayout> relayout = ParseRelayout(text);
  if (relayout.has_value()) return relayout;
  return InvalidArgument("--relayout must be transposed, sliced or expanded, not '", text, "'");
}

// No operator has a derivative yet.
int WithoutDerivatives(const std::vector<RecordedCall>& calls, bool json) {
  Counts total;
  std::map<std::string, Counts> by_op;
  for (const RecordedCall& call : calls) {
    total.Add(Conformity::kUnsupported);
    by_op[call.op].Add(Conformity::kUnsupported);
  }
  fprintf(stderr, "lathe: --grad: no operator has a derivative yet, so no gradient is checked\n");
  PrintSummary(total, by_op, json);
  return 0;
}

absl::StatusOr<int> Run(const std::vector<std::string>& words) {
  LATHE_ASSIGN_OR_RETURN(Arguments arguments,
                         Arguments::Parse(words, WithCompileFlags({{"filter", Option::kValue},
                                                                   {"grad"},
                                                                   {"relayout", Option::kValue},
                                                                   {"tile", Option::kValue}})));
  LATHE_RETURN_IF_ERROR(arguments.ExpectPositional(2, 2, absl::StrCat("lathe conform ", kUsage)));
  LATHE_ASSIGN_OR_RETURN(CompileOptions options, OptionsForOneCall(arguments));
  LATHE_ASSIGN_OR_RETURN(options.tile, TileFrom(arguments));
  LATHE_ASSIGN_OR_RETURN(std::optional<Relayout> relayout, RelayoutFrom(arguments));
  LATHE_ASSIGN_OR_RETURN(std::unique_ptr<Pattern> filter,
                         Pattern::Parse(arguments.Value("filter").value_or("")));
  LATHE_ASSIGN_OR_RETURN(auto cases, MappedFile::Open(arguments.positional()[0]));
  LATHE_ASSIGN_OR_RETURN(auto tensors, MappedFile::Open(arguments.positional()[1]));
  LATHE_ASSIGN_OR_RETURN(std::vector<RecordedCall> calls,
                         ReadRecordedCalls(cases->bytes(), tensors->bytes()));
  std::vector<RecordedCall> chosen;
  for (RecordedCall& call : calls) {
    if (filter->Matches(call.op)) chosen.push_back(std::move(call));
  }
  const bool json = arguments.Has("json");
  if (arguments.Has("grad")) return WithoutDerivatives(chosen, json);
  Counts total;
  std::map<std::string, Counts> by_op;
  auto run = [&](const Program& program, const std::vector<HostValue>& inputs) {
    return RunProgram(program, inputs, options);
  };
  for (size_t begin = 0; begin < chosen.size(); begin += kBatch) {
    absl::Span<const RecordedCall> batch =
        absl::MakeConstSpan(chosen).subspan(begin, std::min(kBatch, chosen.size() - begin));
    std::vector<ConformAnswer> answers =
        CheckByProgram(batch, OpRegistry::Builtin(), run, relayout);
    for (size_t k = 0; k < answers.size(); ++k) {
      total.Add(answers[k].conformity);
      by_op[batch[k].op].Add(answers[k].conformity);
      if (answers[k].conformity == Conformity::kPassed || json) continue;
      bool failed = answers[k].conformity == Conformity::kFailed;
      printf("%s %s #%ld: %s\n", failed ? "FAILED" : "unsupported", batch[k].op.c_str(),
             static_cast<long>(batch[k].id), answers[k].message.c_str());
    }
  }
  PrintSummary(total, by_op, json);
  return total.failed > 0 ? 1 : 0;
}

}  // namespace

const Command kConformCommand = {
    "conform", kUsage, "Runs recorded operator calls and compares with their recorded answers.",
    Run};

}  // namespace lathe::driver
