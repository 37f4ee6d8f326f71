#include "ir/ops/matmul/matmul_rows.h"

#include <utility>

#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> MatmulRows() {
  std::vector<OpRow> rows;
  for (auto group : {ProductRows, AddedRows, MatmulOpRows, ContractionRows, AttentionRows}) {
    for (OpRow& row : group()) rows.push_back(std::move(row));
  }
  return rows;
}

OpRow CompositeProduct(std::string schema, std::string doc, DecomposeFunction decompose,
                       std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.decompose = std::move(decompose);
  row.composite = true;
  row.samples = std::move(samples);
  return row;
}

}  // namespace lathe
