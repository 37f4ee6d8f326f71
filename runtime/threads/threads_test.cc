#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/threads/cgroup_quota.h"
#include "runtime/threads/thread_pool.h"

namespace lathe {
namespace {

// Plain ints, so that the thread sanitizer sees every missing edge.
void ExpectCoversOnce(ThreadPool& pool, int64_t extent, int64_t grain) {
  std::vector<int> hits(static_cast<size_t>(extent), 0);
  pool.ParallelFor(extent, grain, [&](int64_t begin, int64_t end, int worker) {
    ASSERT_LT(begin, end);
    ASSERT_LE(end, extent);
    ASSERT_EQ(begin % grain, 0);
    ASSERT_TRUE(end == extent || end % grain == 0);
    ASSERT_LT(worker, pool.thread_count());
    for (int64_t k = begin; k < end; ++k) ++hits[static_cast<size_t>(k)];
  });
  for (const int n : hits) ASSERT_EQ(n, 1);
}

TEST(ThreadPool, CoversEveryIndexOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    const auto pool = NewThreadPool(threads);
    EXPECT_EQ(pool->thread_count(), threads);
    for (const int64_t extent : {0, 1, 2, 7, 64, 1000, 4097}) {
      for (const int64_t grain : {1, 3, 64, 5000}) ExpectCoversOnce(*pool, extent, grain);
    }
  }
  ExpectCoversOnce(*NewThreadPool(0), 5, 1);
}

TEST(ThreadPool, ManyShortLoopsAndSleepsBetween) {
  const auto pool = NewThreadPool(4);
  for (int k = 0; k < 2000; ++k) ExpectCoversOnce(*pool, 16, 1);
  for (int k = 0; k < 20; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // longer than the spin
    ExpectCoversOnce(*pool, 16, 1);
  }
}

TEST(ThreadPool, NestedLoopsAreSerial) {
  const auto pool = NewThreadPool(3);
  std::atomic<int> total{0};
  pool->ParallelFor(8, 1, [&](int64_t, int64_t, int worker) {
    const std::thread::id outer = std::this_thread::get_id();
    pool->ParallelFor(100, 1, [&](int64_t begin, int64_t end, int inner) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      EXPECT_EQ(inner, worker);
      total += static_cast<int>(end - begin);
    });
  });
  EXPECT_GE(total.load(), 100);
  EXPECT_EQ(total.load() % 100, 0);
}

TEST(ThreadPool, CallersDoNotMix) {
  const auto pool = NewThreadPool(3);
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 10; ++caller) {
    callers.emplace_back([&] {
      for (int k = 0; k < 200; ++k) ExpectCoversOnce(*pool, 50, 4);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST(ThreadPool, WorkersHelp) {
  const auto pool = NewThreadPool(2);
  std::atomic<bool> other_ran{false};
  pool->ParallelFor(2, 1, [&](int64_t, int64_t, int worker) {
    if (worker == 1) other_ran = true;
    // The caller waits for the other worker to take its piece.
    for (int k = 0; worker == 0 && !other_ran && k < 10000; ++k) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_TRUE(other_ran);
}

class FakeRoot {
 public:
  FakeRoot() : path_(std::string(std::getenv("TEST_TMPDIR")) + "/root" + std::to_string(count_++)) {
    mkdir(path_.c_str(), 0755);
  }
  void Write(const std::string& name, const std::string& text) {
    for (size_t k = 1; (k = name.find('/', k)) != std::string::npos; ++k) {
      mkdir((path_ + name.substr(0, k)).c_str(), 0755);
    }
    std::ofstream(path_ + name) << text;
  }
  const std::string& path() const { return path_; }

 private:
  static inline int count_ = 0;
  std::string path_;
};

TEST(CgroupQuota, VersionTwoTakesTheTightestParent) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/pod/box\n");
  EXPECT_FALSE(CgroupCpuQuota(root.path()).has_value());
  root.Write("/sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
  EXPECT_FALSE(CgroupCpuQuota(root.path()).has_value());
  root.Write("/sys/fs/cgroup/pod/cpu.max", "150000 100000\n");
  EXPECT_EQ(CgroupCpuQuota(root.path()), 1.5);
}

TEST(CgroupQuota, VersionOne) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "5:memory:/x\n4:cpu,cpuacct:/a\n");
  root.Write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
  root.Write("/sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
  EXPECT_FALSE(CgroupCpuQuota(root.path()).has_value());
  root.Write("/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n");
  EXPECT_EQ(CgroupCpuQuota(root.path()), 3.0);
}

TEST(DefaultThreadCount, TheEnvironmentDecides) {
  setenv("LATHE_NUM_THREADS", "3", 1);
  EXPECT_EQ(DefaultThreadCount(), 3);
  setenv("LATHE_NUM_THREADS", "nonsense", 1);
  EXPECT_GE(DefaultThreadCount(), 1);
  unsetenv("LATHE_NUM_THREADS");
  EXPECT_GE(DefaultThreadCount(), 1);
}

}  // namespace
}  // namespace lathe
