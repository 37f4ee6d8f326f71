#ifndef LATHE_CAPTURE_PT2_TORCH_SAVE_H_
#define LATHE_CAPTURE_PT2_TORCH_SAVE_H_

// A dictionary of tensors as torch.save writes it: a zip archive of data.pkl and raw storages.

#include <map>
#include <string>

#include "absl/status/status.h"
#include "capture/pt2/byte_block.h"
#include "runtime/tensor/tensor.h"

namespace lathe::pt2 {

// Adds the tensors; `record` names the file in messages.
absl::Status ReadTorchSave(const std::string& record, ByteBlock bytes,
                           std::map<std::string, Tensor>& tensors);

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_TORCH_SAVE_H_
