#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> MatmulRows() { return {}; }

}  // namespace lathe
