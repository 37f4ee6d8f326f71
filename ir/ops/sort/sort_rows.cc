#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> SortRows() { return {}; }

}  // namespace lathe
