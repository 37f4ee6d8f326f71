#ifndef LATHE_CAPTURE_PT2_ZIP_ARCHIVE_H_
#define LATHE_CAPTURE_PT2_ZIP_ARCHIVE_H_

// Reads a zip file that may be hostile. Its directory is checked as a whole before any entry is
// given out: entries lie inside the file and do not overlap, names stay below the archive's root,
// sizes are possible. Stored entries are parts of the file's own bytes, nothing is copied.

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "capture/pt2/byte_block.h"

namespace lathe::pt2 {

class ZipArchive {
 public:
  struct Entry {
    std::string name;
    uint16_t method = 0;  // 0 stored, 8 deflated
    uint32_t crc = 0;
    uint64_t header = 0;  // where its local header starts in the file
    uint64_t begin = 0;   // where its bytes start
    uint64_t packed_size = 0;
    uint64_t size = 0;
  };

  // DataLoss for a broken or cut archive, InvalidArgument for a forbidden name, Unimplemented for
  // encryption and other methods.
  static absl::StatusOr<ZipArchive> Open(ByteBlock file);

  // By name, in order of name.
  const std::map<std::string, Entry>& entries() const { return entries_; }
  const Entry* Find(const std::string& name) const;
  // The bytes of an entry; NotFound names it.
  absl::StatusOr<ByteBlock> Read(const std::string& name) const;
  // As Read, and checks the checksum; for records that are parsed.
  absl::StatusOr<ByteBlock> ReadChecked(const std::string& name) const;
  // Bytes of the file after the entry's own.
  uint64_t BytesAfter(const Entry& entry) const {
    return file_.size - entry.begin - entry.packed_size;
  }

 private:
  ByteBlock file_;
  std::map<std::string, Entry> entries_;
};

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_ZIP_ARCHIVE_H_
