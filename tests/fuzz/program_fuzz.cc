// Any text as the JSON of an exported program without weights.

#include "capture/pt2/read_program.h"
#include "tests/fuzz/fuzz.h"

void FuzzOne(absl::string_view input) { (void)lathe::pt2::ReadProgram("fuzz", input, {}); }
