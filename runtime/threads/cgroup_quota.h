#ifndef LATHE_RUNTIME_THREADS_CGROUP_QUOTA_H_
#define LATHE_RUNTIME_THREADS_CGROUP_QUOTA_H_

#include <optional>
#include <string>

namespace lathe {

// How many processors' worth of time this process's cgroup (v2 or v1) may use, the tightest limit
// of it and its parents; nullopt when there is none. Files are looked up under `root` ("/" but in
// tests): proc/self/cgroup, sys/fs/cgroup/...
std::optional<double> CgroupCpuQuota(const std::string& root);

}  // namespace lathe

#endif  // LATHE_RUNTIME_THREADS_CGROUP_QUOTA_H_
