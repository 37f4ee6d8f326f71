#ifndef LATHE_IR_OPS_NORMALIZE_NORMALIZE_ROWS_H_
#define LATHE_IR_OPS_NORMALIZE_NORMALIZE_ROWS_H_

// The groups of rows of this family; normalize_rows.cc joins them. All decompose into reductions
// and pointwise calls, in f32 for narrower floats, so that one loop nest holds a normalization.

#include <vector>

#include "ir/ops/builder.h"
#include "ir/ops/op_row.h"

namespace lathe {

std::vector<OpRow> SoftmaxRows();
std::vector<OpRow> LayerNormRows();  // layer, group, rms and instance norm
std::vector<OpRow> BatchNormRows();
std::vector<OpRow> WeightNormRows();

// Mean and 1 / sqrt(variance + eps) over `dims`, kept as size 1, and the centred input.
struct Moments {
  Value* mean = nullptr;
  Value* rstd = nullptr;
  Value* centered = nullptr;
};
Moments MomentsOf(Builder& b, Value* x, const std::vector<Expr>& dims, double eps);

// A contiguous copy of `x` unless it is contiguous.
Value* Dense(Builder& b, Value* x);

}  // namespace lathe

#endif  // LATHE_IR_OPS_NORMALIZE_NORMALIZE_ROWS_H_
