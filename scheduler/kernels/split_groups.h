#ifndef LATHE_SCHEDULER_KERNELS_SPLIT_GROUPS_H_
#define LATHE_SCHEDULER_KERNELS_SPLIT_GROUPS_H_

#include "ir/loops/kernel_spec.h"

namespace lathe {

// A row that is reduced while something is read once for every `length` of its elements, at
// index // length (the scales of weights in groups): its axis becomes two, so that what belongs to
// a group is read once a group. Only where the two count as one row in the order of sums
// (kernel_spec.h): no bit changes.
void SplitGroups(KernelSpec& spec, ExprContext& context);

}  // namespace lathe

#endif  // LATHE_SCHEDULER_KERNELS_SPLIT_GROUPS_H_
