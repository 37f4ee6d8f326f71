// Any bytes as a safetensors file: every element of what it holds can be read.

#include "runtime/files/safetensors.h"
#include "tests/fuzz/fuzz.h"

void FuzzOne(absl::string_view input) {
  auto tensors = lathe::ParseSafetensors(input, "fuzz");
  if (!tensors.ok()) return;
  for (const auto& [name, tensor] : *tensors) {
    for (int64_t k = 0; k < tensor.numel() && k < 1000; ++k) (void)tensor.AtLinear(k);
  }
}
