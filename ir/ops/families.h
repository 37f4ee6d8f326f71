#ifndef LATHE_IR_OPS_FAMILIES_H_
#define LATHE_IR_OPS_FAMILIES_H_

// The rows of each folder ir/ops/<family>/. The registry concatenates them (builtin.cc).

#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> PointwiseRows();
std::vector<OpRow> ReduceRows();
std::vector<OpRow> ViewRows();
std::vector<OpRow> IndexRows();
std::vector<OpRow> CreateRows();
std::vector<OpRow> MatmulRows();
std::vector<OpRow> ConvolveRows();
std::vector<OpRow> NormalizeRows();
std::vector<OpRow> PoolRows();
std::vector<OpRow> SortRows();
std::vector<OpRow> ScanRows();
std::vector<OpRow> ControlRows();
std::vector<OpRow> RandomRows();
std::vector<OpRow> RecurrentRows();
std::vector<OpRow> AssertRows();
std::vector<OpRow> LinalgRows();
std::vector<OpRow> LossRows();
std::vector<OpRow> ResampleRows();
std::vector<OpRow> PadRows();

}  // namespace lathe

#endif  // LATHE_IR_OPS_FAMILIES_H_
