#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "dtypes/base/status.h"
#include "minizip/unzip.h"
#include "runtime/files/mapped_file.h"
#include "runtime/files/npy.h"

namespace lathe {
namespace {

// Deflate makes a byte of at most 1032: a larger claim is false.
constexpr uint64_t kMaxRatio = 1032;
constexpr size_t kChunk = size_t{1} << 20;

class Archive {
 public:
  explicit Archive(const std::string& path) : zip_(unzOpen64(path.c_str())) {}
  ~Archive() {
    if (zip_ != nullptr) unzClose(zip_);
  }
  unzFile get() const { return zip_; }

 private:
  unzFile zip_;
};

// The current entry's bytes; memory grows with what is there, not with what is claimed.
absl::StatusOr<std::string> ReadEntry(unzFile zip, const unz_file_info64& info,
                                      const std::string& name) {
  if ((info.flag & 1) != 0) return InvalidArgument(name, ": encrypted");
  if (info.compression_method != 0 && info.compression_method != Z_DEFLATED) {
    return Unimplemented(name, ": compressed by method ", info.compression_method);
  }
  if (info.uncompressed_size / kMaxRatio > info.compressed_size) {
    return DataLoss(name, ": ", info.compressed_size, " bytes cannot hold ",
                    info.uncompressed_size);
  }
  if (unzOpenCurrentFile(zip) != UNZ_OK) return DataLoss(name, ": a damaged entry");
  std::string bytes;
  while (bytes.size() < info.uncompressed_size) {
    const size_t before = bytes.size();
    const size_t wanted =
        std::min<uint64_t>(std::max(kChunk, before), info.uncompressed_size - before);
    bytes.resize(before + wanted);
    const int got = unzReadCurrentFile(zip, bytes.data() + before, static_cast<unsigned>(wanted));
    if (got <= 0) {
      unzCloseCurrentFile(zip);
      return DataLoss(name, ": a damaged entry");
    }
    bytes.resize(before + static_cast<size_t>(got));
  }
  if (unzCloseCurrentFile(zip) != UNZ_OK) return DataLoss(name, ": the checksum does not match");
  return bytes;
}

absl::StatusOr<std::string> EntryName(unzFile zip, unz_file_info64* info, const std::string& path) {
  if (unzGetCurrentFileInfo64(zip, info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK) {
    return DataLoss(path, ": a damaged directory");
  }
  std::string name(info->size_filename, '\0');
  if (unzGetCurrentFileInfo64(zip, info, name.data(), name.size(), nullptr, 0, nullptr, 0) !=
      UNZ_OK) {
    return DataLoss(path, ": a damaged directory");
  }
  return name;
}

// The end record, without a comment (numpy writes none), is the file's last 22 bytes. minizip would
// also take one that is cut short.
absl::Status CheckEnd(const std::string& path) {
  LATHE_ASSIGN_OR_RETURN(auto file, MappedFile::Open(path));
  constexpr size_t kEndBytes = 22;
  const absl::string_view bytes = file->bytes();
  if (bytes.size() < 4 || bytes.substr(0, 2) != "PK") {
    return InvalidArgument(path, ": not a zip archive");
  }
  if (bytes.size() < kEndBytes ||
      bytes.substr(bytes.size() - kEndBytes, 4) != absl::string_view("PK\5\6", 4)) {
    return DataLoss(path, ": the zip archive is cut short");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::map<std::string, Tensor>> ReadNpz(const std::string& path) {
  LATHE_RETURN_IF_ERROR(CheckEnd(path));
  const Archive archive(path);
  if (archive.get() == nullptr) return InvalidArgument(path, ": not a zip archive");
  std::map<std::string, Tensor> tensors;
  int code = unzGoToFirstFile(archive.get());
  for (; code == UNZ_OK; code = unzGoToNextFile(archive.get())) {
    unz_file_info64 info{};
    LATHE_ASSIGN_OR_RETURN(std::string name, EntryName(archive.get(), &info, path));
    if (!absl::EndsWith(name, ".npy")) {
      return InvalidArgument(path, ": entry '", name, "' is no .npy file");
    }
    name.resize(name.size() - 4);
    const std::string place = absl::StrCat(path, ": '", name, "'");
    LATHE_ASSIGN_OR_RETURN(const std::string bytes, ReadEntry(archive.get(), info, place));
    LATHE_ASSIGN_OR_RETURN(Tensor tensor, ParseNpy(bytes, place));
    if (!tensors.emplace(name, std::move(tensor)).second) {
      return InvalidArgument(path, ": two entries are called '", name, "'");
    }
  }
  // An empty archive has no first file.
  if (code != UNZ_END_OF_LIST_OF_FILE && !tensors.empty()) {
    return DataLoss(path, ": a damaged directory");
  }
  return tensors;
}

}  // namespace lathe
