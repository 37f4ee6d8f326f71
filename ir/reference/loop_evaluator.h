#ifndef LATHE_IR_REFERENCE_LOOP_EVALUATOR_H_
#define LATHE_IR_REFERENCE_LOOP_EVALUATOR_H_

// Runs what a row's `lower` says, element by element with ScalarApply: the check that a lowering
// and the reference meaning agree, without scheduler or code generator.

#include <vector>

#include "absl/status/statusor.h"
#include "ir/ops/host_call.h"

namespace lathe {

// The results of a resolved node by its lowering. Sizes and indexes are numbers: the node's inputs
// have concrete types. Unimplemented when the row has no lowering or calls an extern.
absl::StatusOr<std::vector<Tensor>> EvaluateLowering(const Node& node,
                                                     const HostEnvironment& environment);

}  // namespace lathe

#endif  // LATHE_IR_REFERENCE_LOOP_EVALUATOR_H_
