// lathe opt: passes on a program, text in and out.

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler.h"
#include "driver/command.h"
#include "driver/compile_flags.h"
#include "driver/open_trace.h"
#include "dtypes/base/status.h"
#include "ir/passes/pipeline.h"
#include "ir/text/printer.h"

namespace lathe::driver {
namespace {

constexpr char kUsage[] =
    "--passes=a,b FILE [--trace DIR] [--json]   (lathe opt --list: the passes)";

int List() {
  for (const Pass& pass : AllPasses()) {
    printf("%s: %s\n", pass.name.c_str(), pass.sentence.c_str());
  }
  return 0;
}

absl::StatusOr<int> Run(const std::vector<std::string>& words) {
  LATHE_ASSIGN_OR_RETURN(
      Arguments arguments,
      Arguments::Parse(
          words, {{"passes", Option::kValue}, {"list"}, {"json"}, {"trace", Option::kValue}}));
  if (arguments.Has("list")) return List();
  LATHE_RETURN_IF_ERROR(arguments.ExpectPositional(1, 1, absl::StrCat("lathe opt ", kUsage)));
  std::vector<Pass> passes;
  std::vector<std::string> names;
  if (arguments.Has("passes")) names = absl::StrSplit(*arguments.Value("passes"), ',');
  for (const std::string& name : names) {
    if (name.empty()) {
      return InvalidArgument(
          "--passes has an empty name: it is a list like decompose,cse "
          "(lathe opt --list: the passes)");
    }
    LATHE_ASSIGN_OR_RETURN(Pass pass, FindPass(name));
    passes.push_back(std::move(pass));
  }
  OpenTrace trace;
  LATHE_RETURN_IF_ERROR(trace.Start(arguments, arguments.positional()[0]));
  LATHE_ASSIGN_OR_RETURN(Program program, LoadProgram(arguments.positional()[0]));
  LATHE_RETURN_IF_ERROR(RunPasses(program, OpRegistry::Builtin(), passes));
  std::string text = PrintProgram(program);
  if (arguments.Has("json")) text = absl::StrCat(JsonObject().Add("text", text).Text(), "\n");
  fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

const Command kOptCommand = {"opt", kUsage, "Runs passes on a program and prints it.", Run};

}  // namespace lathe::driver
