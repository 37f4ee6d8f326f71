// What the executor relies on: every slot in range and set before it is read, sub-plans called with
// as many values as they take and give.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "dtypes/base/status.h"
#include "runtime/abi/plan.h"

namespace lathe {
namespace {

// Far above any real program, far below what a false count could ask of memory.
constexpr int32_t kMaxSlots = 1 << 24;
constexpr size_t kMaxRank = 64;
constexpr int64_t kMostOffset = int64_t{1} << 48;  // elements

constexpr int kMaxNesting = 64;

class Checker {
 public:
  // `callable` of the root's sub-plans may be called, `depths` says how deep these call others.
  Checker(const Plan& plan, const Plan& root, size_t callable, const std::vector<int>& depths)
      : plan_(plan), root_(root), callable_(callable), depths_(depths) {}

  // How many calls deep the plan goes.
  int depth() const { return depth_; }

  absl::Status Run() {
    LATHE_RETURN_IF_ERROR(Counts());
    has_storage_.assign(static_cast<size_t>(plan_.storage_count), false);
    has_tensor_.assign(static_cast<size_t>(plan_.tensor_count), false);
    for (const PlanInput& input : plan_.inputs) {
      Input(input);
      if (!error_.empty()) return InvalidArgument("plan: input '", input.name, "': ", error_);
    }
    for (size_t k = 0; k < plan_.steps.size(); ++k) {
      std::visit([&](const auto& step) { Check(step); }, plan_.steps[k]);
      if (!error_.empty()) return InvalidArgument("plan: step ", k, ": ", error_);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Counts() const {
    for (const int32_t n : {plan_.register_count, plan_.storage_count, plan_.tensor_count}) {
      if (n < 0 || n > kMaxSlots) return InvalidArgument("plan: ", n, " slots");
    }
    if (plan_.steps.empty() || !std::holds_alternative<ReturnStep>(plan_.steps.back())) {
      return InvalidArgument("plan: the last step is not a return");
    }
    if (&plan_ != &root_ &&
        !(plan_.kernels.empty() && plan_.callbacks.empty() && plan_.subplans.empty())) {
      return InvalidArgument("plan: a sub-plan has kernels or sub-plans of its own");
    }
    for (const PlanKernel& kernel : plan_.kernels) {
      if (kernel.grain < 1) {
        return InvalidArgument("plan: kernel ", kernel.name, " has grain ", kernel.grain);
      }
    }
    return absl::OkStatus();
  }

  // The first complaint stays.
  template <typename... Parts>
  void Complain(const Parts&... parts) {
    if (error_.empty()) error_ = absl::StrCat(parts...);
  }
  bool In(int64_t index, size_t count, const char* what) {
    if (index >= 0 && static_cast<uint64_t>(index) < count) return true;
    Complain(what, " ", index, " is not one of ", count);
    return false;
  }
  void Reg(Register r) { In(r, static_cast<size_t>(plan_.register_count), "register"); }
  void OptionalReg(Register r) {
    if (r != -1) Reg(r);
  }
  void Regs(const std::vector<Register>& registers) {
    for (const Register r : registers) Reg(r);
  }
  void Reads(TensorSlot t) {
    if (In(t, has_tensor_.size(), "tensor slot") && !has_tensor_[static_cast<size_t>(t)]) {
      Complain("tensor slot ", t, " is read before it is set");
    }
  }
  void Sets(TensorSlot t) {
    if (In(t, has_tensor_.size(), "tensor slot")) has_tensor_[static_cast<size_t>(t)] = true;
  }
  void ReadsAll(const std::vector<TensorSlot>& tensors) {
    for (const TensorSlot t : tensors) Reads(t);
  }
  void ReadsAllOrAbsent(const std::vector<TensorSlot>& tensors) {
    for (const TensorSlot t : tensors) {
      if (t != -1) Reads(t);
    }
  }
  void SetsAll(const std::vector<TensorSlot>& tensors) {
    for (const TensorSlot t : tensors) Sets(t);
  }
  void SetsStorage(StorageSlot s) {
    if (In(s, has_storage_.size(), "storage slot")) has_storage_[static_cast<size_t>(s)] = true;
  }

  void Input(const PlanInput& input) {
    if (input.is_scalar) {
      if (input.is_weight) Complain("a weight is a tensor");
      return Reg(input.scalar);
    }
    const auto rank = static_cast<size_t>(input.rank);
    if (input.rank < 0 || rank > kMaxRank) return Complain("rank ", input.rank);
    for (const auto* bound : {&input.size_registers, &input.stride_registers}) {
      if (!bound->empty() && bound->size() != rank) Complain("registers do not match the rank");
      for (const Register r : *bound) OptionalReg(r);
    }
    if (!input.expected_sizes.empty() && input.expected_sizes.size() != rank) {
      Complain("expected sizes do not match the rank");
    }
    for (const int64_t size : input.expected_sizes) {
      if (size < -1) Complain("expected size ", size);
    }
    CheckOrder(input.memory_order, rank);
    OptionalReg(input.offset_register);
    Sets(input.tensor);
  }

  void CheckOrder(std::vector<int32_t> order, size_t rank) {
    if (order.empty()) return;
    std::sort(order.begin(), order.end());
    bool all = order.size() == rank;
    for (size_t d = 0; all && d < rank; ++d) all = order[d] == static_cast<int32_t>(d);
    if (!all) Complain("the memory order does not name each dimension once");
  }

  void Check(const EvalStep& s) {
    for (const SizeInstruction& i : s.program.code) {
      for (const Register r : {i.dst, i.a, i.b, i.c}) Reg(r);
    }
  }
  void Check(const ReserveStep& s) {
    for (const ReserveStep::Piece& piece : s.pieces) {
      if (piece.first_step > piece.last_step) Complain("a piece that is never live");
      Reg(piece.size_bytes);
      SetsStorage(piece.storage);
    }
  }
  void Check(const AllocateStep& s) {
    Reg(s.size_bytes);
    SetsStorage(s.storage);
  }
  void Check(const ViewStep& s) {
    if (s.storage != -1) {
      if (In(s.storage, has_storage_.size(), "storage slot") &&
          !has_storage_[static_cast<size_t>(s.storage)]) {
        Complain("storage slot ", s.storage, " is read before it is set");
      }
    } else {
      Reads(s.base);
    }
    if (s.sizes.size() != s.strides.size() || s.sizes.size() > kMaxRank) {
      Complain("a view of ", s.sizes.size(), " sizes and ", s.strides.size(), " strides");
    }
    Regs(s.sizes);
    Regs(s.strides);
    OptionalReg(s.offset);
    Sets(s.tensor);
  }
  void Check(const LaunchStep& s) {
    In(s.kernel, root_.kernels.size(), "kernel");
    ReadsAll(s.buffers);
    if (!s.offsets.empty() && s.offsets.size() != s.buffers.size()) {
      Complain("a launch of ", s.buffers.size(), " buffers and ", s.offsets.size(), " offsets");
    }
    for (int64_t offset : s.offsets) {
      if (offset < 0 || offset > kMostOffset) Complain("offset ", offset, " of a launch");
    }
    Regs(s.scalars);
    Reg(s.extent);
  }
  void Check(const ExternStep& s) {
    ReadsAllOrAbsent(s.inputs);
    Regs(s.integers);
    s.allocates ? SetsAll(s.outputs) : ReadsAll(s.outputs);
    if (s.allocates && !s.epilogues.empty()) Complain("an allocating extern has epilogues");
    for (const LaunchStep& epilogue : s.epilogues) Check(epilogue);
    if (s.operands.size() > 1) Complain("an extern with several computed operands");
    for (const LaunchStep& operand : s.operands) {
      In(operand.kernel, root_.kernels.size(), "kernel");
      ReadsAllOrAbsent(operand.buffers);
      const auto absent = std::count(operand.buffers.begin(), operand.buffers.end(), -1);
      if (absent != 1) Complain("a computed operand with ", absent, " places to write to");
      Regs(operand.scalars);
      Reg(operand.extent);
    }
  }
  void Check(const BindSizeStep& s) {
    Reads(s.tensor);
    if (s.dimension < 0 || static_cast<size_t>(s.dimension) >= kMaxRank) {
      Complain("dimension ", s.dimension);
    }
    Reg(s.target);
  }
  void Check(const BindItemStep& s) {
    Reads(s.tensor);
    Reg(s.target);
  }
  void Check(const AssertStep& s) {
    Reg(s.condition);
    Regs(s.values);
    if (s.names.size() != s.values.size()) Complain("names and values differ in number");
  }
  void Check(const CopyStep& s) {
    Reads(s.destination);
    Reads(s.source);
  }
  void Check(const CondStep& s) {
    Reg(s.predicate);
    if (s.branches.size() != 2) Complain(s.branches.size(), " branches");
    for (const int32_t branch : s.branches) {
      SubPlan(branch, s.inputs.size(), s.scalar_inputs.size(), s.outputs.size());
    }
    ReadsAll(s.inputs);
    Regs(s.scalar_inputs);
    SetsAll(s.outputs);
  }
  void Check(const WhileStep& s) {
    const size_t inputs = s.carried.size() + s.additional.size();
    SubPlan(s.condition, inputs, s.scalar_inputs.size(), 1);
    SubPlan(s.body, inputs, s.scalar_inputs.size(), s.carried.size());
    if (s.outputs.size() != s.carried.size()) Complain("outputs and carried differ in number");
    ReadsAll(s.carried);
    ReadsAll(s.additional);
    Regs(s.scalar_inputs);
    SetsAll(s.outputs);
  }
  void Check(const CollectiveStartStep& s) {
    ReadsAll(s.inputs);
    ReadsAll(s.outputs);
    if (s.handle < 0 || s.handle >= kMaxSlots) return Complain("handle ", s.handle);
    started_.push_back(s.handle);
  }
  void Check(const CollectiveWaitStep& s) {
    for (int32_t& handle : started_) {
      if (handle != s.handle) continue;
      handle = started_.back();
      return started_.pop_back();
    }
    Complain("waits for collective ", s.handle, ", which was not started");
  }
  void Check(const OpaqueStep& s) {
    In(s.callback, root_.callbacks.size(), "callback");
    ReadsAllOrAbsent(s.inputs);
    Regs(s.integers);
    SetsAll(s.outputs);
  }
  void Check(const ReturnStep& s) {
    if (&s != std::get_if<ReturnStep>(&plan_.steps.back())) Complain("a return before the end");
    using Kind = ReturnStep::Output::Kind;
    for (const ReturnStep::Output& output : s.outputs) {
      if (output.kind == Kind::kTensor) Reads(output.tensor);
      if (output.kind != Kind::kTensor && output.kind != Kind::kNone) Reg(output.scalar);
    }
    if (!started_.empty()) Complain("collective ", started_.front(), " is never waited for");
  }

  void SubPlan(int32_t index, size_t tensors, size_t scalars, size_t outputs) {
    if (!In(index, callable_, "sub-plan")) return;
    const auto k = static_cast<size_t>(index);
    const Plan& callee = root_.subplans[k];
    depth_ = std::max(depth_, depths_[k] + 1);
    if (depth_ > kMaxNesting) Complain("sub-plans nest too deep");
    if (callee.inputs.size() != tensors) {
      Complain("sub-plan ", index, " takes ", callee.inputs.size(), " tensors, given ", tensors);
    }
    for (const PlanInput& input : callee.inputs) {
      if (input.is_scalar || input.is_weight) Complain("a sub-plan's input is not a tensor");
    }
    if (callee.register_count < 0 || static_cast<size_t>(callee.register_count) < scalars) {
      Complain("sub-plan ", index, " has no room for ", scalars, " scalars");
    }
    const auto* result =
        callee.steps.empty() ? nullptr : std::get_if<ReturnStep>(&callee.steps.back());
    if (result != nullptr && result->outputs.size() != outputs) {
      Complain("sub-plan ", index, " gives ", result->outputs.size(), " values, not ", outputs);
    }
  }

  const Plan& plan_;
  const Plan& root_;
  const size_t callable_;
  const std::vector<int>& depths_;
  int depth_ = 0;
  std::string error_;
  std::vector<bool> has_storage_, has_tensor_;
  std::vector<int32_t> started_;
};

}  // namespace

absl::Status ValidatePlan(const Plan& plan) {
  // A sub-plan calls only those before it, so no call comes back to its caller.
  std::vector<int> depths;
  for (const Plan& subplan : plan.subplans) {
    Checker checker(subplan, plan, depths.size(), depths);
    LATHE_RETURN_IF_ERROR(checker.Run());
    depths.push_back(checker.depth());
  }
  return Checker(plan, plan, depths.size(), depths).Run();
}

}  // namespace lathe
