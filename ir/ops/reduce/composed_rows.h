#ifndef LATHE_IR_OPS_REDUCE_COMPOSED_ROWS_H_
#define LATHE_IR_OPS_REDUCE_COMPOSED_ROWS_H_

// Reductions that decompose into others; reduce_rows.cc joins them.

#include <vector>

#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> ComposedReductionRows();  // variance, norms, logsumexp...
std::vector<OpRow> QuantileRows();           // quantile, nanquantile
std::vector<OpRow> StatisticsRows();         // cov, corrcoef, trapezoid...
std::vector<OpRow> GradientRows();           // gradient

}  // namespace lathe

#endif  // LATHE_IR_OPS_REDUCE_COMPOSED_ROWS_H_
