#include "ir/loops/target.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace lathe {
namespace {

std::vector<std::string> Features() {
  std::vector<std::string> features;
#if defined(__x86_64__)
  __builtin_cpu_init();
// The argument must be a literal.
#define LATHE_FEATURE(name) \
  if (__builtin_cpu_supports(name)) features.push_back(name)
  LATHE_FEATURE("sse4.1");
  LATHE_FEATURE("sse4.2");
  LATHE_FEATURE("avx");
  LATHE_FEATURE("avx2");
  LATHE_FEATURE("fma");
  LATHE_FEATURE("bmi");
  LATHE_FEATURE("bmi2");
  LATHE_FEATURE("popcnt");
  LATHE_FEATURE("avx512f");
  LATHE_FEATURE("avx512bw");
  LATHE_FEATURE("avx512cd");
  LATHE_FEATURE("avx512dq");
  LATHE_FEATURE("avx512vl");
  LATHE_FEATURE("avx512vnni");
  LATHE_FEATURE("avx512bf16");
#undef LATHE_FEATURE
  // Every processor with AVX2 has it; __builtin_cpu_supports of g++ 12 knows no "f16c".
  if (__builtin_cpu_supports("avx2")) features.push_back("f16c");
#endif
  std::sort(features.begin(), features.end());
  return features;
}

bool Has(const std::vector<std::string>& features, absl::string_view name) {
  return std::find(features.begin(), features.end(), name) != features.end();
}

int64_t CacheBytes(int name, int64_t otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? bytes : otherwise;
}

// Whole processors of the cgroup's quota (v2, then v1), at least 1; 0 without a quota.
int CgroupThreads() {
  long quota = -1, period = 0;
  if (FILE* file = std::fopen("/sys/fs/cgroup/cpu.max", "r")) {
    if (std::fscanf(file, "%ld %ld", &quota, &period) != 2) quota = -1;
    std::fclose(file);
  } else if (FILE* v1 = std::fopen("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "r")) {
    if (std::fscanf(v1, "%ld", &quota) != 1) quota = -1;
    std::fclose(v1);
    if (FILE* p = std::fopen("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "r")) {
      if (std::fscanf(p, "%ld", &period) != 1) period = 0;
      std::fclose(p);
    }
  }
  return quota > 0 && period > 0 ? static_cast<int>(std::max(1L, quota / period)) : 0;
}

int AffinityThreads() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
  return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

int HostThreads() {
  if (const char* text = std::getenv("LATHE_NUM_THREADS")) {
    if (const int threads = std::atoi(text); threads > 0) return threads;
  }
  const int available = AffinityThreads();
  const int quota = CgroupThreads();
  return quota > 0 ? std::min(quota, available) : available;
}

}  // namespace

Target HostTarget() {
  Target target;
  target.features = Features();
  target.vector_bytes = Has(target.features, "avx512bw") && Has(target.features, "avx512vl") ? 64
                        : Has(target.features, "avx2")                                       ? 32
                                                                                             : 16;
  target.l1_bytes = CacheBytes(_SC_LEVEL1_DCACHE_SIZE, target.l1_bytes);
  target.l2_bytes = CacheBytes(_SC_LEVEL2_CACHE_SIZE, target.l2_bytes);
  target.l3_bytes = CacheBytes(_SC_LEVEL3_CACHE_SIZE, target.l3_bytes);
  target.threads = HostThreads();
  return target;
}

std::string ToString(const Target& target) {
  const std::string device =
      target.device.type == Device::Type::kCpu ? "cpu" : absl::StrCat("cuda:", target.device.index);
  return absl::StrCat(device, ", ", target.vector_bytes, "-byte vectors, L1 ",
                      target.l1_bytes >> 10, " KiB, L2 ", target.l2_bytes >> 10, " KiB, L3 ",
                      target.l3_bytes >> 10, " KiB, ", target.threads, " threads, ",
                      absl::StrJoin(target.features, " "));
}

}  // namespace lathe
