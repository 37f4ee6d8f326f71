#ifndef LATHE_IR_OPS_WRITTEN_TARGETS_H_
#define LATHE_IR_OPS_WRITTEN_TARGETS_H_

// What eager says of tensors that an operator writes to, for the reference and functionalization to
// say alike.

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace lathe {

// Of a target with several elements at one place: eager's words.
inline constexpr char kOverlappingTarget[] =
    "unsupported operation: more than one element of the written-to tensor refers to a single "
    "memory location. Please clone() the tensor before performing the operation.";

// Operators that give every element the same value: they may write to such a target.
inline bool WritesOneValue(absl::string_view op) {
  return absl::StartsWith(op, "aten.fill_") || absl::StartsWith(op, "aten.zero_");
}

}  // namespace lathe

#endif  // LATHE_IR_OPS_WRITTEN_TARGETS_H_
