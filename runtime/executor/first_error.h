#ifndef LATHE_RUNTIME_EXECUTOR_FIRST_ERROR_H_
#define LATHE_RUNTIME_EXECUTOR_FIRST_ERROR_H_

#include <atomic>
#include <mutex>

#include "absl/status/status.h"

namespace lathe::executor {

// The first failure of several workers.
class FirstError {
 public:
  void Set(absl::Status status) {
    if (__builtin_expect(status.ok(), 1)) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (status_.ok()) status_ = std::move(status);
    failed_.store(true, std::memory_order_relaxed);
  }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  absl::Status status() const { return status_; }  // when all are done

 private:
  std::mutex mutex_;
  absl::Status status_;
  std::atomic<bool> failed_{false};
};

}  // namespace lathe::executor

#endif  // LATHE_RUNTIME_EXECUTOR_FIRST_ERROR_H_
