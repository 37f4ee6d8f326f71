#ifndef LATHE_CAPTURE_PT2_READ_TYPES_H_
#define LATHE_CAPTURE_PT2_READ_TYPES_H_

// The small parts of the export schema: enums, devices, symbolic numbers, tensor types.

#include "absl/status/statusor.h"
#include "capture/pt2/json.h"
#include "capture/pt2/symbols.h"
#include "ir/graph/graph.h"

namespace lathe::pt2 {

// torch.export's own numbering of dtypes, not c10's.
absl::StatusOr<DType> ReadDType(const JsonValue& json);
absl::StatusOr<Device> ReadDevice(const JsonValue& json);
absl::StatusOr<Layout> ReadLayout(const JsonValue& json);
absl::StatusOr<MemoryFormat> ReadMemoryFormat(const JsonValue& json);
// SymInt, SymBool, SymFloat: {"as_int": 3} or {"as_expr": {"expr_str": ..., "hint": ...}}.
absl::StatusOr<Expr> ReadSymbolic(const JsonValue& json, symbolic::ExprType kind, Symbols& symbols);
// TensorMeta.
absl::StatusOr<TensorType> ReadTensorType(const JsonValue& json, Symbols& symbols);

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_READ_TYPES_H_
