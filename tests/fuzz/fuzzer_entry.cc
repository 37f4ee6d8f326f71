// The entry that libFuzzer calls (--config=fuzz).

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzOne({reinterpret_cast<const char*>(data), size});
  return 0;
}
