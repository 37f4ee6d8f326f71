#ifndef LATHE_DTYPES_GUARDED_BUFFER_H_
#define LATHE_DTYPES_GUARDED_BUFFER_H_

// For tests: bytes that end where a page without access begins, so that one read or written past
// them stops the test.
//
//   GuardedBuffer buffer(13);  Fill(buffer.data());

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

#include "dtypes/base/check.h"

namespace lathe {

class GuardedBuffer {
 public:
  explicit GuardedBuffer(size_t size) : size_(size) {
    void* pages =
        mmap(nullptr, mapped() + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    LATHE_CHECK(pages != MAP_FAILED);
    pages_ = static_cast<uint8_t*>(pages);
    LATHE_CHECK(mprotect(pages_ + mapped(), kPage, PROT_NONE) == 0);
  }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer() { munmap(pages_, mapped() + kPage); }

  size_t size() const { return size_; }
  uint8_t* data() { return pages_ + mapped() - size_; }
  const uint8_t* data() const { return pages_ + mapped() - size_; }

 private:
  static constexpr size_t kPage = 4096;
  size_t mapped() const { return (size_ + kPage - 1) / kPage * kPage; }

  size_t size_;
  uint8_t* pages_;
};

}  // namespace lathe

#endif  // LATHE_DTYPES_GUARDED_BUFFER_H_
