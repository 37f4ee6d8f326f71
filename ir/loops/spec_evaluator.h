#ifndef LATHE_IR_LOOPS_SPEC_EVALUATOR_H_
#define LATHE_IR_LOOPS_SPEC_EVALUATOR_H_

// Runs a KernelSpec one scalar at a time, word for word as kernel_spec.h states it, reduction order
// included. Slow and obvious: the oracle that the tiers are tested against.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "ir/loops/kernel_spec.h"

namespace lathe {

// `buffers`: the first element of each buffer; `scalars`: the values of spec.symbols; [begin, end):
// the range of axis 0. A run-time failure is OutOfRange for a checked index, InvalidArgument for
// an integer division by zero, FailedPrecondition with the error row's message for a Check.
// Buffers may be half written then.
absl::Status EvaluateSpec(const KernelSpec& spec, absl::Span<void* const> buffers,
                          absl::Span<const int64_t> scalars, int64_t begin, int64_t end);

// FoldPairwise of kernel_spec.h over `values` with `combine(a, b)`; requires at least one value.
template <typename T, typename Combine>
T FoldPairwise(std::vector<T> values, Combine combine) {
  for (size_t n = values.size(); n > 1;) {
    const size_t half = (n + 1) / 2;
    for (size_t i = 0; i + half < n; ++i) values[i] = combine(values[i], values[i + half]);
    n = half;
  }
  return values[0];
}

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_SPEC_EVALUATOR_H_
