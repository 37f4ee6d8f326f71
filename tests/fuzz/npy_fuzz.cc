// Any bytes as a .npy file, or as a .npz file when they begin like a zip archive.

#include <sys/mman.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"
#include "runtime/files/npy.h"
#include "tests/fuzz/fuzz.h"

namespace {

void Touch(const lathe::Tensor& tensor) {
  for (int64_t k = 0; k < tensor.numel() && k < 1000; ++k) (void)tensor.AtLinear(k);
}

void ReadAsNpz(absl::string_view input) {
  int file = memfd_create("npz", 0);
  LATHE_CHECK(file >= 0 &&
              write(file, input.data(), input.size()) == static_cast<ssize_t>(input.size()));
  auto tensors = lathe::ReadNpz(absl::StrCat("/proc/self/fd/", file));
  close(file);
  if (!tensors.ok()) return;
  for (const auto& [name, tensor] : *tensors) Touch(tensor);
}

}  // namespace

void FuzzOne(absl::string_view input) {
  if (absl::StartsWith(input, "PK")) return ReadAsNpz(input);
  absl::StatusOr<lathe::Tensor> tensor = lathe::ParseNpy(input, "fuzz");
  if (tensor.ok()) Touch(*tensor);
}
