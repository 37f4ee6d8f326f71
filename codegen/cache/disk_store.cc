#include "codegen/cache/disk_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "dtypes/base/status.h"
#include "xxhash.h"

namespace lathe {
namespace {

constexpr absl::string_view kMagic = "lathe-kernel-2";

std::string LibraryName(absl::string_view bytes) { return absl::StrCat(HashText(bytes), ".so"); }

std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

absl::Status Rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  const std::string reason = std::strerror(errno);
  unlink(from.c_str());
  return FailedPrecondition("cannot write ", to, ": ", reason);
}

}  // namespace

std::string DefaultCacheFolder() {
  const auto variable = [](const char* name) -> std::string {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
  };
  if (std::string folder = variable("LATHE_CACHE_DIR"); !folder.empty()) return folder;
  if (std::string folder = variable("XDG_CACHE_HOME"); !folder.empty()) return folder + "/lathe";
  if (std::string folder = variable("HOME"); !folder.empty()) return folder + "/.cache/lathe";
  return "";
}

std::string HashText(absl::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return absl::StrFormat("%016x%016x", hash.high64, hash.low64);
}

absl::Status WriteFile(const std::string& path, absl::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return absl::OkStatus();
  const std::string reason = std::strerror(errno);
  unlink(path.c_str());
  return FailedPrecondition("cannot write ", path, ": ", reason);
}

absl::StatusOr<DiskStore> DiskStore::Open(const std::string& folder) {
  if (folder.empty()) return FailedPrecondition("no cache folder: HOME is not set");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || access(folder.c_str(), W_OK | X_OK) != 0) {
    return FailedPrecondition("cannot write to the cache folder ", folder, ": ",
                              error ? error.message() : std::strerror(errno));
  }
  return DiskStore(folder, /*remove=*/false);
}

absl::StatusOr<DiskStore> DiskStore::Temporary() {
  const char* base = std::getenv("TMPDIR");
  std::string pattern = absl::StrCat(base != nullptr && *base ? base : "/tmp", "/lathe-XXXXXX");
  if (mkdtemp(pattern.data()) == nullptr) {
    return FailedPrecondition("cannot make a folder ", pattern, ": ", std::strerror(errno));
  }
  return DiskStore(pattern, /*remove=*/true);
}

DiskStore::DiskStore(DiskStore&& other) noexcept
    : folder_(std::move(other.folder_)), remove_(std::exchange(other.remove_, false)) {}

DiskStore::~DiskStore() {
  std::error_code ignored;
  if (remove_) std::filesystem::remove_all(folder_, ignored);
}

absl::StatusOr<std::string> DiskStore::Find(const std::string& key) const {
  const std::optional<std::string> entry = ReadFile(absl::StrCat(folder_, "/", key, ".kernel"));
  if (!entry) return NotFound("no entry ", key);
  const std::vector<std::string> fields = absl::StrSplit(*entry, '\n');
  if (fields.size() != 3 || fields[0] != kMagic || fields[1].find('/') != std::string::npos) {
    return DataLoss("the entry ", key, " is damaged");
  }
  const std::string path = absl::StrCat(folder_, "/", fields[1]);
  const std::optional<std::string> library = ReadFile(path);
  if (!library || LibraryName(*library) != fields[1]) {
    return DataLoss("the library of the entry ", key, library ? " is damaged" : " is missing");
  }
  return path;
}

std::string DiskStore::FreshPath(absl::string_view suffix) const {
  // Processes of several containers may share the folder and have one number.
  static const uint64_t kProcess =
      (uint64_t{std::random_device()()} << 32) | std::random_device()();
  static std::atomic<int> counter{0};
  return absl::StrCat(folder_, "/.", getpid(), "-", absl::Hex(kProcess), "-", counter++, suffix);
}

absl::StatusOr<std::string> DiskStore::Keep(const std::string& temporary) const {
  const std::optional<std::string> bytes = ReadFile(temporary);
  if (!bytes) return FailedPrecondition("cannot read back ", temporary);
  const std::string path = absl::StrCat(folder_, "/", LibraryName(*bytes));
  LATHE_RETURN_IF_ERROR(Rename(temporary, path));
  return path;
}

absl::Status DiskStore::AddKey(const std::string& key, const std::string& library) const {
  const std::string temporary = FreshPath(".kernel");
  const std::string name = library.substr(library.rfind('/') + 1);
  LATHE_RETURN_IF_ERROR(WriteFile(temporary, absl::StrCat(kMagic, "\n", name, "\n")));
  return Rename(temporary, absl::StrCat(folder_, "/", key, ".kernel"));
}

}  // namespace lathe
