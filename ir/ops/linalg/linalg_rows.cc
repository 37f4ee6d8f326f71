#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> LinalgRows() { return {}; }

}  // namespace lathe
