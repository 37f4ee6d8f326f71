#ifndef LATHE_CODEGEN_CPU_MEMORY_HINTS_H_
#define LATHE_CODEGEN_CPU_MEMORY_HINTS_H_

// What a kernel may tell the memory system. It changes no value.
//
// A result larger than the caches is stored past them (ir/loops/streamed_results.h). A kernel that
// passes over each row several times asks for the next row during its last long stage: otherwise
// memory idles while it computes.

#include <string>
#include <vector>

#include "codegen/cpu/expression_text.h"
#include "ir/loops/kernel_spec.h"

namespace lathe::cpu {

struct MemoryHints {
  // By buffer: C++ text of its bytes when it may be large enough to stream; "" never.
  std::vector<std::string> stream_bytes;
  struct Prefetch {
    int stage;   // that asks
    int buffer;  // what it reads
    Expr index;  // of the next row
  };
  std::vector<Prefetch> prefetches;
};

// How far ahead a reduction over packed elements asks for them: it keeps up with the memory only if
// the memory never waits for it.
inline constexpr int64_t kPackedAheadBytes = 4096;
inline constexpr int64_t kGroupAheadBytes = 512;

absl::StatusOr<MemoryHints> HintsFor(const KernelSpec& spec, int vector_bytes,
                                     const SymbolNames& names);

}  // namespace lathe::cpu

#endif  // LATHE_CODEGEN_CPU_MEMORY_HINTS_H_
