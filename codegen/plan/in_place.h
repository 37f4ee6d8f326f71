#ifndef LATHE_CODEGEN_PLAN_IN_PLACE_H_
#define LATHE_CODEGEN_PLAN_IN_PLACE_H_

// Which results are computed where they end up, instead of in a buffer of their own and copied:
//
//   %y = aten.add.Tensor(%x, 1)      // an output that says: %x becomes %y
//
// is one kernel that loads from %x and stores to it, provided that nobody sees the old %x after (or
// in other places of) that kernel. So are scatters into a tensor that nobody reads any more.

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "scheduler/schedule.h"
#include "symbolic/shape_env.h"

namespace lathe {

// Values with buffers (roots) -> the value whose storage they are written to: an input that they
// (or a view of all of them) become, or the base of the scatter that makes them. A scatter whose
// base is (or is written to) the same storage needs no copy.
using InPlaceTargets = absl::flat_hash_map<const Value*, Value*>;

// `roots` knows every view, those without loops too.
InPlaceTargets FindInPlace(const Graph& graph, const Schedule& schedule, const ViewRoots& roots,
                           const ShapeEnv& shapes);

// The kernel with `result`'s buffer being that of `target`: one buffer that is read and written.
void StoreInPlace(ScheduledKernel& kernel, const Value* result, Value* target);

}  // namespace lathe

#endif  // LATHE_CODEGEN_PLAN_IN_PLACE_H_
