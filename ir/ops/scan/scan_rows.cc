#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> ScanRows() { return {}; }

}  // namespace lathe
