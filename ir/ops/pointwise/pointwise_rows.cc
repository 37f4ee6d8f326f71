#include <iterator>

#include "ir/ops/families.h"
#include "ir/ops/pointwise/parts.h"

namespace lathe {

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
