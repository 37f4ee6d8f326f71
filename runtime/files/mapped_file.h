#ifndef LATHE_RUNTIME_FILES_MAPPED_FILE_H_
#define LATHE_RUNTIME_FILES_MAPPED_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

// A file in memory: pages are read when they are touched, writes stay private to this process. At
// least a page behind the end is readable (zeros).
class MappedFile {
 public:
  // NotFound, or InvalidArgument for what is no regular file.
  static absl::StatusOr<std::shared_ptr<MappedFile>> Open(const std::string& path);
  // The same for bytes that are in memory already: a copy. ResourceExhausted without room.
  static absl::StatusOr<std::shared_ptr<MappedFile>> CopyOf(absl::string_view bytes);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  absl::string_view bytes() const {
    return absl::string_view(static_cast<const char*>(data_), static_cast<size_t>(size_bytes_));
  }
  // A storage of [begin, begin + size) that keeps `file` alive. A copy when the place is not a
  // multiple of `alignment`. Requires a range inside the file; nullptr: out of memory.
  static std::shared_ptr<Storage> Piece(const std::shared_ptr<MappedFile>& file, int64_t begin,
                                        int64_t size_bytes, int64_t alignment);

 private:
  MappedFile(void* data, int64_t size_bytes, int64_t mapped_bytes)
      : data_(data), size_bytes_(size_bytes), mapped_bytes_(mapped_bytes) {}
  // Zeros for `size_bytes` and a page more; nullptr without room.
  static std::shared_ptr<MappedFile> Room(int64_t size_bytes);
  void* const data_;
  const int64_t size_bytes_, mapped_bytes_;
};

// Writes to a temporary file beside `path` and renames it: readers see the old file or the new one.
absl::Status WriteFileAtomically(const std::string& path,
                                 absl::Span<const absl::string_view> pieces);

}  // namespace lathe

#endif  // LATHE_RUNTIME_FILES_MAPPED_FILE_H_
