#include "ir/ops/resample/resample_rows.h"

#include <utility>

#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> ResampleRows() {
  std::vector<OpRow> rows;
  for (auto group : {UpsampleRows, AntialiasRows, GridSampleRows}) {
    for (OpRow& row : group()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lathe
