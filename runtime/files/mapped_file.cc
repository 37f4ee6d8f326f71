#include "runtime/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "dtypes/base/status.h"
#include "runtime/memory/pool.h"

namespace lathe {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  const int fd_;
};

absl::Status SystemError(const std::string& path) {
  const std::string why = std::strerror(errno);
  return errno == ENOENT ? NotFound(path, ": ", why) : InvalidArgument(path, ": ", why);
}

bool WriteAll(int fd, absl::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

std::shared_ptr<MappedFile> MappedFile::Room(int64_t size_bytes) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  const int64_t mapped = (size_bytes + page - 1) / page * page + page;
  void* room = mmap(nullptr, static_cast<size_t>(mapped), PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  return std::shared_ptr<MappedFile>(new MappedFile(room, size_bytes, mapped));
}

absl::StatusOr<std::shared_ptr<MappedFile>> MappedFile::Open(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (file.get() < 0 || fstat(file.get(), &info) != 0) return SystemError(path);
  if (!S_ISREG(info.st_mode)) return InvalidArgument(path, ": not a regular file");
  // Room first, the file over its beginning: the rest stays readable.
  std::shared_ptr<MappedFile> result = Room(info.st_size);
  if (result == nullptr) {
    return ResourceExhausted(path, ": no room for ", info.st_size, " bytes");
  }
  if (info.st_size > 0 &&
      mmap(result->data_, static_cast<size_t>(info.st_size), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, file.get(), 0) == MAP_FAILED) {
    return SystemError(path);
  }
  return result;
}

absl::StatusOr<std::shared_ptr<MappedFile>> MappedFile::CopyOf(absl::string_view bytes) {
  std::shared_ptr<MappedFile> result = Room(static_cast<int64_t>(bytes.size()));
  if (result == nullptr) return ResourceExhausted("no room for ", bytes.size(), " bytes");
  if (!bytes.empty()) std::memcpy(result->data_, bytes.data(), bytes.size());
  return result;
}

MappedFile::~MappedFile() { munmap(data_, static_cast<size_t>(mapped_bytes_)); }

std::shared_ptr<Storage> MappedFile::Piece(const std::shared_ptr<MappedFile>& file, int64_t begin,
                                           int64_t size_bytes, int64_t alignment) {
  char* data = static_cast<char*>(file->data_) + begin;
  if (begin % alignment == 0) return Storage::Wrap(data, size_bytes, [file] {});
  std::shared_ptr<Storage> copy = PoolAllocate(size_bytes);
  if (copy != nullptr) std::memcpy(copy->data(), data, static_cast<size_t>(size_bytes));
  return copy;
}

absl::Status WriteFileAtomically(const std::string& path,
                                 absl::Span<const absl::string_view> pieces) {
  std::string temporary = path + ".XXXXXX";
  {
    const Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));
    if (file.get() < 0) return SystemError(path);
    bool good = fchmod(file.get(), 0644) == 0;
    for (const absl::string_view piece : pieces) good = good && WriteAll(file.get(), piece);
    if (!good) {
      absl::Status status = SystemError(path);
      unlink(temporary.c_str());
      return status;
    }
  }
  if (rename(temporary.c_str(), path.c_str()) == 0) return absl::OkStatus();
  absl::Status status = SystemError(path);
  unlink(temporary.c_str());
  return status;
}

}  // namespace lathe
