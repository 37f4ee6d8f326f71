#include "runtime/executor/program.h"

#include <bit>

#include "dtypes/base/status.h"
#include "runtime/executor/bind_inputs.h"
#include "runtime/memory/pool.h"

namespace lathe::executor {
namespace {

// Which storage each tensor slot looks at: known from the plan alone.
void FindHolders(const Plan& plan, Code& code) {
  const auto tensors = static_cast<size_t>(plan.tensor_count);
  code.storage_of.assign(tensors, -1);
  code.owner_of.assign(tensors, -1);
  for (size_t t = 0; t < tensors; ++t) code.owner_of[t] = static_cast<TensorSlot>(t);
  for (const PlanStep& step : plan.steps) {
    const auto* view = std::get_if<ViewStep>(&step);
    if (view == nullptr) continue;
    const auto t = static_cast<size_t>(view->tensor);
    if (view->storage >= 0) {
      code.storage_of[t] = view->storage;
      code.owner_of[t] = -1;
    } else {
      code.storage_of[t] = code.storage_of[static_cast<size_t>(view->base)];
      code.owner_of[t] = code.owner_of[static_cast<size_t>(view->base)];
    }
  }
}

void FindReleased(const Plan& plan, Code& code) {
  for (const PlanInput& input : plan.inputs) {
    if (!input.is_weight && !input.is_scalar) code.released.push_back(input.tensor);
    code.has_mutated_inputs |= input.is_mutated && !input.is_scalar;
  }
  const auto release = [&](const std::vector<TensorSlot>& slots) {
    code.released.insert(code.released.end(), slots.begin(), slots.end());
  };
  for (const PlanStep& step : plan.steps) {
    if (const auto* allocate = std::get_if<AllocateStep>(&step)) {
      code.allocated.push_back(allocate->storage);
    } else if (const auto* call = std::get_if<ExternStep>(&step)) {
      if (call->allocates) release(call->outputs);
    } else if (const auto* opaque = std::get_if<OpaqueStep>(&step)) {
      release(opaque->outputs);
    } else if (const auto* cond = std::get_if<CondStep>(&step)) {
      release(cond->outputs);
    } else if (const auto* loop = std::get_if<WhileStep>(&step)) {
      release(loop->outputs);
    }
  }
}

struct StepMaker {
  const Program& program;
  Code& code;
  using Made = absl::StatusOr<std::unique_ptr<Step>>;

  Made operator()(const EvalStep& s) { return MakeStep(s, code); }
  Made operator()(const ReserveStep& s) { return MakeStep(s, code); }
  Made operator()(const AllocateStep& s) { return MakeStep(s); }
  Made operator()(const ViewStep& s) { return MakeStep(s, code); }
  Made operator()(const LaunchStep& s) { return MakeStep(s, program, code); }
  Made operator()(const ExternStep& s) { return MakeStep(s, program, code); }
  Made operator()(const BindSizeStep& s) { return MakeStep(s); }
  Made operator()(const BindItemStep& s) { return MakeStep(s); }
  Made operator()(const AssertStep& s) { return MakeStep(s); }
  Made operator()(const CopyStep& s) { return MakeStep(s); }
  Made operator()(const CondStep& s) { return MakeStep(s); }
  Made operator()(const WhileStep& s) { return MakeStep(s); }
  Made operator()(const CollectiveStartStep& s) { return MakeStep(s, program); }
  Made operator()(const CollectiveWaitStep& s) { return MakeStep(s); }
  Made operator()(const OpaqueStep& s) { return MakeStep(s, program); }
  Made operator()(const ReturnStep&) { return Internal("a return in the middle"); }
};

bool IsReserve(const PlanStep& step) { return std::holds_alternative<ReserveStep>(step); }
bool IsAssert(const PlanStep& step) { return std::holds_alternative<AssertStep>(step); }

}  // namespace

absl::Status MakeCode(const Program& program, const Plan& plan, Code& code) {
  code.plan = &plan;
  FindHolders(plan, code);
  FindReleased(plan, code);
  // Assertions go before the reservation ahead of them: sizes that the program refuses should not
  // first ask for memory.
  std::vector<const PlanStep*> order;
  for (size_t k = 0; k + 1 < plan.steps.size(); ++k) {
    order.push_back(&plan.steps[k]);
    for (size_t i = order.size() - 1; i > 0 && IsAssert(*order[i]) && IsReserve(*order[i - 1]);
         --i) {
      std::swap(order[i], order[i - 1]);
    }
  }
  for (const PlanStep* step : order) {
    LATHE_ASSIGN_OR_RETURN(std::unique_ptr<Step> made, std::visit(StepMaker{program, code}, *step));
    code.steps.push_back(std::move(made));
  }
  code.result = &std::get<ReturnStep>(plan.steps.back());
  return absl::OkStatus();
}

void PrepareFrame(const Code& code, Frame& frame) {
  const auto tensors = static_cast<size_t>(code.plan->tensor_count);
  frame.registers.assign(static_cast<size_t>(code.plan->register_count), 0);
  frame.storages.resize(static_cast<size_t>(code.plan->storage_count));
  frame.slots.resize(tensors);
  frame.owned.resize(tensors);
  frame.origins.assign(tensors, 0);
  frame.eval_generations.assign(code.evals, 0);
  frame.arenas.resize(code.arenas);
  frame.launches.resize(code.launches);
  for (size_t t = 0; t < tensors; ++t) {
    frame.slots[t].holder = code.storage_of[t] >= 0
                                ? &frame.storages[static_cast<size_t>(code.storage_of[t])]
                                : &frame.owned[static_cast<size_t>(code.owner_of[t])];
  }
}

void Release(const Code& code, Frame& frame) {
  for (const StorageSlot s : code.allocated) frame.storages[static_cast<size_t>(s)] = nullptr;
  for (const TensorSlot t : code.released) frame.owned[static_cast<size_t>(t)] = nullptr;
}

Context::Context(const Program& program) : program_(program), sub_frames_(program.subplans.size()) {
  PrepareFrame(program.main, main_);
  for (size_t k = 0; k < program.weights.size(); ++k) {
    const Tensor& weight = program.weights[k];
    const PlanInput& input = program.plan.inputs[k];
    if (weight.is_defined()) BindTensor(input, weight, main_);
  }
}

Frame& Context::SubFrame(size_t subplan) {
  std::unique_ptr<Frame>& frame = sub_frames_[subplan];
  if (frame == nullptr) {
    frame = std::make_unique<Frame>();
    PrepareFrame(program_.subplans[subplan], *frame);
  }
  return *frame;
}

int64_t Context::ScratchStride(int64_t bytes_per_worker) {
  return (bytes_per_worker + 127) / 128 * 128;  // two cache lines: neighbours do not share
}

char* Context::Scratch(int64_t bytes_per_worker) {
  constexpr int64_t kMost = int64_t{1} << 40;
  if (bytes_per_worker > kMost) return nullptr;
  const int64_t bytes = ScratchStride(bytes_per_worker) * program_.workers();
  if (scratch_ == nullptr || scratch_->size_bytes() < bytes) {
    scratch_ = nullptr;
    scratch_ = PoolAllocate(bytes);
  }
  return scratch_ == nullptr ? nullptr : static_cast<char*>(scratch_->data());
}

bool Context::IsInArena(const void* data) const {
  const auto inside = [data](const Frame& frame) {
    for (const Arena& arena : frame.arenas) {
      if (arena.memory == nullptr) continue;
      const char* begin = static_cast<const char*>(arena.memory->data());
      const char* at = static_cast<const char*>(data);
      if (at >= begin && at < begin + arena.memory->size_bytes()) return true;
    }
    return false;
  };
  if (inside(main_)) return true;
  for (const auto& frame : sub_frames_) {
    if (frame != nullptr && inside(*frame)) return true;
  }
  return false;
}

absl::Status Context::RunSteps(const Code& code, Frame& frame) {
  for (const std::unique_ptr<Step>& step : code.steps) {
    LATHE_RETURN_IF_ERROR(step->Run(frame, *this));
  }
  return absl::OkStatus();
}

RunValue Context::Result(const ReturnStep::Output& output, Frame& frame) {
  using Kind = ReturnStep::Output::Kind;
  switch (output.kind) {
    case Kind::kTensor: {
      Tensor tensor = frame.SlotAt(output.tensor).AsTensor();
      // The next call writes over the arena, so what a callback left there is copied.
      return IsInArena(tensor.storage()->data()) ? tensor.Clone() : tensor;
    }
    case Kind::kInt:
      return Scalar(frame.Get(output.scalar));
    case Kind::kFloat:
      return Scalar(std::bit_cast<double>(frame.Get(output.scalar)));
    case Kind::kBool:
      return Scalar(frame.Get(output.scalar) != 0);
    case Kind::kNone:
      return Tensor();
  }
  return Tensor();
}

absl::StatusOr<std::vector<RunValue>> Context::Run(const Code& code, Frame& frame) {
  absl::Status status = RunSteps(code, frame);
  // A collective on its way still writes into the plan's memory.
  for (Pending& pending : frame.pending) {
    if (pending.collective != nullptr) status.Update(pending.collective->Wait());
  }
  frame.pending.clear();
  std::vector<RunValue> results;
  if (status.ok()) {
    results.reserve(code.result->outputs.size());
    for (const ReturnStep::Output& output : code.result->outputs) {
      results.push_back(Result(output, frame));
    }
  }
  Release(code, frame);
  if (!status.ok()) return status;
  return results;
}

absl::StatusOr<std::vector<RunValue>> Context::Call(int32_t subplan,
                                                    absl::Span<const Tensor> inputs,
                                                    absl::Span<const int64_t> scalars) {
  const Code& code = program_.subplans[static_cast<size_t>(subplan)];
  Frame& frame = SubFrame(static_cast<size_t>(subplan));
  for (size_t k = 0; k < scalars.size(); ++k) {
    frame.SetRegister(static_cast<Register>(k), scalars[k]);
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    const PlanInput& input = code.plan->inputs[k];
    LATHE_RETURN_IF_ERROR(CheckTensor(input, inputs[k]));
    BindTensor(input, NeedsCopy(input, inputs[k]) ? CopyToBind(input, inputs[k]) : inputs[k],
               frame);
  }
  return Run(code, frame);
}

}  // namespace lathe::executor
