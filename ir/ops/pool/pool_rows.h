#ifndef LATHE_IR_OPS_POOL_POOL_ROWS_H_
#define LATHE_IR_OPS_POOL_POOL_ROWS_H_

// The groups of rows of this family; pool_rows.cc joins them.

#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> MaxPoolRows();
std::vector<OpRow> AveragePoolRows();
std::vector<OpRow> AdaptivePoolRows();
std::vector<OpRow> UnpoolRows();

}  // namespace lathe

#endif  // LATHE_IR_OPS_POOL_POOL_ROWS_H_
