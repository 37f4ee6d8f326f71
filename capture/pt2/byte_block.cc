#include "capture/pt2/byte_block.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "dtypes/base/status.h"

namespace lathe::pt2 {
namespace {

absl::Status SystemError(const std::string& path) {
  std::string message = strerror(errno);
  return errno == ENOENT ? NotFound(path, ": ", message) : InvalidArgument(path, ": ", message);
}

// Closes on every way out.
struct FileDescriptor {
  int fd;
  ~FileDescriptor() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

absl::StatusOr<ByteBlock> MapFile(const std::string& path) {
  FileDescriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.fd < 0) return SystemError(path);
  struct stat info;
  if (fstat(file.fd, &info) != 0) return SystemError(path);
  if (!S_ISREG(info.st_mode)) return InvalidArgument(path, ": not a regular file");
  if (info.st_size == 0) return DataLoss(path, ": the file is empty");
  size_t size = static_cast<size_t>(info.st_size);
  void* data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.fd, 0);
  if (data == MAP_FAILED) return SystemError(path);
  std::shared_ptr<void> owner(data, [size](void* p) { munmap(p, size); });
  return ByteBlock{std::move(owner), static_cast<char*>(data), size};
}

ByteBlock CopyBytes(absl::string_view bytes) {
  // Aligned as a mapped file is, so that records inside keep their alignment.
  size_t rounded = (bytes.size() + 64) & ~size_t{63};
  char* data = static_cast<char*>(std::aligned_alloc(64, rounded));
  memcpy(data, bytes.data(), bytes.size());
  return {std::shared_ptr<void>(data, std::free), data, bytes.size()};
}

}  // namespace lathe::pt2
