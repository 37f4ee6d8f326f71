#ifndef LATHE_RUNTIME_ABI_MEMORY_PACKING_H_
#define LATHE_RUNTIME_ABI_MEMORY_PACKING_H_

#include <cstdint>

#include "absl/types/span.h"

namespace lathe {

struct PackedPiece {
  int64_t size_bytes = 0;
  int32_t first_step = 0, last_step = 0;  // live from the start of one to the end of the other
  int64_t offset_bytes = 0;               // the answer, a multiple of 64
};

// Places pieces so that two that are live together never overlap; returns the bytes needed.
// Largest first, each at the lowest offset that fits (Pisarchyk and Lee, "Efficient memory
// management for deep neural net inference", arXiv:2001.03288: greedy by size).
int64_t PackMemory(absl::Span<PackedPiece> pieces);

// The largest sum of sizes live at one step: what no packing can beat.
int64_t PeakLiveBytes(absl::Span<const PackedPiece> pieces);

}  // namespace lathe

#endif  // LATHE_RUNTIME_ABI_MEMORY_PACKING_H_
