#ifndef LATHE_IR_OPS_POINTWISE_PARTS_H_
#define LATHE_IR_OPS_POINTWISE_PARTS_H_

// The files of this family, each a list of rows.

#include <vector>

#include "ir/ops/op_row.h"
#include "ir/ops/pointwise/pointwise.h"

namespace lathe {

std::vector<OpRow> ArithmeticRows();
std::vector<OpRow> CompareRows();
std::vector<OpRow> BitwiseRows();
std::vector<OpRow> MathRows();
std::vector<OpRow> RoundingRows();
std::vector<OpRow> ActivationRows();
std::vector<OpRow> SelectRows();
std::vector<OpRow> CopyRows();
std::vector<OpRow> SpecialRows();
std::vector<OpRow> AliasRows();
std::vector<OpRow> QuantizeRows();
std::vector<OpRow> ComplexRows();

// Of one tensor, where eager makes the result with empty_like: the strides of sizes below 2 too.
OpRow LaidOutLikeSelf(OpRow row);

std::vector<OpRow> Concatenate(std::vector<std::vector<OpRow>> parts);

}  // namespace lathe

#endif  // LATHE_IR_OPS_POINTWISE_PARTS_H_
