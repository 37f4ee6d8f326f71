#ifndef LATHE_DRIVER_VERIFY_RUN_H_
#define LATHE_DRIVER_VERIFY_RUN_H_

// A compiled program beside the reference, kernel by kernel: which node is the first to differ?

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler.h"
#include "driver/value.h"

namespace lathe::driver {

struct Verification {
  int64_t compared = 0;  // tensors
  // Empty: all agree. Else "%name = op at file:line: 3 of 8 elements differ...".
  std::string first_difference;
};

// Compiles and runs `program` with every value at a kernel's border as a further output (`each`:
// every value, so that nothing is fused), and compares with the reference, which goes on from the
// compiled values: so each kernel is judged by its own inputs. Floats may differ by what `check`
// allows, relative to the largest magnitude in the tensor. Inputs are not changed.
absl::StatusOr<Verification> VerifyRun(const Program& program, const CompileOptions& options,
                                       const std::vector<Value>& inputs, bool each);

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_VERIFY_RUN_H_
