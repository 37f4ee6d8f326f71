#include "driver/tensor_files.h"

#include "absl/strings/match.h"
#include "dtypes/base/status.h"
#include "runtime/files/npy.h"
#include "runtime/files/safetensors.h"

namespace lathe::driver {

absl::StatusOr<std::map<std::string, Tensor>> ReadTensorFile(const std::string& path) {
  if (absl::EndsWith(path, ".npz")) return ReadNpz(path);
  if (absl::EndsWith(path, ".safetensors")) return ReadSafetensors(path);
  if (!absl::EndsWith(path, ".npy")) {
    return InvalidArgument(path, ": the name must end in .npy, .npz or .safetensors");
  }
  LATHE_ASSIGN_OR_RETURN(Tensor tensor, ReadNpy(path));
  return std::map<std::string, Tensor>{{"", std::move(tensor)}};
}

absl::Status CheckOutputName(const std::string& path) {
  if (absl::EndsWith(path, ".safetensors")) return absl::OkStatus();
  return InvalidArgument(path, ": the name must end in .safetensors");
}

absl::Status WriteTensorFile(const std::string& path,
                             const std::map<std::string, Tensor>& tensors) {
  LATHE_RETURN_IF_ERROR(CheckOutputName(path));
  return WriteSafetensors(path, tensors);
}

}  // namespace lathe::driver
