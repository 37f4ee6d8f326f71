#ifndef LATHE_RUNTIME_EXTERNS_LINES_H_
#define LATHE_RUNTIME_EXTERNS_LINES_H_

// The lines of a tensor along one dimension: what sort, topk and scans work on.

#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/externs/extern.h"
#include "runtime/tensor/tensor.h"

namespace lathe {

struct Lines {
  int64_t count = 0;   // lines
  int64_t length = 1;  // elements of one
  size_t dim = 0;      // meaningless for a tensor without dimensions, which is one line of 1
  Dims sizes;
};

// `dim` may be negative. InvalidArgument when it is not a dimension.
absl::StatusOr<Lines> LinesOf(const Tensor& t, int64_t dim);
// The attribute as a number, `otherwise` when it is absent, InvalidArgument when it is none.
absl::StatusOr<int64_t> IntAttribute(const ExternCall& call, const char* key, int64_t otherwise);
// Likewise "1", "true", "0", "false".
absl::StatusOr<bool> BoolAttribute(const ExternCall& call, const char* key, bool otherwise);

// Position of the first element of line k, for a tensor of these lines with other strides, and the
// step along the line.
int64_t LineStart(const Lines& lines, const Dims& strides, int64_t k);
int64_t LineStep(const Lines& lines, const Dims& strides);

// InvalidArgument unless `t` is defined with this dtype and the sizes of `lines`, whose length may
// be another.
absl::Status CheckResult(const char* name, const Tensor& t, DType dtype, const Lines& lines,
                         int64_t length);

// Sub-byte elements as bytes of the same value; any other tensor as it is.
Tensor Widened(const Tensor& t);

// body(begin, end) over ranges of lines, in parallel.
void ForEachLine(const ExternCall& call, const Lines& lines,
                 const std::function<void(int64_t, int64_t)>& body);

}  // namespace lathe

#endif  // LATHE_RUNTIME_EXTERNS_LINES_H_
