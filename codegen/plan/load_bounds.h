#ifndef LATHE_CODEGEN_PLAN_LOAD_BOUNDS_H_
#define LATHE_CODEGEN_PLAN_LOAD_BOUNDS_H_

// Does a kernel read only what its buffers hold? Type rules accept sizes that are not known to
// differ (s0 + s1); what is not proved here becomes an assertion of the plan, so that a call with
// sizes that do not fit is refused instead of reading past a buffer.

#include <vector>

#include "scheduler/schedule.h"
#include "symbolic/shape_env.h"

namespace lathe {

struct BoundsCondition {
  const Value* buffer = nullptr;
  Expr condition;  // over the program's symbols
};

// Of unmasked loads whose index is affine in the axes. Masked ones check themselves, indexes from
// data are checked by the kernel.
std::vector<BoundsCondition> UnprovedBounds(const ScheduledKernel& kernel, const ShapeEnv& shapes);

}  // namespace lathe

#endif  // LATHE_CODEGEN_PLAN_LOAD_BOUNDS_H_
