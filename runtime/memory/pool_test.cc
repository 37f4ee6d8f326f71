#include "runtime/memory/pool.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/memory/size_class.h"

namespace lathe {
namespace {

int64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(SizeClass, BlocksHoldTheirBytesAndClassesDiffer) {
  std::set<int64_t> blocks;
  for (int64_t bytes = 0; bytes < (int64_t{1} << 40); bytes += bytes / 37 + 1) {
    const int64_t block = memory::BlockBytes(bytes);
    EXPECT_GE(block, bytes + 64);
    EXPECT_EQ(block % 64, 0);
    if (bytes > 1024 && bytes < (1 << 20)) {
      EXPECT_LE(block, (bytes + 128) * 9 / 8 + 64);
    }
    blocks.insert(block);
  }
  std::set<int> classes;
  for (const int64_t block : blocks) {
    const int c = memory::ClassOf(block);
    EXPECT_TRUE(c >= 0 && c < memory::kClassCount);
    EXPECT_TRUE(classes.insert(c).second) << block;
  }
  EXPECT_LT(memory::ClassOf(memory::BlockBytes(memory::kMaxBytes)), memory::kClassCount);
}

TEST(Pool, AlignsAndPads) {
  for (const int64_t bytes : {0, 1, 63, 64, 65, 4096, (2 << 20) - 64, 2 << 20, 5 << 20}) {
    const std::shared_ptr<Storage> storage = PoolAllocate(bytes);
    ASSERT_NE(storage, nullptr);
    EXPECT_EQ(storage->size_bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage->data()) % 64, 0u);
    std::memset(storage->data(), 1, static_cast<size_t>(bytes) + 64);
  }
  EXPECT_EQ(PoolAllocate(-1), nullptr);
  EXPECT_EQ(PoolAllocate(INT64_MAX), nullptr);
}

TEST(Pool, KeepsBlocksUpToTheLimit) {
  SetPoolLimit(int64_t{64} << 20);
  TrimPool();
  const int64_t before = GetPoolStatistics().system_requests;
  for (int k = 0; k < 10; ++k) {
    const auto a = PoolAllocate(1000), b = PoolAllocate(3 << 20);
    EXPECT_GE(GetPoolStatistics().used_bytes, (3 << 20) + 1000);
  }
  EXPECT_EQ(GetPoolStatistics().system_requests, before + 2);
  EXPECT_GE(GetPoolStatistics().cached_bytes, 3 << 20);
  SetPoolLimit(1 << 20);
  EXPECT_EQ(GetPoolStatistics().cached_bytes, 0);
  PoolAllocate(3 << 20).reset();  // above the limit: straight back to the system
  EXPECT_EQ(GetPoolStatistics().cached_bytes, 0);
  SetPoolLimit(int64_t{256} << 20);
}

TEST(Pool, ResidentMemoryIsConstant) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "freed memory waits in the sanitizer's quarantine";
#endif
  SetPoolLimit(int64_t{256} << 20);
  std::mt19937 random(5);
  int64_t after_warmup = 0;
  for (int cycle = 0; cycle < 1000; ++cycle) {
    std::vector<std::shared_ptr<Storage>> held;
    for (int k = 0; k < 20; ++k) {
      const int64_t bytes = k == 0 ? 4 << 20 : 1 << (6 + k % 12);
      held.push_back(PoolAllocate(bytes));
      std::memset(held.back()->data(), k, static_cast<size_t>(bytes));
    }
    std::shuffle(held.begin(), held.end(), random);
    if (cycle == 20) after_warmup = ResidentBytes();
  }
  EXPECT_LT(ResidentBytes(), after_warmup + (4 << 20));
}

TEST(Pool, ManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (int k = 0; k < 500; ++k) {
        const auto a = PoolAllocate(100 + k % 7 * 1000);
        std::memset(a->data(), t, 100);
        for (int i = 0; i < 100; ++i) ASSERT_EQ(static_cast<char*>(a->data())[i], t);
        if (k % 100 == 0) TrimPool();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace lathe
