#ifndef LATHE_RUNTIME_EXTERNS_ORDERED_LINES_H_
#define LATHE_RUNTIME_EXTERNS_ORDERED_LINES_H_

#include "absl/status/status.h"
#include "runtime/externs/extern.h"

namespace lathe {

// outputs[0], outputs[1] = the first `kept` elements of each line of inputs[0] along `dim` in order
// (descending: largest first) and their positions, i64. kept < 0: all. Ties by position.
absl::Status OrderLines(const char* name, const ExternCall& call, int64_t dim, bool descending,
                        int64_t kept);

}  // namespace lathe

#endif  // LATHE_RUNTIME_EXTERNS_ORDERED_LINES_H_
