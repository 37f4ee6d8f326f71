#ifndef LATHE_DRIVER_REDUCE_PROGRAM_H_
#define LATHE_DRIVER_REDUCE_PROGRAM_H_

// Makes a program that shows a fault smaller while it still shows it.

#include <functional>

#include "absl/status/statusor.h"
#include "ir/graph/program.h"
#include "ir/ops/registry.h"

namespace lathe::driver {

// Whether a candidate still shows the fault.
using IsInteresting = std::function<absl::StatusOr<bool>(const Program&)>;

// Tries, until nothing helps: fewer outputs, the outputs of an earlier node in place of the
// program's, a node's operand or a fresh input in place of its result, fewer effects and
// preconditions. FailedPrecondition when `program` itself is not interesting.
absl::StatusOr<Program> ReduceProgram(const Program& program, const OpRegistry& registry,
                                      const IsInteresting& is_interesting);

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_REDUCE_PROGRAM_H_
