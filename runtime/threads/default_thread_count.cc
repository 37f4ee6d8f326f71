#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <thread>

#include "absl/strings/numbers.h"
#include "runtime/threads/cgroup_quota.h"
#include "runtime/threads/thread_pool.h"

namespace lathe {
namespace {

constexpr int kMaxThreads = 1024;

int AffinityCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());  // more than 1024 processors
}

}  // namespace

int DefaultThreadCount() {
  int wanted = 0;
  const char* text = std::getenv("LATHE_NUM_THREADS");
  if (text != nullptr && absl::SimpleAtoi(text, &wanted) && wanted > 0) {
    return std::min(wanted, kMaxThreads);
  }
  int count = std::max(AffinityCount(), 1);
  if (std::optional<double> quota = CgroupCpuQuota("/")) {
    count = std::min(count, std::max(1, static_cast<int>(std::ceil(*quota))));
  }
  return std::min(count, kMaxThreads);
}

}  // namespace lathe
