#ifndef LATHE_RUNTIME_EXTERNS_CONVOLVE_PLAIN_H_
#define LATHE_RUNTIME_EXTERNS_CONVOLVE_PLAIN_H_

// Convolution as its definition reads: taps outside of the input are left out. The fast loops
// multiply zeros there, which differs for weights that are not finite (0 * inf is NaN).

#include "absl/status/status.h"
#include "runtime/externs/convolve/geometry.h"
#include "runtime/externs/extern.h"

namespace lathe::convolve {

// Whether an element of floats is infinite or NaN.
bool HasNonFinite(const Tensor& t);

// All of the output, then the call's epilogue.
absl::Status RunPlain(const ExternCall& call, const Geometry& g);

}  // namespace lathe::convolve

#endif  // LATHE_RUNTIME_EXTERNS_CONVOLVE_PLAIN_H_
