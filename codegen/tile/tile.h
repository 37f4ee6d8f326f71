#ifndef LATHE_CODEGEN_TILE_TILE_H_
#define LATHE_CODEGEN_TILE_TILE_H_

// The tile tier: kernels that run at once, without a compiler, as precompiled loops over tiles that
// stay in the first-level cache.
//
//   LATHE_ASSIGN_OR_RETURN(std::shared_ptr<const Kernel> kernel, CompileTile(spec));
//   int32_t code = kernel->Call(args);
//
// Results are the same bits on every vector width, for every cut of axis 0, and those of native
// code; but for vector math they are those of EvaluateSpec.

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "ir/loops/kernel_spec.h"
#include "runtime/abi/kernel_interface.h"

namespace lathe {

// Compiles in microseconds for the vector target of this machine. Unimplemented names what the
// interpreter lacks (float index expressions that depend on an axis, ...); Internal for a spec
// that breaks its invariants. The kernel keeps nothing of `spec`. Tiles have at
// most `largest_tile` elements, a power of two from 64 to 1024: results do not depend on it.
absl::StatusOr<std::shared_ptr<const Kernel>> CompileTile(const KernelSpec& spec,
                                                          int64_t largest_tile = 1024);

}  // namespace lathe

#endif  // LATHE_CODEGEN_TILE_TILE_H_
