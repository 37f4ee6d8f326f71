// lathe check: a program against recorded answers.

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "compiler.h"
#include "driver/check_outputs.h"
#include "driver/command.h"
#include "driver/compile_flags.h"
#include "driver/open_trace.h"
#include "driver/tensor_files.h"
#include "driver/user_inputs.h"
#include "dtypes/base/status.h"

namespace lathe::driver {
namespace {

constexpr char kUsage[] =
    "MODEL IO.safetensors [--set 1|2] [--device cpu] [--tier auto|tile|native|reference] "
    "[--threads N] [--strict] [--trace DIR] [--json]";

void PrintLine(const CheckLine& line) {
  std::string text =
      absl::StrCat(line.comparison.passed ? "passed " : "FAILED ", line.name, " ", line.type);
  if (line.comparison.passed) {
    absl::StrAppend(&text, " largest error ", line.comparison.largest_error);
    if (line.comparison.our_rmse >= 0) {
      absl::StrAppend(&text, ", RMSE ", line.comparison.our_rmse, " (recorded ",
                      line.comparison.expected_rmse, ")");
    }
  } else {
    absl::StrAppend(&text, ": ", line.comparison.difference);
  }
  printf("%s\n", text.c_str());
}

std::string LineJson(const CheckLine& line) {
  JsonObject o;
  o.Add("name", line.name).Add("type", line.type).Add("passed", line.comparison.passed);
  o.Add("largest_error", line.comparison.largest_error);
  if (line.comparison.our_rmse >= 0) {
    o.Add("rmse", line.comparison.our_rmse).Add("recorded_rmse", line.comparison.expected_rmse);
  }
  if (!line.comparison.passed) o.Add("difference", line.comparison.difference);
  return o.Text();
}

absl::StatusOr<int> Run(const std::vector<std::string>& words) {
  LATHE_ASSIGN_OR_RETURN(Arguments arguments,
                         Arguments::Parse(words, WithCompileFlags({{"set", Option::kValue}})));
  LATHE_RETURN_IF_ERROR(arguments.ExpectPositional(2, 2, absl::StrCat("lathe check ", kUsage)));
  LATHE_ASSIGN_OR_RETURN(CompileOptions options, OptionsForOneCall(arguments));
  LATHE_ASSIGN_OR_RETURN(int64_t set, arguments.Integer("set", 1, 1, 2));
  const std::string suffix = set == 1 ? "" : "2";
  OpenTrace trace;
  LATHE_RETURN_IF_ERROR(trace.Start(arguments, arguments.positional()[0]));
  LATHE_ASSIGN_OR_RETURN(Program program, LoadProgram(arguments.positional()[0]));
  PrintNotes(program);
  LATHE_ASSIGN_OR_RETURN(auto recorded, ReadTensorFile(arguments.positional()[1]));
  absl::StatusOr<std::vector<Value>> inputs =
      InputsFromTensors(UserInputsOf(program), recorded, absl::StrCat("in", suffix));
  if (!inputs.ok()) return Annotate(inputs.status(), arguments.positional()[1]);
  LATHE_ASSIGN_OR_RETURN(Executable executable, Compile(program, options));
  PrintFallbacks(executable.report());
  std::vector<Value> before = CloneValues(*inputs);
  LATHE_ASSIGN_OR_RETURN(std::vector<Value> outputs, executable.Run(*inputs));
  std::vector<CheckLine> lines = CheckOutputs(outputs, before, *inputs, recorded, suffix);

  int64_t failed = 0;
  std::vector<std::string> json;
  for (const CheckLine& line : lines) {
    failed += !line.comparison.passed;
    if (arguments.Has("json")) {
      json.push_back(LineJson(line));
    } else {
      PrintLine(line);
    }
  }
  int64_t passed = static_cast<int64_t>(lines.size()) - failed;
  if (arguments.Has("json")) {
    JsonObject o;
    o.Add("passed", passed).Add("failed", failed).AddRaw("values", JsonArray(json));
    o.AddRaw("compiled", ReportJson(executable.report()).Text());
    printf("%s\n", o.Text().c_str());
  } else {
    printf("%ld passed, %ld failed\n", static_cast<long>(passed), static_cast<long>(failed));
  }
  return failed > 0 ? 1 : 0;
}

}  // namespace

const Command kCheckCommand = {
    "check", kUsage, "Runs a program on recorded inputs and compares with recorded answers.", Run};

}  // namespace lathe::driver
