// lathe run: one call of a program.

#include <cstdio>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler.h"
#include "driver/command.h"
#include "driver/compile_flags.h"
#include "driver/open_trace.h"
#include "driver/print_value.h"
#include "driver/tensor_files.h"
#include "driver/user_inputs.h"
#include "driver/verify_run.h"
#include "dtypes/base/status.h"

namespace lathe::driver {
namespace {

constexpr char kUsage[] =
    "MODEL [-i INPUT]... [-o OUT.safetensors] [--device cpu] [--tier auto|tile|native|reference] "
    "[--threads N] [--numerics eager|fast] [--verify[=each]] [--strict] [--trace DIR] [--json]";

// Whether the call changed a tensor: bit for bit, so a NaN that stays is no change.
bool Changed(const Value& before, const Value& after) {
  const Tensor* a = std::get_if<Tensor>(&before);
  if (a == nullptr || !a->is_defined()) return false;
  const Tensor x = a->Contiguous(), y = std::get<Tensor>(after).Contiguous();
  const int64_t bits = x.numel() * BitWidth(x.dtype()), whole = bits / 8;
  const char* p = static_cast<const char*>(x.data());
  const char* q = static_cast<const char*>(y.data());
  if (whole > 0 && memcmp(p, q, static_cast<size_t>(whole)) != 0) return true;
  // Past the last of packed elements a file may hold anything.
  const int mask = (1 << bits % 8) - 1;
  return mask != 0 && ((p[whole] ^ q[whole]) & mask) != 0;
}

struct Outcome {
  std::vector<Value> outputs;
  std::vector<std::pair<std::string, Value>> changed;  // inputs, by name
};

absl::Status Save(const std::string& path, const Outcome& outcome) {
  std::map<std::string, Tensor> tensors;
  for (size_t k = 0; k < outcome.outputs.size(); ++k) {
    const Tensor* tensor = std::get_if<Tensor>(&outcome.outputs[k]);
    if (tensor != nullptr && tensor->is_defined()) tensors[absl::StrCat("out.", k)] = *tensor;
  }
  for (const auto& [name, value] : outcome.changed) {
    tensors[absl::StrCat("mut.", name)] = std::get<Tensor>(value);
  }
  return WriteTensorFile(path, tensors);
}

void Print(const Outcome& outcome) {
  for (const Value& output : outcome.outputs) printf("%s\n", PrintValue(output).c_str());
  for (const auto& [name, value] : outcome.changed) {
    printf("%s changed to %s\n", name.c_str(), PrintValue(value).c_str());
  }
}

void PrintJson(const Outcome& outcome, const CompileReport& report) {
  JsonObject changed, whole;
  std::vector<std::string> outputs;
  for (const Value& output : outcome.outputs) outputs.push_back(ValueJson(output));
  for (const auto& [name, value] : outcome.changed) changed.AddRaw(name, ValueJson(value));
  whole.AddRaw("outputs", JsonArray(outputs))
      .AddRaw("changed_inputs", changed.Text())
      .AddRaw("compiled", ReportJson(report).Text());
  printf("%s\n", whole.Text().c_str());
}

// 0 when the compiled program agrees with the reference, else 1; one line on stderr.
absl::StatusOr<int> Verify(const Program& program, const CompileOptions& options,
                           const std::vector<Value>& inputs, const std::string& mode) {
  if (!mode.empty() && mode != "each") {
    return InvalidArgument("--verify takes nothing or each, not '", mode, "'");
  }
  LATHE_ASSIGN_OR_RETURN(Verification verified,
                         VerifyRun(program, options, inputs, mode == "each"));
  if (!verified.first_difference.empty()) {
    fprintf(stderr, "lathe: verify: the first value that differs from the reference: %s\n",
            verified.first_difference.c_str());
    return 1;
  }
  fprintf(stderr, "lathe: verify: %lld values %sagree with the reference\n",
          static_cast<long long>(verified.compared), mode.empty() ? "at kernel borders " : "");
  return 0;
}

absl::StatusOr<int> Run(const std::vector<std::string>& words) {
  LATHE_ASSIGN_OR_RETURN(
      Arguments arguments,
      Arguments::Parse(words, WithCompileFlags({{"input", Option::kRepeated, "i"},
                                                {"output", Option::kValue, "o"},
                                                {"verify", Option::kOptionalValue}})));
  LATHE_RETURN_IF_ERROR(arguments.ExpectPositional(1, 1, absl::StrCat("lathe run ", kUsage)));
  LATHE_ASSIGN_OR_RETURN(CompileOptions options, OptionsForOneCall(arguments));
  if (std::optional<std::string> path = arguments.Value("output")) {
    LATHE_RETURN_IF_ERROR(CheckOutputName(*path));
  }
  OpenTrace trace;
  LATHE_RETURN_IF_ERROR(trace.Start(arguments, arguments.positional()[0]));
  LATHE_ASSIGN_OR_RETURN(Program program, LoadProgram(arguments.positional()[0]));
  PrintNotes(program);
  std::vector<UserInput> names = UserInputsOf(program);
  LATHE_ASSIGN_OR_RETURN(std::vector<Value> inputs,
                         BindInputs(names, arguments.Values("input"), program.fixed_inputs));
  int verified = 0;
  if (std::optional<std::string> mode = arguments.Value("verify")) {
    LATHE_ASSIGN_OR_RETURN(verified, Verify(program, options, inputs, *mode));
  }
  LATHE_ASSIGN_OR_RETURN(Executable executable, Compile(program, options));
  PrintFallbacks(executable.report());
  std::vector<Value> before = CloneValues(inputs);
  Outcome outcome;
  LATHE_ASSIGN_OR_RETURN(outcome.outputs, executable.Run(inputs));
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (Changed(before[k], inputs[k])) outcome.changed.emplace_back(names[k].name, inputs[k]);
  }
  if (std::optional<std::string> path = arguments.Value("output")) {
    LATHE_RETURN_IF_ERROR(Save(*path, outcome));
  }
  if (arguments.Has("json")) {
    PrintJson(outcome, executable.report());
  } else if (!arguments.Has("output")) {
    Print(outcome);
  }
  return verified;
}

}  // namespace

const Command kRunCommand = {"run", kUsage, "Runs a program once and prints its outputs.", Run};

}  // namespace lathe::driver
