#include "ir/ops/view/view_rows.h"

#include <utility>

#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> ViewRows() {
  std::vector<OpRow> rows;
  for (auto group : {ReshapeRows, PermuteRows, ExpandRows, SliceRows, SplitRows, StridedRows,
                     ViewScatterRows, ViewCopyRows, ResizeRows, ComposedViewRows}) {
    for (OpRow& row : group()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lathe
