// The lathe binary: picks a command (command.h).

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "driver/command.h"
#include "driver/json_object.h"
#include "dtypes/base/status.h"
#include "runtime/abi/plan.h"

namespace lathe::driver {
namespace {

constexpr char kVersion[] = "0.1";

const Command* const kCommands[] = {&kRunCommand,   &kCheckCommand, &kConformCommand,
                                    &kShowCommand,  &kOptCommand,   &kReduceCommand,
                                    &kBenchCommand, &kProveCommand, &kInfoCommand};

std::string Help() {
  std::string text = "lathe: compiles and runs tensor programs\n\n";
  for (const Command* command : kCommands) {
    absl::StrAppend(&text, "lathe ", command->name, " ", command->usage, "\n    ", command->summary,
                    "\n");
  }
  absl::StrAppend(&text,
                  "lathe --version\n    Prints the version.\n"
                  "\nMODEL is a .pt2 archive or a .lathe text file; - is text on stdin.\n"
                  "Exit codes: 0 good, 1 a comparison failed, 2 bad usage or input, 3 a limit of "
                  "lathe, 4 a fault in lathe.\n");
  return text;
}

int Report(const absl::Status& status, bool json) {
  std::string what = Describe(status);
  if (ExitCode(status) == 4) what = absl::StrCat("a fault in lathe: ", what);
  fprintf(stderr, "lathe: %s\n", what.c_str());
  if (json) {
    JsonObject error;
    error.Add("error", std::string(status.message()))
        .Add("code", absl::StatusCodeToString(status.code()));
    if (!NodeOf(status).empty()) error.Add("node", NodeOf(status));
    if (!SourceOf(status).empty()) error.Add("source", SourceOf(status));
    printf("%s\n", error.Text().c_str());
  }
  return ExitCode(status);
}

int Main(const std::vector<std::string>& words) {
  if (words.empty()) {
    fputs(Help().c_str(), stderr);
    return 2;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    fputs(Help().c_str(), stdout);
    return 0;
  }
  if (words[0] == "--version") {
    printf("lathe %s, plans of version %d\n", kVersion, Plan::kVersion);
    return 0;
  }
  for (const Command* command : kCommands) {
    if (words[0] != command->name) continue;
    std::vector<std::string> rest(words.begin() + 1, words.end());
    bool json = false;
    for (const std::string& word : rest) {
      json |= word == "--json";
      if (word != "--help") continue;
      printf("lathe %s %s\n    %s\n", command->name, command->usage, command->summary);
      return 0;
    }
    absl::StatusOr<int> code = command->run(rest);
    fflush(stdout);
    return code.ok() ? *code : Report(code.status(), json);
  }
  return Report(InvalidArgument("unknown command '", words[0], "'; lathe --help lists them"),
                false);
}

}  // namespace
}  // namespace lathe::driver

// Heeded by jemalloc alone. Compiling a large program touches a gigabyte, most of it soon given
// back: large pages save a fault every 4 KB, and keeping them for a minute saves zeroing them anew.
extern "C" const char* malloc_conf;
const char* malloc_conf = "thp:always,dirty_decay_ms:60000";

int main(int argc, char** argv) {
  // Under `bazel run` the working directory is the binary's own; relative paths are the user's.
  if (const char* directory = std::getenv("BUILD_WORKING_DIRECTORY")) {
    if (chdir(directory) != 0) perror(directory);
  }
  return lathe::driver::Main(std::vector<std::string>(argv + 1, argv + argc));
}
