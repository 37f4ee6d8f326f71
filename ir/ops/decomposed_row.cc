#include "ir/ops/decomposed_row.h"

#include <utility>

namespace lathe {

OpRow DecomposedRow(std::string schema, std::string doc, DecomposeFunction decompose,
                    std::vector<std::string> samples) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.decompose = std::move(decompose);
  row.batch = BatchRule::kByDecomposition;
  row.samples = std::move(samples);
  return row;
}

OpRow CompositeRow(std::string schema, std::string doc, DecomposeFunction decompose,
                   std::vector<std::string> samples) {
  OpRow row =
      DecomposedRow(std::move(schema), std::move(doc), std::move(decompose), std::move(samples));
  row.composite = true;
  return row;
}

}  // namespace lathe
