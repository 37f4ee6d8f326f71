#ifndef LATHE_SCHEDULER_KERNELS_BUILD_KERNEL_H_
#define LATHE_SCHEDULER_KERNELS_BUILD_KERNEL_H_

// From a fusion group to a KernelSpec.

#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "scheduler/fusion/fuse.h"
#include "scheduler/lower/loop_node.h"
#include "scheduler/schedule.h"

namespace lathe {

// The kernel of a group. `buffers_needed` says which members must be stored, and gets every root
// that the kernel loads; so later kernels are built first. nullopt when nothing of it is needed.
// `rows`: when set, axis 0 must enumerate exactly that many rows (an extern's epilogue);
// FailedPrecondition when the domain has no such prefix.
absl::StatusOr<std::optional<ScheduledKernel>> BuildKernel(
    const LoopGraph& loops, const Fusion& fusion, const FusionGroup& group,
    absl::flat_hash_set<Value*>& buffers_needed, std::optional<Expr> rows);

// The kernel that stores into an already filled buffer.
absl::StatusOr<ScheduledKernel> BuildScatter(const LoopGraph& loops, const Fusion& fusion,
                                             const ScatterLoops& scatter, Value* result,
                                             absl::flat_hash_set<Value*>& buffers_needed);

}  // namespace lathe

#endif  // LATHE_SCHEDULER_KERNELS_BUILD_KERNEL_H_
