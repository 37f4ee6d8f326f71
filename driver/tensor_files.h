#ifndef LATHE_DRIVER_TENSOR_FILES_H_
#define LATHE_DRIVER_TENSOR_FILES_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/tensor/tensor.h"

namespace lathe::driver {

// The tensors of a .npy (under the name ""), .npz or .safetensors file.
absl::StatusOr<std::map<std::string, Tensor>> ReadTensorFile(const std::string& path);

// Whether WriteTensorFile writes files of that name: to be asked before the work.
absl::Status CheckOutputName(const std::string& path);

// Writes a .safetensors file, through a temporary file and a rename.
absl::Status WriteTensorFile(const std::string& path, const std::map<std::string, Tensor>& tensors);

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_TENSOR_FILES_H_
