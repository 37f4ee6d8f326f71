#ifndef LATHE_RUNTIME_EXECUTOR_EXECUTOR_H_
#define LATHE_RUNTIME_EXECUTOR_EXECUTOR_H_

// Runs Plans.
//
//   LoadOptions options{.weights = weights, .kernels = kernels, .pool = pool.get()};
//   LATHE_ASSIGN_OR_RETURN(std::unique_ptr<LoadedPlan> plan, LoadedPlan::Load(plan, options));
//   LATHE_ASSIGN_OR_RETURN(std::vector<RunValue> out, plan->Run({x, y}));
//
// A call whose sizes are those of the call before takes no lock and allocates its outputs alone.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dtypes/scalar.h"
#include "runtime/abi/kernel_interface.h"
#include "runtime/abi/plan.h"
#include "runtime/executor/collective_group.h"
#include "runtime/tensor/tensor.h"
#include "runtime/threads/thread_pool.h"

namespace lathe {

// An input or output: a tensor (undefined for an output that is none), or a number.
using RunValue = std::variant<Tensor, Scalar>;

// What an OpaqueStep calls. Inputs may be undefined; outputs are appended. The inputs' memory is
// the plan's: a callback that keeps a tensor beyond the call copies it.
using OpaqueFunction =
    std::function<absl::Status(absl::Span<const Tensor> inputs, absl::Span<const int64_t> integers,
                               std::vector<Tensor>* outputs)>;

struct LoadOptions {
  std::map<std::string, Tensor> weights = {};               // by PlanInput::name
  std::vector<std::shared_ptr<const Kernel>> kernels = {};  // by Plan::kernels
  std::map<std::string, OpaqueFunction> callbacks = {};     // by Plan::callbacks
  std::map<std::string, std::shared_ptr<CollectiveGroup>> groups = {};
  ThreadPool* pool = nullptr;  // outlives the plan; nullptr: everything on the caller's thread
};

// What one call needs: registers, slots, arena, scratch. Reusable, for one call at a time.
class RunContext {
 public:
  ~RunContext();
  RunContext(const RunContext&) = delete;
  RunContext& operator=(const RunContext&) = delete;

 private:
  friend class LoadedPlan;
  struct Impl;
  explicit RunContext(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A Plan with everything it refers to. Immutable but for its kernels; any number of threads may run
// it at once (a program that mutates its weights is the caller's to serialise).
class LoadedPlan {
 public:
  // Validates the plan and that weights, kernels, callbacks, externs and groups are all there:
  // NotFound names what is missing, InvalidArgument what does not fit.
  static absl::StatusOr<std::unique_ptr<LoadedPlan>> Load(Plan plan, LoadOptions options);
  ~LoadedPlan();

  // The inputs that are no weights, in order. Outputs as the ReturnStep lists them. Inputs that the
  // program mutates are changed in place. An error carries node and source line (AtNode).
  absl::StatusOr<std::vector<RunValue>> Run(absl::Span<const RunValue> inputs) const;
  absl::StatusOr<std::vector<RunValue>> Run(std::initializer_list<RunValue> inputs) const {
    return Run(absl::MakeConstSpan(inputs.begin(), inputs.size()));
  }
  // In a context of the caller's, for calls that must not share the pooled ones.
  absl::StatusOr<std::vector<RunValue>> Run(absl::Span<const RunValue> inputs,
                                            RunContext& context) const;
  std::unique_ptr<RunContext> NewContext() const;

  // From the next launch on `kernel` runs in place of Plan::kernels[index]. Any thread, any time.
  void SwapKernel(int index, std::shared_ptr<const Kernel> kernel);
  // The tier of each kernel now ("tile", "native").
  std::vector<std::string> KernelTiers() const;

  const Plan& plan() const;

 private:
  struct Impl;
  explicit LoadedPlan(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_EXECUTOR_EXECUTOR_H_
