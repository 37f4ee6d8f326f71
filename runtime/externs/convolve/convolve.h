#ifndef LATHE_RUNTIME_EXTERNS_CONVOLVE_CONVOLVE_H_
#define LATHE_RUNTIME_EXTERNS_CONVOLVE_CONVOLVE_H_

#include "absl/status/status.h"
#include "runtime/externs/extern.h"
#include "runtime/externs/gemm/kernels.h"

namespace lathe::convolve {

// inputs: x, w and, if a third is defined, a bias [O]; outputs[0] as GeometryOf says. Floats
// accumulate as in matrix products. The bits depend on sizes and values alone.
absl::Status Run(const ExternCall& call, const gemm::KernelTable& table);

}  // namespace lathe::convolve

#endif  // LATHE_RUNTIME_EXTERNS_CONVOLVE_CONVOLVE_H_
