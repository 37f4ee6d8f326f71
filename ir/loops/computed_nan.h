#ifndef LATHE_IR_LOOPS_COMPUTED_NAN_H_
#define LATHE_IR_LOOPS_COMPUTED_NAN_H_

// Which floats of a body may be a NaN that arithmetic made. Its sign and payload depend on the
// order of operands, on what a compiler folds and on the machine (inf - inf is negative on x86,
// folded it is positive), so code generators replace it by the positive quiet NaN where bits can be
// seen: in stores, in casts to narrower floats, bit casts, signbit and copysign. What is only moved
// (loads, where) keeps its bits.

#include <vector>

#include "absl/types/span.h"
#include "ir/loops/loop_body.h"

namespace lathe {

// By operation; false for all that are no floats.
std::vector<bool> MayBeComputedNan(absl::Span<const LoopOp> ops);

// True where operand `k` of `op` shows its bits: a computed NaN among them is replaced.
bool ShowsBits(const LoopOp& op, size_t k, DType operand);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_COMPUTED_NAN_H_
