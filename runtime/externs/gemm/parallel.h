#ifndef LATHE_RUNTIME_EXTERNS_GEMM_PARALLEL_H_
#define LATHE_RUNTIME_EXTERNS_GEMM_PARALLEL_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "absl/status/status.h"
#include "runtime/memory/pool.h"
#include "runtime/threads/thread_pool.h"

namespace lathe::gemm {

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

// The first failure of several workers.
class FirstError {
 public:
  void Set(const absl::Status& status) {
    if (status.ok()) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (status_.ok()) status_ = status;
    failed_.store(true, std::memory_order_relaxed);
  }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  absl::Status status() const { return status_; }  // when all are done

 private:
  std::mutex mutex_;
  absl::Status status_;
  std::atomic<bool> failed_{false};
};

// Working memory from the pool; data() is null when there was none to get.
class Scratch {
 public:
  explicit Scratch(int64_t bytes) : storage_(PoolAllocate(bytes)) {}
  char* data() const {
    return storage_ == nullptr ? nullptr : static_cast<char*>(storage_->data());
  }

 private:
  std::shared_ptr<Storage> storage_;
};

inline absl::Status OutOfMemory() {
  return absl::ResourceExhaustedError("no memory for the working space of a matrix product");
}

// Runs body(task, worker) for every task, several at a time when each is worth it: a worker takes
// at least `kWork` multiplications.
template <typename Body>
void ForEachTask(ThreadPool* pool, int64_t tasks, int64_t work_per_task, const Body& body) {
  constexpr int64_t kWork = 1 << 16;
  const int64_t grain = std::max<int64_t>(1, kWork / std::max<int64_t>(work_per_task, 1));
  const auto range = [&](int64_t begin, int64_t end, int worker) {
    for (int64_t task = begin; task < end; ++task) body(task, worker);
  };
  if (pool == nullptr || tasks <= grain) return range(0, tasks, 0);
  pool->ParallelFor(tasks, grain, range);
}

}  // namespace lathe::gemm

#endif  // LATHE_RUNTIME_EXTERNS_GEMM_PARALLEL_H_
