#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> NormalizeRows() { return {}; }

}  // namespace lathe
