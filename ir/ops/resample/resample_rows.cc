#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> ResampleRows() { return {}; }

}  // namespace lathe
