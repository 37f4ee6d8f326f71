#include <iterator>

#include "dtypes/base/status.h"
#include "ir/ops/families.h"
#include "ir/ops/pointwise/parts.h"
#include "ir/ops/result_rules.h"

namespace lathe {

OpRow LaidOutLikeSelf(OpRow row) {
  row.infer = [infer = std::move(row.infer)](
                  const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
    LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types, infer(c));
    TensorType type = types[0].tensor();
    type.strides = PreservedStrides(c.args.Type(0), c.shapes);
    return std::vector<ValueType>{type};
  };
  return row;
}

std::vector<OpRow> Concatenate(std::vector<std::vector<OpRow>> parts) {
  std::vector<OpRow> rows;
  for (std::vector<OpRow>& part : parts) {
    std::move(part.begin(), part.end(), std::back_inserter(rows));
  }
  return rows;
}

std::vector<OpRow> PointwiseRows() {
  return Concatenate({ArithmeticRows(), CompareRows(), BitwiseRows(), MathRows(), RoundingRows(),
                      ActivationRows(), SelectRows(), CopyRows(), SpecialRows(), AliasRows(),
                      QuantizeRows(), ComplexRows()});
}

}  // namespace lathe
