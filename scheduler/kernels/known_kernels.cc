#include "scheduler/kernels/known_kernels.h"

#include <algorithm>
#include <utility>

#include "dtypes/base/status.h"
#include "scheduler/fusion/access.h"

namespace lathe {

void KnownKernels::AddMember(int n, const absl::flat_hash_set<Value*>& needed,
                             Wiring& wiring) const {
  const LoopNode& node = loops_.nodes[n];
  const NodeCost& cost = fusion_.access_of[n].cost;
  wiring.Add(static_cast<uint64_t>(fusion_.level_of[n]));
  wiring.Add(static_cast<uint64_t>(cost.operations));
  wiring.Add(static_cast<uint64_t>(cost.loads));
  wiring.Add(uint64_t{cost.heavy} << 2 | uint64_t{cost.indirect} << 1 | uint64_t{cost.unpacks});
  AddRoot(node.value, needed, wiring);
  wiring.Add(node);
}

// Whether it has a buffer, and whether it would be computed again where it is read.
void KnownKernels::AddRoot(Value* root, const absl::flat_hash_set<Value*>& needed,
                           Wiring& wiring) const {
  wiring.Add(uint64_t{needed.contains(root)} << 3 | uint64_t{IsGenerator(loops_, root)} << 2 |
             uint64_t{MayInline(loops_, fusion_, root, true)} << 1 |
             uint64_t{MayInline(loops_, fusion_, root, false)});
}

absl::StatusOr<std::optional<ScheduledKernel>> KnownKernels::Build(
    const FusionGroup& group, absl::flat_hash_set<Value*>& buffers_needed,
    std::optional<Expr> rows) {
  if (version_ != loops_.shapes->version()) {
    known_.clear();
    version_ = loops_.shapes->version();
  }
  Wiring wiring(loops_);
  wiring.Add(group.members.size());
  wiring.Add(uint64_t{group.has_reduction});
  wiring.Add(group.outer);
  wiring.Add(group.inner);
  wiring.Add(rows.has_value() ? std::vector<Expr>{*rows} : std::vector<Expr>());
  for (int n : group.members) wiring.Number(loops_.nodes[n].value);
  for (int n : group.members) AddMember(n, buffers_needed, wiring);
  // Roots that bodies may compute again bring their own.
  for (size_t k = group.members.size(); k < wiring.roots().size(); ++k) {
    Value* root = wiring.roots()[k];
    AddRoot(root, buffers_needed, wiring);
    const LoopNode* producer = loops_.Find(root);
    if (producer == nullptr) continue;
    const bool inlined = IsGenerator(loops_, root) || MayInline(loops_, fusion_, root, true);
    if (inlined) wiring.Add(*producer);
  }
  const size_t number = wiring.Class(classes_);
  known_.resize(std::max(known_.size(), number + 1));
  Known& known = known_[number];
  if (!known.is_set) {
    LATHE_ASSIGN_OR_RETURN(std::optional<ScheduledKernel> kernel,
                           BuildKernel(loops_, fusion_, group, buffers_needed, rows));
    // Errors name the values of their own program.
    if (kernel.has_value() && !kernel->spec.errors.empty()) return kernel;
    if (version_ == loops_.shapes->version()) known = Remembered(group, kernel, wiring);
    return kernel;
  }
  std::optional<ScheduledKernel> kernel = known.kernel;
  if (!kernel.has_value()) return kernel;
  for (int buffer : known.buffers) kernel->buffers.push_back(wiring.roots()[buffer]);
  for (int member : known.nodes) {
    kernel->nodes.push_back(loops_.nodes[group.members[member]].node);
  }
  buffers_needed.insert(kernel->buffers.begin(), kernel->buffers.end());
  return kernel;
}

KnownKernels::Known KnownKernels::Remembered(const FusionGroup& group,
                                             std::optional<ScheduledKernel> kernel,
                                             Wiring& wiring) const {
  Known known;
  known.is_set = true;
  if (!kernel.has_value()) return known;
  for (Value* buffer : kernel->buffers) known.buffers.push_back(wiring.Number(buffer));
  size_t member = 0;
  for (const Node* node : kernel->nodes) {
    while (loops_.nodes[group.members[member]].node != node) ++member;
    known.nodes.push_back(static_cast<int>(member));
    ++member;
  }
  kernel->buffers.clear();
  kernel->nodes.clear();
  known.kernel = std::move(kernel);
  return known;
}

}  // namespace lathe
