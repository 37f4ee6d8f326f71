// lathe bench: how long compiling and calling a program take.

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "compiler.h"
#include "driver/command.h"
#include "driver/compile_flags.h"
#include "driver/open_trace.h"
#include "driver/user_inputs.h"
#include "dtypes/base/status.h"

namespace lathe::driver {
namespace {

constexpr char kUsage[] =
    "MODEL [-i INPUT]... [--calls N] [--device cpu] [--tier auto|tile|native|reference] "
    "[--threads N] [--strict] [--trace DIR] [--json]";

using Clock = std::chrono::steady_clock;
double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Timings {
  double load = 0, compile = 0, first_call = 0;
  std::vector<double> calls;  // sorted
};

// Until `limit` calls are done; without a limit for a second, at least ten and at most 10 000.
absl::Status TimeCalls(const Executable& executable, const std::vector<Value>& inputs,
                       int64_t limit, Timings& timings) {
  Clock::time_point begin = Clock::now();
  auto wanted = [&] {
    int64_t done = static_cast<int64_t>(timings.calls.size());
    if (limit > 0) return done < limit;
    return done < 10 || (done < 10000 && SecondsSince(begin) < 1);
  };
  while (wanted()) {
    Clock::time_point call = Clock::now();
    LATHE_RETURN_IF_ERROR(executable.Run(inputs).status());
    timings.calls.push_back(SecondsSince(call));
  }
  std::sort(timings.calls.begin(), timings.calls.end());
  return absl::OkStatus();
}

std::string Microseconds(double seconds) {
  char text[32];
  snprintf(text, sizeof(text), "%.1f", seconds * 1e6);
  return text;
}

void Print(const Timings& t, const CompileReport& report) {
  size_t n = t.calls.size();
  printf("load %s us, compile %s us, first call %s us\n", Microseconds(t.load).c_str(),
         Microseconds(t.compile).c_str(), Microseconds(t.first_call).c_str());
  printf("%zu calls: median %s us, least %s us, 90%% within %s us\n", n,
         Microseconds(t.calls[n / 2]).c_str(), Microseconds(t.calls[0]).c_str(),
         Microseconds(t.calls[n * 9 / 10]).c_str());
  printf("tier %s, %ld kernels (%ld distinct), %ld externs, %ld opaque calls\n",
         report.tier.c_str(), static_cast<long>(report.kernels),
         static_cast<long>(report.distinct_kernels), static_cast<long>(report.externs),
         static_cast<long>(report.opaque_calls));
}

absl::StatusOr<int> Run(const std::vector<std::string>& words) {
  LATHE_ASSIGN_OR_RETURN(
      Arguments arguments,
      Arguments::Parse(
          words, WithCompileFlags({{"input", Option::kRepeated, "i"}, {"calls", Option::kValue}})));
  LATHE_RETURN_IF_ERROR(arguments.ExpectPositional(1, 1, absl::StrCat("lathe bench ", kUsage)));
  LATHE_ASSIGN_OR_RETURN(CompileOptions options, CompileOptionsFrom(arguments));
  LATHE_ASSIGN_OR_RETURN(int64_t limit, arguments.Integer("calls", 0, 1, 1000000000));
  OpenTrace trace;
  LATHE_RETURN_IF_ERROR(trace.Start(arguments, arguments.positional()[0]));
  Timings timings;
  Clock::time_point begin = Clock::now();
  LATHE_ASSIGN_OR_RETURN(Program program, LoadProgram(arguments.positional()[0]));
  PrintNotes(program);
  timings.load = SecondsSince(begin);
  absl::StatusOr<std::vector<Value>> inputs =
      arguments.Has("input")
          ? BindInputs(UserInputsOf(program), arguments.Values("input"), program.fixed_inputs)
          : MakeUpInputs(program);
  if (!inputs.ok()) return inputs.status();
  begin = Clock::now();
  LATHE_ASSIGN_OR_RETURN(Executable executable, Compile(program, options));
  timings.compile = SecondsSince(begin);
  PrintFallbacks(executable.report());
  begin = Clock::now();
  LATHE_RETURN_IF_ERROR(executable.Run(*inputs).status());
  timings.first_call = SecondsSince(begin);
  LATHE_RETURN_IF_ERROR(TimeCalls(executable, *inputs, limit, timings));
  if (!arguments.Has("json")) {
    Print(timings, executable.report());
    return 0;
  }
  size_t n = timings.calls.size();
  JsonObject o;
  o.Add("load_seconds", timings.load).Add("compile_seconds", timings.compile);
  o.Add("first_call_seconds", timings.first_call).Add("calls", static_cast<int64_t>(n));
  o.Add("median_seconds", timings.calls[n / 2]).Add("least_seconds", timings.calls[0]);
  o.Add("p90_seconds", timings.calls[n * 9 / 10]);
  o.AddRaw("compiled", ReportJson(executable.report()).Text());
  printf("%s\n", o.Text().c_str());
  return 0;
}

}  // namespace

const Command kBenchCommand = {"bench", kUsage, "Times loading, compiling and calling a program.",
                               Run};

}  // namespace lathe::driver
