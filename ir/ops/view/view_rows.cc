#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> ViewRows() { return {}; }

}  // namespace lathe
