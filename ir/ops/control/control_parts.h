#ifndef LATHE_IR_OPS_CONTROL_CONTROL_PARTS_H_
#define LATHE_IR_OPS_CONTROL_CONTROL_PARTS_H_

#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

// Sizes as values, Python's operators on them, and numbers read out of tensors.
std::vector<OpRow> SizeRows();

}  // namespace lathe

#endif  // LATHE_IR_OPS_CONTROL_CONTROL_PARTS_H_
