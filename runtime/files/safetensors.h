#ifndef LATHE_RUNTIME_FILES_SAFETENSORS_H_
#define LATHE_RUNTIME_FILES_SAFETENSORS_H_

// Tensors by name in one file: a length (8 bytes), a JSON header, the bytes of the tensors.
// Dtypes that the format has no name for are stored as U8 [bytes], and the header's metadata says
// what they are: "NAME": "u3[4, 5]".

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

// The tensors share the mapped file; writing to them does not change it. NotFound, or
// InvalidArgument and DataLoss that say where the file is wrong.
absl::StatusOr<std::map<std::string, Tensor>> ReadSafetensors(const std::string& path);
// The same from memory, copied; `name` is for messages.
absl::StatusOr<std::map<std::string, Tensor>> ParseSafetensors(absl::string_view bytes,
                                                               const std::string& name);

// Written whole or not at all. Tensors of any strides on the CPU.
absl::Status WriteSafetensors(const std::string& path,
                              const std::map<std::string, Tensor>& tensors);

}  // namespace lathe

#endif  // LATHE_RUNTIME_FILES_SAFETENSORS_H_
