#ifndef LATHE_CAPTURE_PT2_WEIGHTS_H_
#define LATHE_CAPTURE_PT2_WEIGHTS_H_

// Parameters, buffers and constants of an archive in the layout of PyTorch 2.8 and later: a JSON
// table from names to records of raw bytes.

#include <map>
#include <string>

#include "absl/status/status.h"
#include "capture/pt2/record_storage.h"

namespace lathe::pt2 {

// Adds the tensors of one table (a PayloadConfig) whose records lie in `folder`.
absl::Status ReadPayloads(const ZipArchive& archive, const std::string& config_record,
                          const std::string& folder, RecordStorages& storages,
                          std::map<std::string, Tensor>& tensors);

// A tensor over a whole record, checked against its bytes; a record of no bytes stands for zeros.
absl::StatusOr<Tensor> TensorOverStorage(DType dtype, Dims sizes, Dims strides, int64_t offset,
                                         std::shared_ptr<Storage> storage);

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_WEIGHTS_H_
