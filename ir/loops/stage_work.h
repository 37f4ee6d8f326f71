#ifndef LATHE_IR_LOOPS_STAGE_WORK_H_
#define LATHE_IR_LOOPS_STAGE_WORK_H_

// How much a kernel will do, which decides how much compiling it deserves. It changes no value.

#include <vector>

#include "ir/loops/kernel_spec.h"

namespace lathe {

// The kernel's outer axes and the stage's own, each once.
std::vector<int> AxesAround(const KernelSpec& spec, const SpecStage& stage);

// Elements that a stage passes over; a size that only a call knows counts as 32.
double ExpectedElements(const KernelSpec& spec, const SpecStage& stage);

// No stage passes over many elements: a fast compilation is worth more than a tenth of its speed.
bool IsSmall(const KernelSpec& spec);

}  // namespace lathe

#endif  // LATHE_IR_LOOPS_STAGE_WORK_H_
