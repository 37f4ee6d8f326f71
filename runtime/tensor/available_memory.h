#ifndef LATHE_RUNTIME_TENSOR_AVAILABLE_MEMORY_H_
#define LATHE_RUNTIME_TENSOR_AVAILABLE_MEMORY_H_

// How much memory there is to take: asked before something large is taken, since a system that
// lends more than it has ends the process later instead of refusing now.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace lathe {

// Bytes that this process may still take: what the machine has free or can free, and what its
// control group leaves. INT64_MAX where neither says.
int64_t AvailableMemoryBytes();

// Below this nobody asks.
inline constexpr int64_t kLargeBytes = int64_t{1} << 28;

// Whether so much can be taken: asks the system only for large amounts.
bool FitsMemory(int64_t bytes);

// ResourceExhausted: "a result needs N bytes of memory, M are available".
absl::Status OutOfMemory(absl::string_view what, int64_t bytes);

}  // namespace lathe

#endif  // LATHE_RUNTIME_TENSOR_AVAILABLE_MEMORY_H_
