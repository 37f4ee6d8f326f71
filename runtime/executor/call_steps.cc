// Steps that call what is no kernel: externs and callbacks.

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include "dtypes/base/status.h"
#include "runtime/executor/launch.h"
#include "runtime/tensor/available_memory.h"

namespace lathe::executor {
namespace {

std::vector<Tensor> Tensors(Frame& frame, const std::vector<TensorSlot>& slots) {
  std::vector<Tensor> tensors;
  tensors.reserve(slots.size());
  for (const TensorSlot t : slots) tensors.push_back(t < 0 ? Tensor() : frame.SlotAt(t).AsTensor());
  return tensors;
}
std::vector<int64_t> Integers(const Frame& frame, const std::vector<Register>& registers) {
  std::vector<int64_t> integers;
  integers.reserve(registers.size());
  for (const Register r : registers) integers.push_back(frame.Get(r));
  return integers;
}

// Puts tensors that were made for the plan into its slots.
absl::Status TakeOutputs(const std::vector<Tensor>& made, const std::vector<TensorSlot>& slots,
                         Frame& frame) {
  if (made.size() != slots.size()) {
    return Internal("gave ", made.size(), " tensors, not ", slots.size());
  }
  for (size_t k = 0; k < made.size(); ++k) {
    if (!made[k].is_defined()) return Internal("left result ", k, " undefined");
    if (made[k].device() != Device::Cpu()) return Internal("result ", k, " is not on the CPU");
    frame.SetTensor(slots[k], made[k], made[k].offset());
  }
  return absl::OkStatus();
}

class CallExtern final : public Step {
 public:
  CallExtern(const ExternStep& step, const Extern* function, const Program& program, Code& code)
      : step_(step), function_(function), attributes_(ParseExternAttributes(step.attributes)) {
    constant_ = std::make_unique<bool[]>(step.inputs.size());
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      constant_[k] = IsConstant(step.inputs[k], code);
      any_constant_ |= constant_[k];
    }
    for (const LaunchStep& epilogue : step.epilogues)
      epilogues_.emplace_back(epilogue, program, code);
    for (const LaunchStep& operand : step.operands) operands_.emplace_back(operand, program, code);
  }

  absl::Status Run(Frame& frame, Context& context) const override {
    const std::vector<Tensor> inputs = Tensors(frame, step_.inputs);
    std::vector<Tensor> outputs =
        step_.allocates ? std::vector<Tensor>(step_.outputs.size()) : Tensors(frame, step_.outputs);
    const std::vector<int64_t> integers = Integers(frame, step_.integers);
    ExternCall call;
    call.inputs = inputs;
    call.outputs = absl::MakeSpan(outputs);
    call.integers = integers;
    call.attributes = &attributes_;
    call.pool = context.program().pool;
    if (any_constant_) {
      std::call_once(asked_, [&] {
        prepared_ =
            function_->Prepare(call, absl::MakeConstSpan(constant_.get(), step_.inputs.size()));
      });
      call.prepared = prepared_.get();
    }
    const bool by_rows = !epilogues_.empty() && function_->has_row_epilogue();
    RowKernels kernels;
    LATHE_RETURN_IF_ERROR(Prepare(frame, context, by_rows, kernels));
    ComputedOperand computed;
    if (!operands_.empty()) {
      computed.dtype = step_.operand_dtype;
      computed.compute = [&kernels](int64_t begin, int64_t end, char* origin, int worker) {
        return Launch::RunRangeAt(kernels.operands[0], kernels.ScratchOf(worker), begin, end,
                                  origin);
      };
      call.computed = &computed;
    }
    if (by_rows) {
      call.epilogue = [&kernels](int64_t begin, int64_t end, int worker) {
        return kernels.RunEpilogues(begin, end, worker);
      };
    }
    if (absl::Status status = function_->Run(call); !status.ok()) {
      return AtNode(std::move(status), step_.node, step_.source);
    }
    for (size_t k = 0; !by_rows && k < epilogues_.size(); ++k) {
      LATHE_RETURN_IF_ERROR(epilogues_[k].Run(frame, context));
    }
    if (!step_.allocates) return absl::OkStatus();
    return AtNode(TakeOutputs(outputs, step_.outputs, frame), step_.node, step_.source);
  }

 private:
  // Kernels on ranges of rows. One runs at a time on a worker, so they share its scratch.
  struct RowKernels {
    std::vector<Launch::Ready> operands, epilogues;
    char* scratch = nullptr;
    int64_t stride = 0;
    char* ScratchOf(int worker) const {
      return scratch == nullptr ? nullptr : scratch + worker * stride;
    }
    absl::Status RunEpilogues(int64_t begin, int64_t end, int worker) const {
      for (const Launch::Ready& ready : epilogues) {
        LATHE_RETURN_IF_ERROR(Launch::RunRange(ready, ScratchOf(worker), begin, end));
      }
      return absl::OkStatus();
    }
  };

  absl::Status Prepare(Frame& frame, Context& context, bool by_rows, RowKernels& kernels) const {
    int64_t scratch_bytes = 0;
    const auto gather = [&](const std::vector<Launch>& launches,
                            std::vector<Launch::Ready>& ready) {
      for (const Launch& launch : launches) {
        ready.push_back(launch.Gather(frame));
        scratch_bytes = std::max(scratch_bytes, ready.back().scratch_bytes);
      }
    };
    gather(operands_, kernels.operands);
    if (by_rows) gather(epilogues_, kernels.epilogues);
    if (scratch_bytes == 0) return absl::OkStatus();
    kernels.scratch = context.Scratch(scratch_bytes);
    kernels.stride = Context::ScratchStride(scratch_bytes);
    if (kernels.scratch != nullptr) return absl::OkStatus();
    return AtNode(OutOfMemory("a kernel's scratch for each worker", scratch_bytes), step_.node,
                  step_.source);
  }

  // True for weights that the program does not change, and views of them.
  static bool IsConstant(TensorSlot slot, const Code& code) {
    if (slot < 0) return false;
    const TensorSlot owner = code.owner_of[static_cast<size_t>(slot)];
    for (const PlanInput& input : code.plan->inputs) {
      if (!input.is_scalar && input.tensor == owner) return input.is_weight && !input.is_mutated;
    }
    return false;
  }

  const ExternStep& step_;
  const Extern* const function_;
  const ExternAttributes attributes_;
  std::vector<Launch> epilogues_, operands_;
  std::unique_ptr<bool[]> constant_;  // by input
  bool any_constant_ = false;
  mutable std::once_flag asked_;
  mutable std::unique_ptr<PreparedInputs> prepared_;
};

class CallOpaque final : public Step {
 public:
  CallOpaque(const OpaqueStep& step, const OpaqueFunction& function)
      : step_(step), function_(function) {}

  absl::Status Run(Frame& frame, Context&) const override {
    const std::vector<Tensor> inputs = Tensors(frame, step_.inputs);
    const std::vector<int64_t> integers = Integers(frame, step_.integers);
    std::vector<Tensor> outputs;
    absl::Status status = function_(inputs, integers, &outputs);
    if (status.ok()) status = TakeOutputs(outputs, step_.outputs, frame);
    return status.ok() ? status : AtNode(std::move(status), step_.node, step_.source);
  }

 private:
  const OpaqueStep& step_;
  const OpaqueFunction& function_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeStep(const ExternStep& step, const Program& program,
                                               Code& code) {
  const Extern* function = FindExtern(step.id);
  if (function == nullptr) return NotFound("there is no extern '", step.id, "'");
  return std::make_unique<CallExtern>(step, function, program, code);
}

std::unique_ptr<Step> MakeStep(const OpaqueStep& step, const Program& program) {
  return std::make_unique<CallOpaque>(step, program.callbacks[static_cast<size_t>(step.callback)]);
}

}  // namespace lathe::executor
