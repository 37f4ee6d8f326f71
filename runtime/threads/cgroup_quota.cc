#include "runtime/threads/cgroup_quota.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"

namespace lathe {
namespace {

std::optional<std::string> FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::optional<double> Ratio(absl::string_view quota, absl::string_view period) {
  double q = 0, p = 0;
  if (!absl::SimpleAtod(quota, &q) || !absl::SimpleAtod(period, &p)) return std::nullopt;
  if (q <= 0 || p <= 0) return std::nullopt;  // -1 is v1's word for no limit
  return q / p;
}

// "max 100000" or "150000 100000".
std::optional<double> QuotaV2(const std::string& folder) {
  const std::optional<std::string> line = FirstLine(folder + "/cpu.max");
  if (!line) return std::nullopt;
  const std::vector<std::string> words = absl::StrSplit(*line, ' ', absl::SkipEmpty());
  return words.size() == 2 ? Ratio(words[0], words[1]) : std::nullopt;
}

std::optional<double> QuotaV1(const std::string& folder) {
  const std::optional<std::string> quota = FirstLine(folder + "/cpu.cfs_quota_us");
  const std::optional<std::string> period = FirstLine(folder + "/cpu.cfs_period_us");
  return quota && period ? Ratio(*quota, *period) : std::nullopt;
}

// The limit of `folder` and of every folder above it, up to `top`. Inside a container the path of
// proc/self/cgroup may not exist below the mount; then only the top has files.
template <typename Quota>
void Tighten(const std::string& top, std::string folder, Quota quota,
             std::optional<double>* limit) {
  for (;;) {
    if (std::optional<double> here = quota(top + folder)) {
      *limit = limit->has_value() ? std::min(**limit, *here) : *here;
    }
    const size_t slash = folder.rfind('/');
    if (folder.empty() || slash == std::string::npos) return;
    folder.resize(slash);
  }
}

bool NamesCpu(absl::string_view controllers) {
  for (absl::string_view name : absl::StrSplit(controllers, ',')) {
    if (name == "cpu") return true;
  }
  return false;
}

}  // namespace

std::optional<double> CgroupCpuQuota(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  const std::string mount = root + "/sys/fs/cgroup";
  std::optional<double> limit;
  for (std::string line; std::getline(groups, line);) {
    // "0::/a/b" (v2) or "4:cpu,cpuacct:/a/b" (v1).
    const std::vector<std::string> parts = absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (parts.size() != 3) continue;
    const std::string folder = parts[2] == "/" ? "" : parts[2];
    if (parts[1].empty()) {
      Tighten(mount, folder, QuotaV2, &limit);
    } else if (NamesCpu(parts[1])) {
      Tighten(mount + "/cpu", folder, QuotaV1, &limit);
    }
  }
  return limit;
}

}  // namespace lathe
