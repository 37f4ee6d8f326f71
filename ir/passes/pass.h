#ifndef LATHE_IR_PASSES_PASS_H_
#define LATHE_IR_PASSES_PASS_H_

// A pass over a whole program: graphs in, better graphs out. Passes keep the meaning of the main
// graph and Verify(program); they look at all graphs, sub-graphs included.

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "ir/graph/program.h"
#include "ir/ops/registry.h"

namespace lathe {

struct Pass {
  std::string name;      // "cse": what LATHE_SKIP and `lathe opt --passes` say
  std::string sentence;  // what it does
  // True when something changed. Errors are the user's program's, or a limit of lathe.
  std::function<absl::StatusOr<bool>(Program& program, const OpRegistry& registry)> run;
};

}  // namespace lathe

#endif  // LATHE_IR_PASSES_PASS_H_
