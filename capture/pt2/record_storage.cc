#include "capture/pt2/record_storage.h"

#include <cstring>

#include "dtypes/base/status.h"

namespace lathe::pt2 {

absl::StatusOr<std::shared_ptr<Storage>> RecordStorages::Get(const std::string& record) {
  std::shared_ptr<Storage>& storage = storages_[record];
  if (storage != nullptr) return storage;
  LATHE_ASSIGN_OR_RETURN(ByteBlock bytes, archive_->Read(record));
  const ZipArchive::Entry& entry = *archive_->Find(record);
  // Kernels may read up to 64 bytes past a tensor's end: the archive's own bytes follow.
  bool in_place = entry.method == 0 && reinterpret_cast<uintptr_t>(bytes.data) % 64 == 0 &&
                  archive_->BytesAfter(entry) >= 64;
  if (in_place) {
    storage = Storage::Wrap(bytes.data, static_cast<int64_t>(bytes.size),
                            [owner = bytes.owner]() mutable { owner.reset(); });
  } else {
    storage = Storage::Allocate(static_cast<int64_t>(bytes.size));
    if (bytes.size > 0) memcpy(storage->data(), bytes.data, bytes.size);
  }
  return storage;
}

}  // namespace lathe::pt2
