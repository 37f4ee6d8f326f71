#ifndef LATHE_CAPTURE_PT2_AUTOCAST_H_
#define LATHE_CAPTURE_PT2_AUTOCAST_H_

// Regions of an exported program that ran with autocast: torch records the dtypes that came out,
// not the casts of the operands. They are written out, and the region no longer changes anything.
//
//   wrap_with_autocast("cpu", bf16, true, false, @body, [%x, %w])
//     @body:  %y = aten.linear(%x, %w) : bf16[4, 8]          // of f32 operands
//   ->  wrap_with_autocast("cpu", bf16, false, false, @body, [%x, %w])
//     @body:  %a = aten._to_copy(%x, dtype=bf16)  ...  %y = aten.linear(%a, %b) : bf16[4, 8]

#include "absl/status/status.h"
#include "ir/graph/program.h"
#include "ir/ops/registry.h"

namespace lathe {

// `program` is resolved.
absl::Status WriteAutocastCasts(Program& program, const OpRegistry& registry);

}  // namespace lathe

#endif  // LATHE_CAPTURE_PT2_AUTOCAST_H_
