#ifndef LATHE_RUNTIME_EXECUTOR_PROGRAM_H_
#define LATHE_RUNTIME_EXECUTOR_PROGRAM_H_

// A Plan made ready to run: every step an object with its operands resolved.

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/frame.h"
#include "runtime/externs/extern.h"

namespace lathe::executor {

// The kernel in use, exchanged without stopping anyone: former ones stay alive as long as the plan.
class KernelSlot {
 public:
  void Set(std::shared_ptr<const Kernel> kernel) {
    std::lock_guard<std::mutex> lock(mutex_);
    current_.store(kernel.get(), std::memory_order_release);
    all_.push_back(std::move(kernel));
  }
  const Kernel* Get() const { return current_.load(std::memory_order_acquire); }

 private:
  std::atomic<const Kernel*> current_{nullptr};
  std::mutex mutex_;
  std::vector<std::shared_ptr<const Kernel>> all_;
};

class Context;

class Step {
 public:
  virtual ~Step() = default;
  virtual absl::Status Run(Frame& frame, Context& context) const = 0;
};

// One plan or sub-plan.
struct Code {
  const Plan* plan = nullptr;
  std::vector<std::unique_ptr<Step>> steps;  // all but the return
  const ReturnStep* result = nullptr;
  // How much of each kind of room its frames need (see Frame).
  size_t evals = 0, arenas = 0, launches = 0;
  // By tensor slot: the storage slot that its data is in, or -1 and the slot that owns it.
  std::vector<StorageSlot> storage_of;
  std::vector<TensorSlot> owner_of;
  std::vector<StorageSlot> allocated;  // storages to let go of after a call
  std::vector<TensorSlot> released;    // tensor slots likewise
  bool has_mutated_inputs = false;
};

// Everything that the contexts of one LoadedPlan share.
struct Program {
  Plan plan;
  std::vector<KernelSlot> kernels;
  std::vector<OpaqueFunction> callbacks;
  std::map<std::string, std::shared_ptr<CollectiveGroup>> groups;
  std::vector<Tensor> weights;  // by input, undefined for user inputs
  ThreadPool* pool = nullptr;
  Code main;
  std::vector<Code> subplans;

  int workers() const { return pool == nullptr ? 1 : pool->thread_count(); }
};

// The frames and scratch of one call.
class Context {
 public:
  explicit Context(const Program& program);

  const Program& program() const { return program_; }
  Frame& main() { return main_; }
  // Made when the sub-plan is first called. Sub-plans do not call themselves, so one is enough.
  Frame& SubFrame(size_t subplan);

  // `bytes` of scratch for each worker, kept from launch to launch; nullptr: out of memory.
  char* Scratch(int64_t bytes_per_worker);
  // The distance between two workers' scratch.
  static int64_t ScratchStride(int64_t bytes_per_worker);

  // True when the bytes are in an arena: the next call will write over them.
  bool IsInArena(const void* data) const;

  // Runs a frame whose inputs are bound, and lets go of what only the call needed.
  absl::StatusOr<std::vector<RunValue>> Run(const Code& code, Frame& frame);
  // Binds and runs a sub-plan.
  absl::StatusOr<std::vector<RunValue>> Call(int32_t subplan, absl::Span<const Tensor> inputs,
                                             absl::Span<const int64_t> scalars);

 private:
  absl::Status RunSteps(const Code& code, Frame& frame);
  RunValue Result(const ReturnStep::Output& output, Frame& frame);

  const Program& program_;
  Frame main_;
  std::vector<std::unique_ptr<Frame>> sub_frames_;
  std::shared_ptr<Storage> scratch_;
};

// Prepares a frame for `code`: room for everything, views connected to their holders.
void PrepareFrame(const Code& code, Frame& frame);

// Lets go of the storages that only the last call needed.
void Release(const Code& code, Frame& frame);

// The steps of `plan`, which is program.plan or one of its sub-plans.
absl::Status MakeCode(const Program& program, const Plan& plan, Code& code);

// One factory a family of steps; each asks `code` for the room it needs.
std::unique_ptr<Step> MakeStep(const EvalStep& step, Code& code);
std::unique_ptr<Step> MakeStep(const BindSizeStep& step);
std::unique_ptr<Step> MakeStep(const BindItemStep& step);
std::unique_ptr<Step> MakeStep(const AssertStep& step);
std::unique_ptr<Step> MakeStep(const ReserveStep& step, Code& code);
std::unique_ptr<Step> MakeStep(const AllocateStep& step);
std::unique_ptr<Step> MakeStep(const ViewStep& step, Code& code);
std::unique_ptr<Step> MakeStep(const CopyStep& step);
std::unique_ptr<Step> MakeStep(const LaunchStep& step, const Program& program, Code& code);
absl::StatusOr<std::unique_ptr<Step>> MakeStep(const ExternStep& step, const Program& program,
                                               Code& code);
std::unique_ptr<Step> MakeStep(const OpaqueStep& step, const Program& program);
std::unique_ptr<Step> MakeStep(const CondStep& step);
std::unique_ptr<Step> MakeStep(const WhileStep& step);
absl::StatusOr<std::unique_ptr<Step>> MakeStep(const CollectiveStartStep& step,
                                               const Program& program);
std::unique_ptr<Step> MakeStep(const CollectiveWaitStep& step);

}  // namespace lathe::executor

#endif  // LATHE_RUNTIME_EXECUTOR_PROGRAM_H_
