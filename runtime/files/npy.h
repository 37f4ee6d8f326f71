#ifndef LATHE_RUNTIME_FILES_NPY_H_
#define LATHE_RUNTIME_FILES_NPY_H_

// NumPy's array files: .npy holds one array, .npz is a zip of them (stored or deflated).

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

// Booleans, integers, floats and complex numbers of either byte order, in C or Fortran order (which
// become strides). Pickled objects are refused: reading a file runs nothing.
absl::StatusOr<Tensor> ReadNpy(const std::string& path);
// The same from memory; `name` is for messages.
absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes, absl::string_view name);
// By name, without the ".npy".
absl::StatusOr<std::map<std::string, Tensor>> ReadNpz(const std::string& path);

}  // namespace lathe

#endif  // LATHE_RUNTIME_FILES_NPY_H_
