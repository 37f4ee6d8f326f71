#ifndef LATHE_CAPTURE_PT2_PICKLE_H_
#define LATHE_CAPTURE_PT2_PICKLE_H_

// Reads the one kind of pickle that older archives need, a dictionary of tensors as torch.save
// writes it. Nothing is ever executed: a fixed list of opcodes and names is understood, everything
// else is refused by name. Memory is bounded by the length of the input.

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dtypes/dtype.h"
#include "runtime/tensor/dims.h"

namespace lathe::pt2 {

struct PickledTensor {
  std::string storage_key;  // the record archive/data/KEY
  DType dtype = DType::kF32;
  int64_t storage_elements = 0;
  int64_t offset = 0;
  Dims sizes, strides;
};

absl::StatusOr<std::vector<std::pair<std::string, PickledTensor>>> ReadTensorDict(
    absl::string_view pickle);

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_PICKLE_H_
