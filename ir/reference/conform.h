#ifndef LATHE_IR_REFERENCE_CONFORM_H_
#define LATHE_IR_REFERENCE_CONFORM_H_

// Compares operators with recorded calls: result types exactly, values within the tolerances of
// design §5 (conform).

#include <functional>
#include <string>

#include "absl/types/span.h"
#include "ir/ops/registry.h"
#include "ir/reference/recorded_calls.h"

namespace lathe {

enum class Conformity { kPassed, kFailed, kUnsupported };

struct ConformAnswer {
  Conformity conformity = Conformity::kPassed;
  std::string message;  // what differs, or what is missing
};

// By `infer` and `evaluate`.
ConformAnswer CheckCall(const RecordedCall& call, const OpRegistry& registry);
// By `lower`, element by element (loop_evaluator.h). Rows without one are unsupported.
ConformAnswer CheckLowering(const RecordedCall& call, const OpRegistry& registry);

// True for the recorded calls of as_strided on a view of a larger tensor: the record holds the
// elements that the view shows, the answer holds others of its storage.
bool ReadsOutsideItsRecord(const RecordedCall& call);
// False for operators whose answers are random or unset memory: their types alone are compared.
bool HasChosenValues(absl::string_view op);
// "" when a result agrees with the recorded one. `is_written`: of an argument that the call
// mutates, whose recorded strides are those of a copy.
std::string CompareValue(const HostValue& actual, const Argument& expected, bool with_values,
                         bool is_written);

// "" when all results agree. `is_written(k)`: result k is an argument that the call mutates.
std::string CompareResults(absl::string_view op, absl::Span<const HostValue> actual,
                           absl::Span<const Argument> expected,
                           const std::function<bool(size_t)>& is_written);

// "" when `actual` is within tolerance of `expected`, else the first difference. Sizes, strides and
// dtype must be equal; values are not compared unless `with_values`.
std::string CompareTensors(const Tensor& actual, const Tensor& expected, bool with_values);

}  // namespace lathe

#endif  // LATHE_IR_REFERENCE_CONFORM_H_
