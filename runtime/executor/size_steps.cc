// Steps that compute and check numbers.

#include <bit>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "runtime/abi/size_program.h"
#include "runtime/executor/program.h"

namespace lathe::executor {
namespace {

class Eval final : public Step {
 public:
  Eval(const EvalStep& step, size_t place) : step_(step), place_(place) {}
  absl::Status Run(Frame& frame, Context&) const override {
    uint64_t& done = frame.eval_generations[place_];
    if (done == frame.generation) return absl::OkStatus();
    LATHE_RETURN_IF_ERROR(RunSizeProgram(step_.program, frame.registers.data()));
    done = frame.generation;
    return absl::OkStatus();
  }

 private:
  const EvalStep& step_;
  const size_t place_;
};

class BindSize final : public Step {
 public:
  explicit BindSize(const BindSizeStep& step) : step_(step) {}
  absl::Status Run(Frame& frame, Context&) const override {
    const Dims& sizes = frame.SlotAt(step_.tensor).sizes;
    const auto d = static_cast<size_t>(step_.dimension);
    if (d >= sizes.size()) {
      return Internal("a tensor of rank ", sizes.size(), " has no size ", step_.dimension);
    }
    frame.SetRegister(step_.target, sizes[d]);
    return absl::OkStatus();
  }

 private:
  const BindSizeStep& step_;
};

class BindItem final : public Step {
 public:
  explicit BindItem(const BindItemStep& step) : step_(step) {}
  absl::Status Run(Frame& frame, Context&) const override {
    const Slot& slot = frame.SlotAt(step_.tensor);
    for (const int64_t size : slot.sizes) {
      if (size != 1) {
        return InvalidArgument("a tensor with more or less than one element cannot be a number: ",
                               TypeString(slot.AsTensor()));
      }
    }
    const Scalar item = LoadElement((*slot.holder)->data(), slot.dtype, slot.offset);
    frame.SetRegister(step_.target,
                      IsFloat(slot.dtype) ? std::bit_cast<int64_t>(item.ToDouble()) : item.ToInt());
    return absl::OkStatus();
  }

 private:
  const BindItemStep& step_;
};

class Assert final : public Step {
 public:
  explicit Assert(const AssertStep& step) : step_(step) {}
  absl::Status Run(Frame& frame, Context&) const override {
    if (__builtin_expect(frame.Get(step_.condition) != 0, 1)) return absl::OkStatus();
    std::string message = step_.message;
    for (size_t k = 0; k < step_.names.size(); ++k) {
      absl::StrAppend(&message, k == 0 ? " (" : ", ", step_.names[k], " = ",
                      frame.Get(step_.values[k]));
    }
    if (!step_.names.empty()) message += ")";
    return AtNode(absl::FailedPreconditionError(message), step_.node, step_.source);
  }

 private:
  const AssertStep& step_;
};

}  // namespace

std::unique_ptr<Step> MakeStep(const EvalStep& step, Code& code) {
  return std::make_unique<Eval>(step, code.evals++);
}
std::unique_ptr<Step> MakeStep(const BindSizeStep& step) {
  return std::make_unique<BindSize>(step);
}
std::unique_ptr<Step> MakeStep(const BindItemStep& step) {
  return std::make_unique<BindItem>(step);
}
std::unique_ptr<Step> MakeStep(const AssertStep& step) { return std::make_unique<Assert>(step); }

}  // namespace lathe::executor
