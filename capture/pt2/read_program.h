#ifndef LATHE_CAPTURE_PT2_READ_PROGRAM_H_
#define LATHE_CAPTURE_PT2_READ_PROGRAM_H_

// The schema's ExportedProgram: signature, graph, symbols' ranges, guards.

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/graph/program.h"

namespace lathe::pt2 {

// `record` is the JSON's name for messages. The program takes `weights`, which must hold every
// parameter, buffer and constant of the signature with the recorded dtype and sizes; others are
// left out. Operators are not resolved.
absl::StatusOr<Program> ReadProgram(std::string record, absl::string_view json,
                                    const std::map<std::string, Tensor>& weights);

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_READ_PROGRAM_H_
