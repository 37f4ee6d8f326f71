#ifndef LATHE_SCHEDULER_KERNELS_FINISH_SPEC_H_
#define LATHE_SCHEDULER_KERNELS_FINISH_SPEC_H_

// Turns a recorded loop nest into the spec that is compiled: adjacent axes collapse, the vector
// axis is chosen, symbols are collected, the grain is set, the name is the hash.

#include "ir/loops/kernel_spec.h"
#include "symbolic/shape_env.h"

namespace lathe {

// Axes that every index treats as one (i0*n + i1) become one, so that loops are as long as they
// can be. Never merges across outer/inner, kinds, or axis 0 when `keep_first`.
void CollapseAxes(KernelSpec& spec, ExprContext& context, bool keep_first);

// Reductions over an axis that loads step across, while the last outer axis is contiguous: that
// axis moves inside, so that columns are reduced a vector at a time.
void PreferContiguousVectorAxis(KernelSpec& spec);

// spec.symbols, grain and the name under which it is compiled (lift_offsets.h). `hint` gives sizes
// to estimate work with.
void FinishSpec(KernelSpec& spec, const ShapeEnv& shapes);

}  // namespace lathe

#endif  // LATHE_SCHEDULER_KERNELS_FINISH_SPEC_H_
