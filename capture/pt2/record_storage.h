#ifndef LATHE_CAPTURE_PT2_RECORD_STORAGE_H_
#define LATHE_CAPTURE_PT2_RECORD_STORAGE_H_

// Storages whose bytes are records of an archive.

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "capture/pt2/zip_archive.h"
#include "runtime/tensor/tensor.h"

namespace lathe::pt2 {

// Gives each record one storage, however many tensors share it. A stored record at a multiple of 64
// bytes is used where it lies in the mapped file; another one is copied.
class RecordStorages {
 public:
  explicit RecordStorages(const ZipArchive* archive) : archive_(archive) {}
  absl::StatusOr<std::shared_ptr<Storage>> Get(const std::string& record);

 private:
  const ZipArchive* archive_;
  absl::flat_hash_map<std::string, std::shared_ptr<Storage>> storages_;
};

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_RECORD_STORAGE_H_
