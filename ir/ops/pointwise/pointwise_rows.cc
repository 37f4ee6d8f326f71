#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> PointwiseRows() { return {}; }

}  // namespace lathe
