#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> PoolRows() { return {}; }

}  // namespace lathe
