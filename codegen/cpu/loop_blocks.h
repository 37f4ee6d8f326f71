#ifndef LATHE_CODEGEN_CPU_LOOP_BLOCKS_H_
#define LATHE_CODEGEN_CPU_LOOP_BLOCKS_H_

// Loops in blocks, for stages that read across the rows of a buffer, as transposition does:
//
//   out[4096*i0 + i1] = in[i0 + 4096*i1]
//
// Row after row each vector would fetch a cache line for every lane and use one element of it. In
// blocks of kBlockRows rows and few columns a line's other elements are used while it is near.

#include <cstdint>
#include <optional>

#include "codegen/cpu/stage_plan.h"
#include "ir/loops/kernel_spec.h"

namespace lathe::cpu {

struct LoopBlocks {
  int axis = -1;  // walked in blocks of kBlockRows beside the vector axis
  int columns = 0;
};

inline constexpr int64_t kBlockRows = 64;

// nullopt when nothing is read across rows.
std::optional<LoopBlocks> BlocksOf(const KernelSpec& spec, const SpecStage& stage,
                                   const StagePlan& plan);

}  // namespace lathe::cpu

#endif  // LATHE_CODEGEN_CPU_LOOP_BLOCKS_H_
