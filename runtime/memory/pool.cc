#include "runtime/memory/pool.h"

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/memory/size_class.h"
#include "runtime/tensor/available_memory.h"

namespace lathe {
namespace {

using memory::BlockBytes;
using memory::ClassOf;
using memory::kHugePage;

int64_t DefaultLimit() {
#if defined(__SANITIZE_ADDRESS__)
  return 0;  // a kept block would hide its use after free
#else
  return sysconf(_SC_PHYS_PAGES) / 4 * sysconf(_SC_PAGESIZE);
#endif
}

// Aligned to a huge page: more is mapped, and both ends given back.
void* MapHuge(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  void* mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const start = static_cast<char*>(mapped);
  const size_t lead = -reinterpret_cast<uintptr_t>(start) % kHugePage;
  if (lead > 0) munmap(start, lead);
  if (lead < kHugePage) munmap(start + lead + size, kHugePage - lead);
  madvise(start + lead, size, MADV_HUGEPAGE);  // advice: small pages do as well
  return start + lead;
}

void* SystemAllocate(int64_t block_bytes) {
  if (!FitsMemory(block_bytes)) return nullptr;
  if (block_bytes >= kHugePage) return MapHuge(block_bytes);
  return std::aligned_alloc(memory::kAlignment, static_cast<size_t>(block_bytes));
}

void SystemFree(void* data, int64_t block_bytes) {
  if (block_bytes >= kHugePage) {
    munmap(data, static_cast<size_t>(block_bytes));
  } else {
    std::free(data);
  }
}

class Pool {
 public:
  void* Take(int64_t block_bytes) {
    used_.fetch_add(block_bytes, std::memory_order_relaxed);
    if (void* kept = TakeKept(block_bytes)) return kept;
    requests_.fetch_add(1, std::memory_order_relaxed);
    void* data = SystemAllocate(block_bytes);
    if (data == nullptr) {
      Trim();
      data = SystemAllocate(block_bytes);
    }
    if (data == nullptr) used_.fetch_sub(block_bytes, std::memory_order_relaxed);
    return data;
  }

  void Give(void* data, int64_t block_bytes) {
    used_.fetch_sub(block_bytes, std::memory_order_relaxed);
    const int64_t before = cached_.fetch_add(block_bytes, std::memory_order_relaxed);
    if (before + block_bytes > limit_.load(std::memory_order_relaxed)) {
      cached_.fetch_sub(block_bytes, std::memory_order_relaxed);
      return SystemFree(data, block_bytes);
    }
    FreeList& list = lists_[static_cast<size_t>(ClassOf(block_bytes))];
    std::lock_guard<std::mutex> lock(list.mutex);
    list.blocks.push_back({data, block_bytes});
  }

  void Trim() {
    for (FreeList& list : lists_) {
      std::vector<Block> blocks;
      {
        std::lock_guard<std::mutex> lock(list.mutex);
        blocks = std::exchange(list.blocks, {});
      }
      for (const Block& block : blocks) {
        cached_.fetch_sub(block.bytes, std::memory_order_relaxed);
        SystemFree(block.data, block.bytes);
      }
    }
  }

  void SetLimit(int64_t bytes) {
    limit_.store(bytes, std::memory_order_relaxed);
    if (cached_.load(std::memory_order_relaxed) > bytes) Trim();
  }

  PoolStatistics Statistics() const {
    return {cached_.load(std::memory_order_relaxed), used_.load(std::memory_order_relaxed),
            requests_.load(std::memory_order_relaxed)};
  }

 private:
  struct Block {
    void* data;
    int64_t bytes;
  };
  struct FreeList {
    std::mutex mutex;
    std::vector<Block> blocks;  // the last given is the first taken: it may still be in cache
  };

  void* TakeKept(int64_t block_bytes) {
    FreeList& list = lists_[static_cast<size_t>(ClassOf(block_bytes))];
    std::lock_guard<std::mutex> lock(list.mutex);
    if (list.blocks.empty()) return nullptr;
    void* data = list.blocks.back().data;
    list.blocks.pop_back();
    cached_.fetch_sub(block_bytes, std::memory_order_relaxed);
    return data;
  }

  std::array<FreeList, memory::kClassCount> lists_;
  std::atomic<int64_t> cached_{0}, used_{0}, requests_{0};
  std::atomic<int64_t> limit_{DefaultLimit()};
};

// Never destroyed: tensors in static variables may outlive it otherwise.
Pool& ThePool() {
  static Pool* const pool = new Pool();
  return *pool;
}

}  // namespace

std::shared_ptr<Storage> PoolAllocate(int64_t bytes) {
  if (bytes < 0 || bytes > memory::kMaxBytes) return nullptr;
  const int64_t block_bytes = BlockBytes(bytes);
  void* data = ThePool().Take(block_bytes);
  if (data == nullptr) return nullptr;
  return Storage::Wrap(data, bytes, [data, block_bytes] { ThePool().Give(data, block_bytes); });
}

PoolStatistics GetPoolStatistics() { return ThePool().Statistics(); }
void SetPoolLimit(int64_t bytes) { ThePool().SetLimit(bytes); }
void TrimPool() { ThePool().Trim(); }

}  // namespace lathe
