#ifndef LATHE_CAPTURE_PT2_LOAD_PT2_H_
#define LATHE_CAPTURE_PT2_LOAD_PT2_H_

// Reads what torch.export.save wrote, now or before PyTorch 2.8.
//
//   absl::StatusOr<Program> program = LoadPt2("model.pt2", OpRegistry::Builtin());
//
// The file is mapped; weights stay where they are in it, and what a program writes into them stays
// in memory. Nothing in the file is trusted or executed.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "capture/pt2/read_pt2.h"
#include "ir/graph/program.h"
#include "ir/ops/registry.h"

namespace lathe {

// Operators are resolved with `registry`; unknown ones are reported all at once (Unimplemented).
absl::StatusOr<Program> LoadPt2(const std::string& path, const OpRegistry& registry,
                                const Pt2Options& options = {});
// The same from bytes in memory, which are copied.
absl::StatusOr<Program> LoadPt2Bytes(absl::string_view bytes, const OpRegistry& registry,
                                     const Pt2Options& options = {});

}  // namespace lathe

#endif  // LATHE_CAPTURE_PT2_LOAD_PT2_H_
