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

absl::Status WriteTensorFile(const std::string& path,
                             const std::map<std::string, Tensor>& tensors) {
  if (absl::EndsWith(path, ".safetensors")) return WriteSafetensors(path, tensors);
  return InvalidArgument(path, ": the name must end in .safetensors");
}

}  // namespace lathe::driver
