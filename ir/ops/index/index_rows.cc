#include "ir/ops/index/index_rows.h"

#include <utility>

#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> IndexRows() {
  std::vector<OpRow> rows;
  for (auto group :
       {AdvancedIndexRows, GatherRows, ScatterRows, JoinRows, RearrangeRows, GridRows, TriangleRows,
        NonzeroRows, SearchRows, PaddingRows, CountRows, HistogramRows, SegmentRows, BagRows}) {
    for (OpRow& row : group()) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace lathe
