#ifndef LATHE_CODEGEN_TILE_KERNEL_COMPILER_H_
#define LATHE_CODEGEN_TILE_KERNEL_COMPILER_H_

#include "absl/status/statusor.h"
#include "codegen/tile/program.h"
#include "ir/loops/kernel_spec.h"

namespace lathe::tile {

// Chooses the loops of each stage, compiles them and lays out locals.
absl::StatusOr<KernelProgram> CompileKernel(const KernelSpec& spec, int64_t largest_tile);

}  // namespace lathe::tile

#endif  // LATHE_CODEGEN_TILE_KERNEL_COMPILER_H_
