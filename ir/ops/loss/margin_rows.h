#ifndef LATHE_IR_OPS_LOSS_MARGIN_ROWS_H_
#define LATHE_IR_OPS_LOSS_MARGIN_ROWS_H_

#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> MarginRows();  // multi_margin_loss and distances

}  // namespace lathe

#endif  // LATHE_IR_OPS_LOSS_MARGIN_ROWS_H_
