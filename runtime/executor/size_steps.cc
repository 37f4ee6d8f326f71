// Steps that compute and check numbers.

#include <bit>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "runtime/abi/size_program.h"
#include "runtime/executor/program.h"

namespace lathe::executor {
namespace {

class Eval final : public Step {
 public:
  Eval(const EvalStep& step, const Plan& plan, size_t place)
      : step_(step), plan_(plan), place_(place) {}
  absl::Status Run(Frame& frame, Context&) const override {
    uint64_t& done = frame.eval_generations[place_];
    if (done == frame.generation) return absl::OkStatus();
    absl::Status status = RunSizeProgram(step_.program, frame.registers.data());
    if (__builtin_expect(!status.ok(), 0)) return Blame(std::move(status), frame);
    done = frame.generation;
    return absl::OkStatus();
  }

 private:
  // All sizes of a segment are computed at once; the first node that wants the one that failed, or
  // one made from it, is named.
  absl::Status Blame(absl::Status status, Frame& frame) const {
    const std::vector<SizeInstruction>& code = step_.program.code;
    std::vector<bool> failed(frame.registers.size(), false);
    bool any = false;
    for (const SizeInstruction& i : code) {
      const bool reads = Reads(i, failed);
      if (!reads && any) continue;
      if (!reads && RunSizeProgram({{i}}, frame.registers.data()).ok()) continue;
      failed[static_cast<size_t>(i.dst)] = any = true;
    }
    for (const PlanStep& step : plan_.steps) {
      const auto place = WantsOneOf(step, failed);
      if (place.has_value()) return AtNode(std::move(status), place->first, place->second);
    }
    return status;
  }

  static bool Reads(const SizeInstruction& i, const std::vector<bool>& registers) {
    const Register operands[] = {i.a, i.b, i.c};
    for (int k = 0; k < OperandCount(i.op); ++k) {
      if (registers[static_cast<size_t>(operands[k])]) return true;
    }
    return false;
  }

  using Place = std::optional<std::pair<std::string, std::string>>;
  static Place WantsOneOf(const PlanStep& step, const std::vector<bool>& registers) {
    const auto has = [&](Register r) { return r >= 0 && registers[static_cast<size_t>(r)]; };
    if (const auto* reserve = std::get_if<ReserveStep>(&step)) {
      for (const ReserveStep::Piece& piece : reserve->pieces) {
        if (has(piece.size_bytes)) return std::pair(piece.node, piece.source);
      }
    } else if (const auto* allocate = std::get_if<AllocateStep>(&step)) {
      if (has(allocate->size_bytes)) return std::pair(allocate->node, allocate->source);
    } else if (const auto* assertion = std::get_if<AssertStep>(&step)) {
      if (has(assertion->condition)) return std::pair(assertion->node, assertion->source);
    } else if (const auto* launch = std::get_if<LaunchStep>(&step)) {
      bool wants = has(launch->extent);
      for (const Register r : launch->scalars) wants = wants || has(r);
      if (wants) return std::pair(launch->node, launch->source);
    }
    return std::nullopt;
  }

  const EvalStep& step_;
  const Plan& plan_;
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
  return std::make_unique<Eval>(step, *code.plan, code.evals++);
}
std::unique_ptr<Step> MakeStep(const BindSizeStep& step) {
  return std::make_unique<BindSize>(step);
}
std::unique_ptr<Step> MakeStep(const BindItemStep& step) {
  return std::make_unique<BindItem>(step);
}
std::unique_ptr<Step> MakeStep(const AssertStep& step) { return std::make_unique<Assert>(step); }

}  // namespace lathe::executor
