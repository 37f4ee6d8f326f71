#ifndef LATHE_IR_REFERENCE_CONFORM_PROGRAM_H_
#define LATHE_IR_REFERENCE_CONFORM_PROGRAM_H_

// Recorded calls as whole programs: what compiling and running them gives, compared with the
// record.

#include <functional>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "ir/graph/program.h"
#include "ir/reference/conform.h"
#include "ir/reference/relayout.h"

namespace lathe {

// Runs a program whose inputs are all user inputs and gives its user outputs. Inputs that the
// program mutates are changed in place.
using ProgramRunner = std::function<absl::StatusOr<std::vector<HostValue>>(
    const Program& program, const std::vector<HostValue>& inputs)>;

// All calls in one program. When that fails it is halved, until the call at fault is alone.
// `relayout`: with their tensors in that layout. Strides are then not compared, for they follow
// those of the operands; the answer to expanded operands is the reference's, and a call that eager
// refuses in the layout is unsupported.
std::vector<ConformAnswer> CheckByProgram(absl::Span<const RecordedCall> calls,
                                          const OpRegistry& registry, const ProgramRunner& run,
                                          std::optional<Relayout> relayout = std::nullopt);

}  // namespace lathe

#endif  // LATHE_IR_REFERENCE_CONFORM_PROGRAM_H_
