#ifndef LATHE_RUNTIME_THREADS_THREAD_POOL_H_
#define LATHE_RUNTIME_THREADS_THREAD_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>

namespace lathe {

// Threads that run the pieces of one parallel loop at a time. Programs may bring their own pool.
class ThreadPool {
 public:
  virtual ~ThreadPool() = default;
  virtual int thread_count() const = 0;
  // Calls body(begin, end, worker) for disjoint ranges that cover [0, extent), cut only at
  // multiples of `grain`; worker < thread_count(). Returns when all are done. Called from inside a
  // body of the same pool it runs serially. Which worker takes a range is unspecified.
  virtual void ParallelFor(int64_t extent, int64_t grain,
                           const std::function<void(int64_t, int64_t, int)>& body) = 0;
};

// `threads` workers, the caller among them. Idle workers spin for 20 us, then sleep.
std::unique_ptr<ThreadPool> NewThreadPool(int threads);
// LATHE_NUM_THREADS, else the cgroup's CPU quota, else the affinity mask; at least 1.
int DefaultThreadCount();

}  // namespace lathe

#endif  // LATHE_RUNTIME_THREADS_THREAD_POOL_H_
