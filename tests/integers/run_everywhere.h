#ifndef LATHE_TESTS_INTEGERS_RUN_EVERYWHERE_H_
#define LATHE_TESTS_INTEGERS_RUN_EVERYWHERE_H_

// One program text on every tier, and with its inputs as constants, so that it is folded.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler.h"

namespace lathe::integers {

struct Way {
  const char* name;
  Tier tier;
  int threads = 1;
  bool folded = false;  // inputs are weights that no call changes
};

// Reference, tile, native, the latter two with four threads too, and folding.
absl::Span<const Way> Ways();

// "graph @f(HEADER) { BODY }" with the inputs' types put together: sizes, strides, offset.
std::string GraphText(absl::Span<const Tensor> inputs, const std::string& body, bool folded);

// Runs `body`, whose inputs are %x0, %x1..., `calls` times over: all calls must give the same.
// `pure`: nothing may run by its reference evaluation, and all of it must be folded.
absl::StatusOr<std::vector<Tensor>> RunBody(const std::string& body,
                                            absl::Span<const Tensor> inputs, const Way& way,
                                            int calls = 1, bool pure = false);

absl::StatusOr<Executable> CompileText(const std::string& text, Tier tier);
absl::StatusOr<std::vector<Tensor>> RunTensors(const Executable& executable,
                                               const std::vector<RunValue>& inputs);

// The same elements elsewhere: from element `offset` of a larger storage, with other elements
// between them where `step` is more than 1.
Tensor Placed(const Tensor& tensor, int64_t offset, int64_t step);

}  // namespace lathe::integers

#endif  // LATHE_TESTS_INTEGERS_RUN_EVERYWHERE_H_
