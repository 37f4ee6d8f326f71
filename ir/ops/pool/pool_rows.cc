#include "ir/ops/pool/pool_rows.h"

#include <utility>

#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> PoolRows() {
  std::vector<OpRow> rows;
  for (auto group : {MaxPoolRows, AveragePoolRows, AdaptivePoolRows, UnpoolRows}) {
    for (OpRow& row : group()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lathe
