#include "runtime/threads/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace lathe {
namespace {

using Body = std::function<void(int64_t, int64_t, int)>;

// Long enough to bridge the gap between two kernels of one program, short enough not to burn a core
// that others could use.
constexpr auto kSpin = std::chrono::microseconds(20);
// Pieces a worker gets on average: enough to even out unequal speeds.
constexpr int64_t kPiecesPerWorker = 4;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Spins, then gives up: true when `ready` became true.
template <typename Ready>
bool SpinFor(Ready ready) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int k = 0; k < 64; ++k) {
      if (ready()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return ready();
}

class Pool;
// The pool whose body this thread is running, and as which worker.
thread_local const Pool* current_pool = nullptr;
thread_local int current_worker = 0;

class ScopedCurrent {
 public:
  ScopedCurrent(const Pool* pool, int worker) : pool_(current_pool), worker_(current_worker) {
    current_pool = pool;
    current_worker = worker;
  }
  ~ScopedCurrent() {
    current_pool = pool_;
    current_worker = worker_;
  }

 private:
  const Pool* pool_;
  int worker_;
};

// state_ says in one word which loop is on: bit 0 is set while workers may still join it, the bits
// above count the workers inside, the rest is the number of the loop. So a loop never waits for a
// worker that is still asleep: the caller closes it when no piece is left.
constexpr uint64_t kOpen = 1, kOneWorker = 2, kOneLoop = 1 << 16;
constexpr int kMaxThreads = 1 << 14;

uint64_t LoopOf(uint64_t state) { return state / kOneLoop; }
bool HasWorkers(uint64_t state) { return state % kOneLoop >= kOneWorker; }

class Pool final : public ThreadPool {
 public:
  explicit Pool(int threads) : thread_count_(std::clamp(threads, 1, kMaxThreads)) {
    for (int worker = 1; worker < thread_count_; ++worker) {
      threads_.emplace_back([this, worker] { Work(worker); });
    }
  }
  ~Pool() override {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_.store(true, std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  int thread_count() const override { return thread_count_; }

  void ParallelFor(int64_t extent, int64_t grain, const Body& body) override {
    if (extent <= 0) return;
    grain = std::max<int64_t>(grain, 1);
    if (current_pool == this) return body(0, extent, current_worker);
    const ScopedCurrent current(this, 0);
    if (thread_count_ == 1 || extent <= grain) return body(0, extent, 0);
    std::unique_lock<std::mutex> one_loop(loop_mutex_, std::try_to_lock);
    // The workers are busy with another caller's loop: this thread does its own alone.
    if (!one_loop.owns_lock()) return body(0, extent, 0);
    Start(extent, grain, body);
    RunPieces(0);
    Finish();
  }

 private:
  void Start(int64_t extent, int64_t grain, const Body& body) {
    const int64_t grains = (extent - 1) / grain + 1;
    body_ = &body;
    extent_ = extent;
    piece_ = std::max<int64_t>(1, grains / (thread_count_ * kPiecesPerWorker)) * grain;
    pieces_ = (extent - 1) / piece_ + 1;
    next_.store(0, std::memory_order_relaxed);
    const uint64_t loop = LoopOf(state_.load(std::memory_order_relaxed)) + 1;
    state_.store(loop * kOneLoop | kOpen, std::memory_order_seq_cst);
    // A worker counts itself a sleeper before it looks at the state for the last time, so one of
    // the two sees the other.
    const int sleepers = sleepers_.load(std::memory_order_seq_cst);
    if (sleepers == 0) return;
    { std::lock_guard<std::mutex> lock(mutex_); }
    if (pieces_ - 1 >= sleepers) return wake_.notify_all();
    for (int64_t k = 1; k < pieces_; ++k) wake_.notify_one();
  }

  void Finish() {
    const uint64_t before = state_.fetch_and(~kOpen, std::memory_order_acq_rel);
    if (!HasWorkers(before)) return;
    const auto done = [&] { return !HasWorkers(state_.load(std::memory_order_acquire)); };
    if (SpinFor(done)) return;
    std::unique_lock<std::mutex> lock(mutex_);
    finished_.wait(lock, done);
  }

  void RunPieces(int worker) {
    for (;;) {
      const int64_t k = next_.fetch_add(1, std::memory_order_relaxed);
      if (k >= pieces_) return;
      const int64_t begin = k * piece_;
      (*body_)(begin, extent_ - begin < piece_ ? extent_ : begin + piece_, worker);
    }
  }

  // True when this worker is now inside a loop it has not seen.
  bool Join(uint64_t* seen) {
    uint64_t state = state_.load(std::memory_order_relaxed);
    while ((state & kOpen) != 0 && LoopOf(state) != *seen) {
      if (state_.compare_exchange_weak(state, state + kOneWorker, std::memory_order_acq_rel,
                                       std::memory_order_relaxed)) {
        *seen = LoopOf(state);
        return true;
      }
    }
    return false;
  }

  void Leave() {
    const uint64_t after = state_.fetch_sub(kOneWorker, std::memory_order_acq_rel) - kOneWorker;
    if (HasWorkers(after) || (after & kOpen) != 0) return;
    { std::lock_guard<std::mutex> lock(mutex_); }
    finished_.notify_one();
  }

  void Work(int worker) {
    current_pool = this;
    current_worker = worker;
    uint64_t seen = 0;
    const auto stopping = [&] { return stopping_.load(std::memory_order_acquire); };
    const auto called = [&] {
      const uint64_t state = state_.load(std::memory_order_seq_cst);
      return stopping() || ((state & kOpen) != 0 && LoopOf(state) != seen);
    };
    for (;;) {
      if (!SpinFor(called)) {
        std::unique_lock<std::mutex> lock(mutex_);
        sleepers_.fetch_add(1, std::memory_order_seq_cst);
        wake_.wait(lock, called);
        sleepers_.fetch_sub(1, std::memory_order_relaxed);
      }
      if (stopping()) return;
      if (!Join(&seen)) continue;
      RunPieces(worker);
      Leave();
    }
  }

  const int thread_count_;
  std::vector<std::thread> threads_;
  std::mutex loop_mutex_;  // one loop at a time

  // The loop: written by Start while no worker is inside, published by state_.
  const Body* body_ = nullptr;
  int64_t extent_ = 0, piece_ = 1, pieces_ = 0;
  alignas(64) std::atomic<int64_t> next_{0};
  alignas(64) std::atomic<uint64_t> state_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::condition_variable wake_, finished_;
};

}  // namespace

std::unique_ptr<ThreadPool> NewThreadPool(int threads) { return std::make_unique<Pool>(threads); }

}  // namespace lathe
