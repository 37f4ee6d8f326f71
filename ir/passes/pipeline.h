#ifndef LATHE_IR_PASSES_PIPELINE_H_
#define LATHE_IR_PASSES_PIPELINE_H_

// The order of passes, and how they are run.
//
//   LATHE_RETURN_IF_ERROR(RunPasses(program, OpRegistry::Builtin(), InferencePasses()));

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/passes/pass.h"

namespace lathe {

// From an imported program to what the scheduler lowers.
std::vector<Pass> InferencePasses();
// The first part of it: a functional program with the operators of the model, for autograd.
std::vector<Pass> FunctionalizingPasses();

// Every pass by name, for `lathe opt --passes=a,b`; NotFound names the known ones.
std::vector<Pass> AllPasses();
absl::StatusOr<Pass> FindPass(absl::string_view name);

// Runs the passes in order. With a trace sink, each writes the artifacts before_NAME and
// after_NAME. The environment variable LATHE_SKIP=cse,dce leaves passes out; LATHE_PASS_LIMIT=N
// stops after N passes (to find the one that breaks a program).
absl::Status RunPasses(Program& program, const OpRegistry& registry,
                       const std::vector<Pass>& passes);

}  // namespace lathe

#endif  // LATHE_IR_PASSES_PIPELINE_H_
