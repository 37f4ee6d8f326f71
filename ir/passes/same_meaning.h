#ifndef LATHE_IR_PASSES_SAME_MEANING_H_
#define LATHE_IR_PASSES_SAME_MEANING_H_

// For tests of passes: do two programs compute the same, in the slow, obvious way?

#include "absl/status/status.h"
#include "ir/graph/program.h"

namespace lathe {

// Evaluates both on random inputs (sizes by their hints, 4 without one) with the reference and
// compares outputs and mutated inputs: integers exactly, floats within 1e-4 relative to the largest
// magnitude, since sums may be reassociated. FailedPrecondition names the first difference.
absl::Status CheckSameMeaning(const Program& before, const Program& after, int seed);

// The output specs of `after`, a functional program, against what `before`, the program as written,
// does on the reference: an output shares storage with exactly the input or earlier output that its
// spec names, and its type has the sizes, strides and offset of the tensor returned. Sizes are
// constants.
absl::Status CheckAliases(const Program& before, const Program& after, int seed);

}  // namespace lathe

#endif  // LATHE_IR_PASSES_SAME_MEANING_H_
