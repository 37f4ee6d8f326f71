#ifndef LATHE_IR_OPS_INDEX_MAPPED_ROW_H_
#define LATHE_IR_OPS_INDEX_MAPPED_ROW_H_

// Rows whose every result element is one element of argument 0 (or a fill value): one map on
// expressions says which, for the loops and, with constants, for the reference.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/ops/op_row.h"

namespace lathe {

struct MappedElement {
  std::vector<Expr> place;  // the index into argument 0
  // Conditions (over the result's index) under which the place exists; `fill` elsewhere.
  std::vector<Expr> conditions = {};
};
using ElementMap = std::function<MappedElement(Index result)>;
struct MapContext {
  const OpArgs& args;
  const TensorType& result;
  const ShapeEnv& shapes;
};
// The map of one call.
using MapRule = std::function<absl::StatusOr<ElementMap>(const MapContext& context)>;

struct MappedRule {
  std::string schema = {};
  std::string doc = {};
  InferFunction infer = {};
  MapRule map = {};
  int fill_argument = -1;  // a Scalar argument; otherwise 0 fills
  std::vector<std::string> samples = {};
};
OpRow MappedRow(MappedRule rule);

}  // namespace lathe

#endif  // LATHE_IR_OPS_INDEX_MAPPED_ROW_H_
