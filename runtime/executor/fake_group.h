#ifndef LATHE_RUNTIME_EXECUTOR_FAKE_GROUP_H_
#define LATHE_RUNTIME_EXECUTOR_FAKE_GROUP_H_

#include <memory>
#include <vector>

#include "runtime/executor/collective_group.h"

namespace lathe {

// Ranks of one process, each used from a thread of its own: for tests, and for trying a distributed
// program on one machine. Knows all_reduce, all_gather_into_tensor, reduce_scatter_tensor (both
// along dimension 0), all_to_all_single (equal pieces), broadcast from rank 0, and barrier. A rank
// that waits a minute for the others gets DeadlineExceeded.
std::vector<std::shared_ptr<CollectiveGroup>> MakeFakeGroup(int size);

}  // namespace lathe

#endif  // LATHE_RUNTIME_EXECUTOR_FAKE_GROUP_H_
