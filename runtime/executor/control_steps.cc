// Steps that run sub-plans.

#include <algorithm>
#include <bit>
#include <vector>

#include "dtypes/base/status.h"
#include "runtime/executor/program.h"

namespace lathe::executor {
namespace {

std::vector<Tensor> Tensors(Frame& frame, const std::vector<TensorSlot>& slots) {
  std::vector<Tensor> tensors;
  tensors.reserve(slots.size());
  for (const TensorSlot t : slots) tensors.push_back(frame.SlotAt(t).AsTensor());
  return tensors;
}
std::vector<int64_t> Scalars(const Frame& frame, const std::vector<Register>& registers) {
  std::vector<int64_t> values;
  for (const Register r : registers) values.push_back(frame.Get(r));
  return values;
}

// A number that a sub-plan gives becomes a tensor without dimensions.
absl::StatusOr<Tensor> AsTensor(const RunValue& value) {
  if (const Scalar* scalar = std::get_if<Scalar>(&value)) {
    const DType dtype = scalar->is_bool()    ? DType::kBool
                        : scalar->is_float() ? DType::kF64
                                             : DType::kI64;
    return Tensor::FromScalar(dtype, *scalar);
  }
  const Tensor& tensor = std::get<Tensor>(value);
  if (!tensor.is_defined()) return Internal("a sub-plan gave nothing where a tensor is expected");
  return tensor;
}

class Cond final : public Step {
 public:
  explicit Cond(const CondStep& step) : step_(step) {}
  absl::Status Run(Frame& frame, Context& context) const override {
    const int32_t branch = step_.branches[frame.Get(step_.predicate) != 0 ? 0 : 1];
    const std::vector<Tensor> inputs = Tensors(frame, step_.inputs);
    absl::StatusOr<std::vector<RunValue>> called =
        context.Call(branch, inputs, Scalars(frame, step_.scalar_inputs));
    // The place inside the branch says more, where there is one.
    if (!called.ok()) return AtNode(called.status(), step_.node, step_.source);
    const std::vector<RunValue>& results = *called;
    for (size_t k = 0; k < results.size(); ++k) {
      LATHE_ASSIGN_OR_RETURN(const Tensor tensor, AsTensor(results[k]));
      frame.SetTensor(step_.outputs[k], tensor, tensor.offset());
    }
    return absl::OkStatus();
  }

 private:
  const CondStep& step_;
};

Tensor CopyLaidOutAs(const Tensor& first, const Tensor& next) {
  Tensor copy = Tensor::EmptyStrided(first.dtype(), first.sizes(), first.strides());
  copy.CopyFrom(next);
  return copy;
}

// A value that a loop carries, laid out as its body reads it.
absl::StatusOr<Tensor> LaidOutAs(const Tensor& first, const Tensor& next) {
  if (next.dtype() != first.dtype() || next.sizes() != first.sizes()) {
    return InvalidArgument("a value that a loop carries changed its dtype or sizes");
  }
  return next.strides() == first.strides() ? next : CopyLaidOutAs(first, next);
}

class While final : public Step {
 public:
  explicit While(const WhileStep& step) : step_(step) {}
  absl::Status Run(Frame& frame, Context& context) const override {
    const std::vector<Tensor> carried = Tensors(frame, step_.carried);
    std::vector<Tensor> state = carried;
    const std::vector<Tensor> additional = Tensors(frame, step_.additional);
    state.insert(state.end(), additional.begin(), additional.end());
    const std::vector<int64_t> scalars = Scalars(frame, step_.scalar_inputs);
    for (;;) {
      LATHE_ASSIGN_OR_RETURN(const std::vector<RunValue> condition,
                             context.Call(step_.condition, state, scalars));
      LATHE_ASSIGN_OR_RETURN(const bool more, IsTrue(condition[0]));
      if (!more) break;
      LATHE_ASSIGN_OR_RETURN(const std::vector<RunValue> next,
                             context.Call(step_.body, state, scalars));
      for (size_t k = 0; k < next.size(); ++k) {
        LATHE_ASSIGN_OR_RETURN(const Tensor value, AsTensor(next[k]));
        LATHE_ASSIGN_OR_RETURN(state[k], LaidOutAs(carried[k], value));
      }
    }
    for (size_t k = 0; k < step_.outputs.size(); ++k) {
      // An operand that the body passes on may lie where later steps write.
      const auto is_same = [&](const Tensor& operand) {
        return state[k].storage() == operand.storage();
      };
      if (std::any_of(carried.begin(), carried.end(), is_same) ||
          std::any_of(additional.begin(), additional.end(), is_same)) {
        state[k] = CopyLaidOutAs(carried[k], state[k]);
      }
      frame.SetTensor(step_.outputs[k], state[k], state[k].offset());
    }
    return absl::OkStatus();
  }

 private:
  static absl::StatusOr<bool> IsTrue(const RunValue& value) {
    if (const Scalar* scalar = std::get_if<Scalar>(&value)) return scalar->ToBool();
    const Tensor& tensor = std::get<Tensor>(value);
    if (!tensor.is_defined() || tensor.numel() != 1) {
      return InvalidArgument("the condition of a loop is not one number");
    }
    return tensor.AtLinear(0).ToBool();
  }

  const WhileStep& step_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const CondStep& step) { return std::make_unique<Cond>(step); }
std::unique_ptr<Step> MakeStep(const WhileStep& step) { return std::make_unique<While>(step); }

}  // namespace lathe::executor
