#ifndef LATHE_CAPTURE_PT2_READ_PT2_H_
#define LATHE_CAPTURE_PT2_READ_PT2_H_

// Reads an archive without looking at operators: nodes have no row and keep their arguments as
// written. LoadPt2 (load_pt2.h) resolves them.

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/graph/program.h"

namespace lathe {

struct Pt2Options {
  // Which program of an archive that holds several; "" when there is one.
  std::string model;
};

absl::StatusOr<Program> ReadPt2(const std::string& path, const Pt2Options& options = {});
// From bytes in memory, which are copied.
absl::StatusOr<Program> ReadPt2Bytes(absl::string_view bytes, const Pt2Options& options = {});

}  // namespace lathe

#endif  // LATHE_CAPTURE_PT2_READ_PT2_H_
