#ifndef LATHE_CODEGEN_PLAN_LOAD_BOUNDS_H_
#define LATHE_CODEGEN_PLAN_LOAD_BOUNDS_H_

// Does a kernel touch only what its buffers hold? Type rules accept sizes that are not known to
// differ (s0 + s1); what is not proved here becomes an assertion of the plan, so that a call with
// sizes that do not fit is refused instead of reading or writing past a buffer.

#include <utility>
#include <vector>

#include "ir/graph/call_classes.h"
#include "scheduler/schedule.h"
#include "symbolic/shape_env.h"

namespace lathe {

struct BoundsCondition {
  const Value* buffer = nullptr;
  Expr condition;  // over the program's symbols
};

// `assumed`: conditions that the plan asserts anyway, so what follows from their equalities is left
// out.
std::vector<BoundsCondition> UnprovedBounds(const ScheduledKernel& kernel, const ShapeEnv& shapes,
                                            const std::vector<Expr>& assumed = {});

// UnprovedBounds, found once for launches alike: of one spec, on buffers of the same types.
class KnownBounds {
 public:
  // `number` is equal for equal specs; an `assumed` of the same length is the same.
  std::vector<BoundsCondition> Of(const ScheduledKernel& kernel, int32_t number,
                                  const ShapeEnv& shapes, const std::vector<Expr>& assumed);

 private:
  using Known = std::vector<std::pair<size_t, Expr>>;  // which of the buffers, and the condition
  CallWords words_;
  WordClasses classes_;
  std::vector<Known> known_;  // by class
};

}  // namespace lathe

#endif  // LATHE_CODEGEN_PLAN_LOAD_BOUNDS_H_
