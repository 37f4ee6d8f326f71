#ifndef LATHE_CODEGEN_CACHE_DISK_STORE_H_
#define LATHE_CODEGEN_CACHE_DISK_STORE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lathe {

// A folder of kernel libraries. A library is named by the sum of its bytes, so that what a name
// stands for never changes; `KEY.kernel` names a library, several keys may name one.
class DiskStore {
 public:
  // Makes the folder if it is missing. FailedPrecondition, saying why, when it cannot be written.
  static absl::StatusOr<DiskStore> Open(const std::string& folder);
  // A folder that is removed with the store.
  static absl::StatusOr<DiskStore> Temporary();
  ~DiskStore();
  DiskStore(DiskStore&& other) noexcept;
  DiskStore& operator=(DiskStore&&) = delete;

  // The path of the library that holds `key`. NotFound without an entry, DataLoss when the entry or
  // its library is not whole.
  absl::StatusOr<std::string> Find(const std::string& key) const;
  // A path in the folder that nobody else uses; for a file to be written and then kept.
  std::string FreshPath(absl::string_view suffix) const;
  // Takes the finished library at `temporary`; returns its path.
  absl::StatusOr<std::string> Keep(const std::string& temporary) const;
  // `library` is a path that Keep returned.
  absl::Status AddKey(const std::string& key, const std::string& library) const;

 private:
  explicit DiskStore(std::string folder, bool remove)
      : folder_(std::move(folder)), remove_(remove) {}
  std::string folder_;
  bool remove_;
};

// LATHE_CACHE_DIR, else XDG_CACHE_HOME/lathe, else HOME/.cache/lathe; "" when none is set.
std::string DefaultCacheFolder();

// 32 hex digits.
std::string HashText(absl::string_view bytes);

absl::Status WriteFile(const std::string& path, absl::string_view bytes);

}  // namespace lathe

#endif  // LATHE_CODEGEN_CACHE_DISK_STORE_H_
