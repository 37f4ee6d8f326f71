#ifndef LATHE_IR_OPS_SORT_SELECTION_ROWS_H_
#define LATHE_IR_OPS_SORT_SELECTION_ROWS_H_

#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> SelectionRows();  // kthvalue, median, mode
std::vector<OpRow> UniqueRows();     // _unique2, unique_consecutive, unique_dim

}  // namespace lathe

#endif  // LATHE_IR_OPS_SORT_SELECTION_ROWS_H_
