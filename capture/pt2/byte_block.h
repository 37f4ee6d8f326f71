#ifndef LATHE_CAPTURE_PT2_BYTE_BLOCK_H_
#define LATHE_CAPTURE_PT2_BYTE_BLOCK_H_

// A run of bytes that stays alive as long as anyone holds it: a mapped file, a copy, or a part of
// another block.

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lathe::pt2 {

struct ByteBlock {
  std::shared_ptr<void> owner;
  char* data = nullptr;
  size_t size = 0;

  absl::string_view view() const { return {data, size}; }
  // The bytes [offset, offset + length), which must lie inside.
  ByteBlock Part(size_t offset, size_t length) const { return {owner, data + offset, length}; }
};

// Maps a file privately: writes stay in this process, untouched pages are never read.
absl::StatusOr<ByteBlock> MapFile(const std::string& path);
ByteBlock CopyBytes(absl::string_view bytes);

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_BYTE_BLOCK_H_
