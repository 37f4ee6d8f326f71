#ifndef LATHE_IR_REFERENCE_RECORDED_CALLS_H_
#define LATHE_IR_REFERENCE_RECORDED_CALLS_H_

// Calls of operators with their answers, as recorded from PyTorch: one JSON object a line, tensor
// elements in a safetensors file (third_party/vectors/README.md describes both).

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/graph/graph.h"

namespace lathe {

// Tensors are literal kTensor arguments with the recorded strides.
struct RecordedCall {
  std::string op;
  int64_t id = 0;
  std::vector<Argument> arguments;
  std::vector<std::pair<std::string, Argument>> named;
  std::vector<Argument> results;          // lists flattened
  std::vector<Argument> arguments_after;  // of mutating ops, else empty
};

// InvalidArgument for text that is not so.
absl::StatusOr<std::vector<RecordedCall>> ReadRecordedCalls(absl::string_view json_lines,
                                                            absl::string_view safetensors);

}  // namespace lathe

#endif  // LATHE_IR_REFERENCE_RECORDED_CALLS_H_
