#ifndef LATHE_IR_OPS_INDEX_PLACE_FROM_ZERO_H_
#define LATHE_IR_OPS_INDEX_PLACE_FROM_ZERO_H_

// Indexes from data that may not count from the end, as most of eager's operators want them:
// gather, index_select, embedding, scatter. (Indexing with brackets, take and put may.)

#include "ir/loops/ops_handler.h"

namespace lathe {

inline Expr PlaceFromZero(OpsHandler& ops, OpsValue index, const Expr& size) {
  ops.Check(ops.Ge(index, ops.Constant(0, ops.dtype(index))), "index out of range: it is negative");
  return ops.Indirect(index, size);
}

}  // namespace lathe

#endif  // LATHE_IR_OPS_INDEX_PLACE_FROM_ZERO_H_
