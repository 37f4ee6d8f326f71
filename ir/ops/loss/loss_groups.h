#ifndef LATHE_IR_OPS_LOSS_LOSS_GROUPS_H_
#define LATHE_IR_OPS_LOSS_LOSS_GROUPS_H_

// The groups of rows of this family; loss_rows.cc joins them.

#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> MarginRows();         // multi_margin_loss and distances
std::vector<OpRow> ClassRows();          // cross_entropy_loss, nll_loss_nd
std::vector<OpRow> CompositeLossRows();  // triplet_margin_loss, cosine_embedding_loss... cdist

}  // namespace lathe

#endif  // LATHE_IR_OPS_LOSS_LOSS_GROUPS_H_
