// Any text as the VALUE of -i NAME=VALUE.

#include "driver/parse_value.h"
#include "driver/print_value.h"
#include "tests/fuzz/fuzz.h"

void FuzzOne(absl::string_view input) {
  auto value = lathe::driver::ParseValue(input, /*largest_bytes=*/1 << 16);
  if (value.ok()) (void)lathe::driver::PrintValue(*value);
}
