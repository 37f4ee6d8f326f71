#ifndef LATHE_TESTS_SWEEP_CALL_TEXT_H_
#define LATHE_TESTS_SWEEP_CALL_TEXT_H_

// Calls written with the types of their tensors, "aten.add.Tensor(f32[3, 1], f32[4], alpha=2)", as
// programs whose inputs these tensors are.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "dtypes/dtype.h"
#include "ir/graph/program.h"
#include "runtime/tensor/tensor.h"

namespace lathe::sweep {

// How the inputs lie in memory.
enum class Layout { kDense, kTransposed, kSliced, kExpanded, kOffset };
absl::string_view LayoutName(Layout layout);

struct CallTensor {
  DType dtype;
  Dims sizes;
  bool is_swept = false;  // written with "T"
};

struct CallText {
  std::string op;
  std::vector<std::string> pieces;  // the text around the tensors, one more than these
  std::vector<CallTensor> tensors;
};

// "T" stands for `dtype`, alone as well ("dtype=T"). Symbolic sizes become 3.
absl::StatusOr<CallText> ReadCall(absl::string_view text, DType dtype);

// The call as a program; its inputs have the strides of `tensors`.
absl::StatusOr<Program> ProgramOf(const CallText& call, const std::vector<Tensor>& tensors);

// Several calls in one program: the inputs and the results of one after those of the other.
absl::StatusOr<Program> ProgramOf(absl::Span<const CallText> calls,
                                  absl::Span<const std::vector<Tensor>> tensors);

// An unset tensor of these sizes in that layout.
Tensor EmptyInLayout(DType dtype, const Dims& sizes, Layout layout);

}  // namespace lathe::sweep

#endif  // LATHE_TESTS_SWEEP_CALL_TEXT_H_
