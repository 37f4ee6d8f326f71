#ifndef LATHE_CAPTURE_PT2_ZIP_WRITER_H_
#define LATHE_CAPTURE_PT2_ZIP_WRITER_H_

// Writes small stored zip archives, also wrong ones, for tests.

#include <zlib.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"

namespace lathe::pt2 {

class ZipWriter {
 public:
  ZipWriter& Add(const std::string& name, absl::string_view bytes) {
    uint32_t crc = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
    uint32_t size = static_cast<uint32_t>(bytes.size());
    uint32_t at = static_cast<uint32_t>(file_.size());
    Put(file_, uint32_t{0x04034b50}, uint16_t{20}, uint16_t{0}, uint16_t{0}, uint32_t{0}, crc, size,
        size, static_cast<uint16_t>(name.size()), uint16_t{0});
    file_ += name;
    file_ += std::string(bytes);
    Put(directory_, uint32_t{0x02014b50}, uint16_t{20}, uint16_t{20}, uint16_t{0}, uint16_t{0},
        uint32_t{0}, crc, size, size, static_cast<uint16_t>(name.size()), uint16_t{0}, uint16_t{0},
        uint16_t{0}, uint16_t{0}, uint32_t{0}, at);
    directory_ += name;
    ++count_;
    return *this;
  }
  std::string Finish() const {
    std::string whole = file_ + directory_;
    Put(whole, uint32_t{0x06054b50}, uint16_t{0}, uint16_t{0}, count_, count_,
        static_cast<uint32_t>(directory_.size()), static_cast<uint32_t>(file_.size()), uint16_t{0});
    return whole;
  }
  std::string& directory() { return directory_; }

 private:
  template <typename... Fields>
  static void Put(std::string& out, Fields... fields) {
    (out.append(reinterpret_cast<const char*>(&fields), sizeof(fields)), ...);
  }
  std::string file_, directory_;
  uint16_t count_ = 0;
};

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_ZIP_WRITER_H_
