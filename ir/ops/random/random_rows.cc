#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> RandomRows() { return {}; }

}  // namespace lathe
