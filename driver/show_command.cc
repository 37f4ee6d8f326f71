// lathe show: a program at one stage of its way through the compiler.

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler.h"
#include "driver/command.h"
#include "driver/compile_flags.h"
#include "driver/open_trace.h"
#include "driver/show_shapes.h"
#include "dtypes/base/status.h"
#include "ir/text/printer.h"

namespace lathe::driver {
namespace {

constexpr const char* kStages[] = {"import", "ops",      "shapes", "decomposed", "functional",
                                   "loops",  "schedule", "code",   "plan",       "memory"};

constexpr char kUsage[] =
    "MODEL [--stage import|ops|shapes|decomposed|functional|loops|schedule|code|plan|memory] "
    "[--device cpu] [--tier auto|tile|native|reference] [--trace DIR] [--json]";

void CountOps(const Graph& graph, std::map<std::string, int64_t>& counts) {
  for (const Node* node : graph.nodes()) {
    ++counts[node->op];
    for (const Argument& a : node->arguments) {
      if (a.kind() == Argument::Kind::kGraph) CountOps(*a.graph(), counts);
    }
  }
}

std::string Ops(const Program& program) {
  std::map<std::string, int64_t> counts;
  CountOps(*program.main, counts);
  std::string text;
  for (const auto& [op, count] : counts) absl::StrAppend(&text, count, " ", op, "\n");
  return text;
}

absl::StatusOr<int> Run(const std::vector<std::string>& words) {
  LATHE_ASSIGN_OR_RETURN(Arguments arguments,
                         Arguments::Parse(words, WithCompileFlags({{"stage", Option::kValue}})));
  LATHE_RETURN_IF_ERROR(arguments.ExpectPositional(1, 1, absl::StrCat("lathe show ", kUsage)));
  LATHE_ASSIGN_OR_RETURN(CompileOptions options, OptionsForOneCall(arguments));
  std::string stage = arguments.Value("stage").value_or("import");
  if (std::find(std::begin(kStages), std::end(kStages), stage) == std::end(kStages)) {
    return InvalidArgument("there is no stage '", stage, "'; there are ",
                           absl::StrJoin(kStages, ", "));
  }
  OpenTrace trace;
  LATHE_RETURN_IF_ERROR(trace.Start(arguments, arguments.positional()[0]));
  LATHE_ASSIGN_OR_RETURN(Program program, LoadProgram(arguments.positional()[0]));
  std::string text;
  if (stage == "import") {
    text = PrintProgram(program);
  } else if (stage == "ops") {
    text = Ops(program);
  } else if (stage == "shapes") {
    text = arguments.Has("json") ? ShapesJson(program) : ShapesText(program);
  } else {
    LATHE_ASSIGN_OR_RETURN(Executable executable, Compile(program, options));
    LATHE_ASSIGN_OR_RETURN(text, executable.Stage(stage));
  }
  if (arguments.Has("json") && stage != "shapes") {
    JsonObject o;
    o.Add("stage", stage).Add("text", text);
    text = o.Text();
  }
  if (!absl::EndsWith(text, "\n")) text += "\n";
  fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace

const Command kShowCommand = {"show", kUsage, "Prints a program at one stage of compilation.", Run};

}  // namespace lathe::driver
