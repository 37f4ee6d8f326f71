#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> ControlRows() { return {}; }

}  // namespace lathe
