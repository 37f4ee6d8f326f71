#ifndef LATHE_RUNTIME_EXECUTOR_BIND_INPUTS_H_
#define LATHE_RUNTIME_EXECUTOR_BIND_INPUTS_H_

// What the caller passes, checked against what the plan was compiled for.

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/frame.h"

namespace lathe::executor {

// InvalidArgument names the input, the rule and what was given.
absl::Status CheckTensor(const PlanInput& input, const Tensor& tensor);
// True when the program runs on a copy of such a tensor: contiguous if it was compiled for that,
// otherwise with the same strides.
bool NeedsCopy(const PlanInput& input, const Tensor& tensor);
Tensor CopyToBind(const PlanInput& input, const Tensor& tensor);
// Into the slot and registers of `input`; checks nothing.
void BindTensor(const PlanInput& input, const Tensor& tensor, Frame& frame);
absl::Status BindScalar(const PlanInput& input, const Scalar& value, Frame& frame);

// InvalidArgument when a mutated input has elements that share memory, with each other or with
// another input. `tensors` by input; null ones are passed over. Weights among themselves are looked
// at only with `weights`: once, when they are loaded.
absl::Status CheckOverlap(absl::Span<const PlanInput> inputs,
                          absl::Span<const Tensor* const> tensors, bool weights);

}  // namespace lathe::executor

#endif  // LATHE_RUNTIME_EXECUTOR_BIND_INPUTS_H_
