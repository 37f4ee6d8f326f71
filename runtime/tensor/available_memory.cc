#include "runtime/tensor/available_memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

std::optional<std::string> FirstLine(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return std::nullopt;
  char line[4096];
  const bool read = std::fgets(line, sizeof(line), file) != nullptr;
  std::fclose(file);
  return read ? std::optional<std::string>(line) : std::nullopt;
}

std::optional<int64_t> NumberIn(const std::string& path) {
  const std::optional<std::string> line = FirstLine(path);
  int64_t number;
  if (!line.has_value() || !absl::SimpleAtoi(*line, &number)) return std::nullopt;  // "max"
  return number;
}

int64_t MachineBytes() {
  if (std::FILE* file = std::fopen("/proc/meminfo", "r")) {
    char line[256];
    long kilobytes = -1;
    while (kilobytes < 0 && std::fgets(line, sizeof(line), file) != nullptr) {
      if (std::sscanf(line, "MemAvailable: %ld kB", &kilobytes) != 1) kilobytes = -1;
    }
    std::fclose(file);
    if (kilobytes >= 0) return int64_t{kilobytes} * 1024;
  }
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? int64_t{pages} * size : INT64_MAX;
}

// Pages of files that the group counts as its own and gives back when asked: weights read before
// are no reason to refuse.
int64_t CachedFileBytes() {
  std::FILE* file = std::fopen("/sys/fs/cgroup/memory.stat", "r");
  if (file == nullptr) return 0;
  int64_t bytes = 0;
  char line[256];
  long value = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "inactive_file %ld", &value) == 1 ||
        std::sscanf(line, "active_file %ld", &value) == 1) {
      bytes += value;
    }
  }
  std::fclose(file);
  return bytes;
}

// The group's own limit; those of the groups around it are not looked for.
int64_t GroupBytes() {
  const std::optional<int64_t> limit = NumberIn("/sys/fs/cgroup/memory.max");
  const std::optional<int64_t> used = NumberIn("/sys/fs/cgroup/memory.current");
  if (!limit.has_value()) return INT64_MAX;
  return std::max<int64_t>(*limit - used.value_or(0) + CachedFileBytes(), 0);
}

}  // namespace

int64_t AvailableMemoryBytes() { return std::min(MachineBytes(), GroupBytes()); }

bool FitsMemory(int64_t bytes) { return bytes <= kLargeBytes || bytes <= AvailableMemoryBytes(); }

absl::Status OutOfMemory(absl::string_view what, int64_t bytes) {
  return ResourceExhausted(what, " needs ", bytes, " bytes of memory, ", AvailableMemoryBytes(),
                           " are available");
}

}  // namespace lathe
