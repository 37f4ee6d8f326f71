#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> IndexRows() { return {}; }

}  // namespace lathe
