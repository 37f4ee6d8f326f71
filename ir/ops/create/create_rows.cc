#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> CreateRows() { return {}; }

}  // namespace lathe
