#include <utility>

#include "ir/ops/families.h"
#include "ir/ops/linalg/matrix_types.h"

namespace lathe {

std::vector<OpRow> LinalgRows() {
  std::vector<OpRow> rows;
  for (auto group : {linalg::FactorRows, linalg::SpectrumRows, linalg::IndefiniteRows,
                     linalg::SolveRows, linalg::ComposedRows, linalg::CompositeRows,
                     linalg::CrossRows, linalg::NormRows, linalg::OlderRows}) {
    for (OpRow& row : group()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lathe
