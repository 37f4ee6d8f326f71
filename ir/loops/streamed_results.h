#ifndef LATHE_IR_LOOPS_STREAMED_RESULTS_H_
#define LATHE_IR_LOOPS_STREAMED_RESULTS_H_

// Which results of a kernel may be stored past the caches. An ordinary store reads the line first,
// half as much traffic again; that pays only where the caches would not keep the result.

#include <optional>
#include <vector>

#include "ir/loops/kernel_spec.h"

namespace lathe {

// Results of fewer bytes are left to the caches: above what a core has to itself on current
// processors.
inline constexpr int64_t kStreamBytes = int64_t{48} << 20;

// By buffer: its bytes if the kernel only writes it, each place at most once and unmasked, and if
// it may have kStreamBytes; otherwise nullopt.
std::vector<std::optional<Expr>> StreamedBytes(const KernelSpec& spec);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_STREAMED_RESULTS_H_
