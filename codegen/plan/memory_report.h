#ifndef LATHE_CODEGEN_PLAN_MEMORY_REPORT_H_
#define LATHE_CODEGEN_PLAN_MEMORY_REPORT_H_

// The arena that one call of a plan needs, for sizes known before it runs.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/graph/program.h"
#include "runtime/abi/memory_packing.h"
#include "runtime/abi/plan.h"

namespace lathe {

struct ArenaReport {
  std::vector<ReserveStep::Piece> pieces;
  std::vector<PackedPiece> packed;  // of the same pieces
  int64_t peak_bytes = 0;           // of the packed arena
  int64_t live_bytes = 0;           // the largest sum of pieces live at one step
};

struct MemoryReport {
  std::vector<ArenaReport> arenas;  // one a Reserve of the main plan
  std::vector<std::string> sizes;   // "s0 = 8 (hint)": what the figures are for
  // Not empty: why arenas after the last one could not be sized (a size known only at run time).
  std::string incomplete;
};

// Sizes are the symbols' hints, or the smallest that their range allows from 4 upwards.
absl::StatusOr<MemoryReport> ReportMemory(const Plan& plan, const Program& program);

// Peak, largest live sum and ratio of each arena, then its pieces.
std::string ToString(const MemoryReport& report);

}  // namespace lathe

#endif  // LATHE_CODEGEN_PLAN_MEMORY_REPORT_H_
