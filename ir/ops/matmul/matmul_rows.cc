#include "ir/ops/matmul/matmul_rows.h"

#include <utility>

#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> MatmulRows() {
  std::vector<OpRow> rows;
  for (auto group : {ProductRows, AddedRows, MatmulOpRows, ContractionRows, EinsumRows,
                     AttentionRows, FusedAttentionRows}) {
    for (OpRow& row : group()) rows.push_back(std::move(row));
  }
  for (OpRow& row : rows) row.is_product = true;
  return rows;
}

}  // namespace lathe
