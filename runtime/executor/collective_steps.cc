// Steps that communicate.

#include "dtypes/base/status.h"
#include "runtime/executor/program.h"

namespace lathe::executor {
namespace {

class CollectiveStart final : public Step {
 public:
  CollectiveStart(const CollectiveStartStep& step, CollectiveGroup* group)
      : step_(step), group_(group) {}
  absl::Status Run(Frame& frame, Context&) const override {
    Pending pending;
    pending.handle = step_.handle;
    for (const TensorSlot t : step_.inputs) pending.inputs.push_back(frame.SlotAt(t).AsTensor());
    for (const TensorSlot t : step_.outputs) pending.outputs.push_back(frame.SlotAt(t).AsTensor());
    LATHE_ASSIGN_OR_RETURN(pending.collective, group_->Start({step_.op, step_.reduce,
                                                              pending.inputs, pending.outputs}));
    frame.pending.push_back(std::move(pending));
    return absl::OkStatus();
  }

 private:
  const CollectiveStartStep& step_;
  CollectiveGroup* const group_;
};

class CollectiveWait final : public Step {
 public:
  explicit CollectiveWait(const CollectiveWaitStep& step) : step_(step) {}
  absl::Status Run(Frame& frame, Context&) const override {
    for (size_t k = 0; k < frame.pending.size(); ++k) {
      if (frame.pending[k].handle != step_.handle) continue;
      const Pending pending = std::move(frame.pending[k]);
      frame.pending.erase(frame.pending.begin() + static_cast<std::ptrdiff_t>(k));
      return pending.collective->Wait();
    }
    return Internal("collective ", step_.handle, " was not started");
  }

 private:
  const CollectiveWaitStep& step_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Step>> MakeStep(const CollectiveStartStep& step,
                                               const Program& program) {
  const auto found = program.groups.find(step.group);
  if (found == program.groups.end() || found->second == nullptr) {
    return NotFound("there is no process group '", step.group, "'");
  }
  return std::make_unique<CollectiveStart>(step, found->second.get());
}
std::unique_ptr<Step> MakeStep(const CollectiveWaitStep& step) {
  return std::make_unique<CollectiveWait>(step);
}

}  // namespace lathe::executor
