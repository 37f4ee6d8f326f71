#include "runtime/executor/executor.h"

#include <array>
#include <atomic>
#include <utility>

#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "runtime/executor/bind_inputs.h"
#include "runtime/executor/program.h"

namespace lathe {

using executor::Context;
using executor::Program;

struct RunContext::Impl {
  explicit Impl(const Program& program) : context(program) {}
  Context context;
};

RunContext::RunContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RunContext::~RunContext() = default;

namespace {

// Contexts that no call is using, taken and put back without a lock.
class IdleContexts {
 public:
  ~IdleContexts() {
    for (auto& place : places_) delete place.load();
  }
  std::unique_ptr<RunContext> Take() {
    for (auto& place : places_) {
      // A look first: an exchange would make every passer-by own the cache line.
      if (place.load(std::memory_order_relaxed) == nullptr) continue;
      if (RunContext* context = place.exchange(nullptr, std::memory_order_acquire)) {
        return std::unique_ptr<RunContext>(context);
      }
    }
    return nullptr;
  }
  // More than fit are destroyed.
  void Give(std::unique_ptr<RunContext> context) {
    for (auto& place : places_) {
      RunContext* empty = nullptr;
      if (place.load(std::memory_order_relaxed) == nullptr &&
          place.compare_exchange_strong(empty, context.get(), std::memory_order_release,
                                        std::memory_order_relaxed)) {
        context.release();
        return;
      }
    }
  }

 private:
  std::array<std::atomic<RunContext*>, 64> places_{};
};

absl::Status LoadKernels(const LoadOptions& options, Program& program) {
  if (options.kernels.size() != program.plan.kernels.size()) {
    return InvalidArgument("the plan has ", program.plan.kernels.size(), " kernels, given ",
                           options.kernels.size());
  }
  program.kernels = std::vector<executor::KernelSlot>(options.kernels.size());
  for (size_t k = 0; k < options.kernels.size(); ++k) {
    if (options.kernels[k] == nullptr) {
      return NotFound("kernel ", program.plan.kernels[k].name, " is missing");
    }
    program.kernels[k].Set(options.kernels[k]);
  }
  return absl::OkStatus();
}

absl::Status LoadCallbacks(LoadOptions& options, Program& program) {
  for (const std::string& name : program.plan.callbacks) {
    const auto found = options.callbacks.find(name);
    if (found == options.callbacks.end() || !found->second) {
      return NotFound("callback '", name, "' is missing");
    }
    program.callbacks.push_back(found->second);
  }
  return absl::OkStatus();
}

absl::Status LoadWeights(const LoadOptions& options, Program& program) {
  program.weights.resize(program.plan.inputs.size());
  for (size_t k = 0; k < program.plan.inputs.size(); ++k) {
    const PlanInput& input = program.plan.inputs[k];
    if (!input.is_weight) continue;
    const auto found = options.weights.find(input.name);
    if (found == options.weights.end()) return NotFound("weight '", input.name, "' is missing");
    LATHE_RETURN_IF_ERROR(executor::CheckTensor(input, found->second));
    program.weights[k] = found->second;
    if (!executor::NeedsCopy(input, found->second)) continue;
    if (input.is_mutated) {
      return InvalidArgument("weight '", input.name, "' is changed by the program and must be ",
                             "contiguous, given ", TypeString(found->second));
    }
    program.weights[k] = executor::CopyToBind(input, found->second);
  }
  std::vector<const Tensor*> tensors;
  for (const Tensor& weight : program.weights) {
    tensors.push_back(weight.is_defined() ? &weight : nullptr);
  }
  return executor::CheckOverlap(program.plan.inputs, tensors, true);
}

}  // namespace

struct LoadedPlan::Impl {
  Program program;
  IdleContexts idle;
  size_t user_inputs = 0;

  absl::Status Bind(absl::Span<const RunValue> values, executor::Frame& frame,
                    std::vector<std::pair<Tensor, Tensor>>* copied_back) const;
  absl::Status CheckMutated(absl::Span<const RunValue> values) const;
};

// The inputs as `values` has them, weights included, for the check of overlap.
absl::Status LoadedPlan::Impl::CheckMutated(absl::Span<const RunValue> values) const {
  std::vector<const Tensor*> tensors;
  size_t next = 0;
  for (size_t k = 0; k < program.weights.size(); ++k) {
    const bool is_weight = program.plan.inputs[k].is_weight;
    tensors.push_back(is_weight ? &program.weights[k] : std::get_if<Tensor>(&values[next++]));
  }
  return executor::CheckOverlap(program.plan.inputs, tensors, false);
}

absl::Status LoadedPlan::Impl::Bind(absl::Span<const RunValue> values, executor::Frame& frame,
                                    std::vector<std::pair<Tensor, Tensor>>* copied_back) const {
  if (values.size() != user_inputs) {
    return InvalidArgument("the program takes ", user_inputs, " inputs, given ", values.size());
  }
  size_t next = 0;
  for (const PlanInput& input : program.plan.inputs) {
    if (input.is_weight) continue;
    const RunValue& value = values[next++];
    if (input.is_scalar) {
      const Scalar* scalar = std::get_if<Scalar>(&value);
      if (scalar == nullptr) {
        return InvalidArgument("input '", input.name, "': must be a number, given a tensor");
      }
      LATHE_RETURN_IF_ERROR(executor::BindScalar(input, *scalar, frame));
      continue;
    }
    const Tensor* tensor = std::get_if<Tensor>(&value);
    if (tensor == nullptr) {
      return InvalidArgument("input '", input.name, "': must be a tensor, given ",
                             std::get<Scalar>(value).ToString());
    }
    LATHE_RETURN_IF_ERROR(executor::CheckTensor(input, *tensor));
    if (__builtin_expect(!executor::NeedsCopy(input, *tensor), 1)) {
      executor::BindTensor(input, *tensor, frame);
    } else {
      const Tensor copy = executor::CopyToBind(input, *tensor);
      executor::BindTensor(input, copy, frame);
      if (input.is_mutated) copied_back->emplace_back(*tensor, copy);
    }
  }
  // After the checks above, so that every tensor is one that the program takes.
  return program.main.has_mutated_inputs ? CheckMutated(values) : absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<LoadedPlan>> LoadedPlan::Load(Plan plan, LoadOptions options) {
  LATHE_RETURN_IF_ERROR(ValidatePlan(plan));
  auto impl = std::make_unique<Impl>();
  Program& program = impl->program;
  program.plan = std::move(plan);
  program.pool = options.pool;
  program.groups = options.groups;
  LATHE_RETURN_IF_ERROR(LoadKernels(options, program));
  LATHE_RETURN_IF_ERROR(LoadCallbacks(options, program));
  LATHE_RETURN_IF_ERROR(LoadWeights(options, program));
  program.subplans.resize(program.plan.subplans.size());
  for (size_t k = 0; k < program.subplans.size(); ++k) {
    LATHE_RETURN_IF_ERROR(
        executor::MakeCode(program, program.plan.subplans[k], program.subplans[k]));
  }
  LATHE_RETURN_IF_ERROR(executor::MakeCode(program, program.plan, program.main));
  for (const PlanInput& input : program.plan.inputs) impl->user_inputs += !input.is_weight;
  return std::unique_ptr<LoadedPlan>(new LoadedPlan(std::move(impl)));
}

LoadedPlan::LoadedPlan(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LoadedPlan::~LoadedPlan() = default;

absl::StatusOr<std::vector<RunValue>> LoadedPlan::Run(absl::Span<const RunValue> inputs) const {
  std::unique_ptr<RunContext> context = impl_->idle.Take();
  if (context == nullptr) context = NewContext();
  absl::StatusOr<std::vector<RunValue>> outputs = Run(inputs, *context);
  impl_->idle.Give(std::move(context));
  return outputs;
}

absl::StatusOr<std::vector<RunValue>> LoadedPlan::Run(absl::Span<const RunValue> inputs,
                                                      RunContext& run_context) const {
  Context& context = run_context.impl_->context;
  LATHE_CHECK(&context.program() == &impl_->program) << "a context of another plan";
  std::vector<std::pair<Tensor, Tensor>> copied_back;
  if (absl::Status bound = impl_->Bind(inputs, context.main(), &copied_back); !bound.ok()) {
    executor::Release(impl_->program.main, context.main());
    return bound;
  }
  absl::StatusOr<std::vector<RunValue>> outputs = context.Run(impl_->program.main, context.main());
  if (!outputs.ok()) return outputs;
  for (const auto& [original, copy] : copied_back) original.CopyFrom(copy);
  return outputs;
}

std::unique_ptr<RunContext> LoadedPlan::NewContext() const {
  return std::unique_ptr<RunContext>(
      new RunContext(std::make_unique<RunContext::Impl>(impl_->program)));
}

void LoadedPlan::SwapKernel(int index, std::shared_ptr<const Kernel> kernel) {
  LATHE_CHECK(index >= 0 && static_cast<size_t>(index) < impl_->program.kernels.size()) << index;
  LATHE_CHECK(kernel != nullptr);
  impl_->program.kernels[static_cast<size_t>(index)].Set(std::move(kernel));
}

std::vector<std::string> LoadedPlan::KernelTiers() const {
  std::vector<std::string> tiers;
  for (const executor::KernelSlot& slot : impl_->program.kernels) {
    tiers.emplace_back(slot.Get()->tier());
  }
  return tiers;
}

const Plan& LoadedPlan::plan() const { return impl_->program.plan; }

}  // namespace lathe
