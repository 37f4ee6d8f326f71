#ifndef LATHE_SCHEDULER_KERNELS_KNOWN_KERNELS_H_
#define LATHE_SCHEDULER_KERNELS_KNOWN_KERNELS_H_

// BuildKernel (build_kernel.h), once for groups of one wiring: the same members, wired alike to one
// another and to roots of which the same have buffers or are computed where they are read.

#include <optional>
#include <vector>

#include "scheduler/kernels/build_kernel.h"
#include "scheduler/lower/wiring.h"

namespace lathe {

class KnownKernels {
 public:
  KnownKernels(const LoopGraph& loops, const Fusion& fusion) : loops_(loops), fusion_(fusion) {}

  // As BuildKernel.
  absl::StatusOr<std::optional<ScheduledKernel>> Build(const FusionGroup& group,
                                                       absl::flat_hash_set<Value*>& buffers_needed,
                                                       std::optional<Expr> rows);

 private:
  struct Known {
    bool is_set = false;
    std::optional<ScheduledKernel> kernel;
    std::vector<int> buffers;  // as numbers of the wiring
    std::vector<int> nodes;    // as members of the group
  };
  void AddMember(int n, const absl::flat_hash_set<Value*>& needed, Wiring& wiring) const;
  void AddRoot(Value* root, const absl::flat_hash_set<Value*>& needed, Wiring& wiring) const;
  Known Remembered(const FusionGroup& group, std::optional<ScheduledKernel> kernel,
                   Wiring& wiring) const;

  const LoopGraph& loops_;
  const Fusion& fusion_;
  int64_t version_ = 0;  // of the ShapeEnv: what is proved of sizes changes kernels
  WordClasses classes_;
  std::vector<Known> known_;  // by class
};

}  // namespace lathe

#endif  // LATHE_SCHEDULER_KERNELS_KNOWN_KERNELS_H_
