#ifndef LATHE_IR_OPS_REDUCE_COMPOSED_ROWS_H_
#define LATHE_IR_OPS_REDUCE_COMPOSED_ROWS_H_

// Reductions that decompose into others: variance, norms, logsumexp.

#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> ComposedReductionRows();

}  // namespace lathe

#endif  // LATHE_IR_OPS_REDUCE_COMPOSED_ROWS_H_
