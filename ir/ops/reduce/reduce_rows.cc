#include "ir/ops/families.h"

namespace lathe {

std::vector<OpRow> ReduceRows() { return {}; }

}  // namespace lathe
