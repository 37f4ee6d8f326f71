#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> ConvolveRows() { return {}; }

}  // namespace lathe
