// Any text as a program: what parses is well formed, and its print parses back.

#include "dtypes/base/check.h"
#include "ir/graph/verifier.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "tests/fuzz/fuzz.h"

void FuzzOne(absl::string_view input) {
  using namespace lathe;
  absl::StatusOr<Program> program = ParseProgram(input, OpRegistry::Builtin());
  if (!program.ok()) return;
  absl::Status verified = Verify(*program);
  LATHE_CHECK(verified.ok()) << verified;
  std::string printed = PrintProgram(*program);
  absl::Status again = ParseProgram(printed, OpRegistry::Builtin()).status();
  LATHE_CHECK(again.ok()) << again << "\n" << printed;
}
