#ifndef LATHE_IR_OPS_KNOWN_TYPES_H_
#define LATHE_IR_OPS_KNOWN_TYPES_H_

// Result types of calls, asked of a row once for each class of calls (call_classes.h). Rows whose
// answer brought a symbol or taught the ShapeEnv something are asked every time; and whatever else
// teaches it something ends what is known, as types are stated by what can be proved.

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph/call_classes.h"
#include "ir/ops/op_row.h"

namespace lathe {

class KnownTypes {
 public:
  explicit KnownTypes(ShapeEnv& shapes) : shapes_(shapes) {}

  // What row.infer gives; it must have that rule.
  absl::StatusOr<std::vector<ValueType>> Infer(const OpRow& row,
                                               absl::Span<const Argument> arguments,
                                               const symbolic::Asker& asker);

 private:
  ShapeEnv& shapes_;
  int64_t version_ = 0;
  CallClasses classes_;
  std::vector<std::optional<std::vector<ValueType>>> types_;  // by class
};

}  // namespace lathe

#endif  // LATHE_IR_OPS_KNOWN_TYPES_H_
