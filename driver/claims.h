#ifndef LATHE_DRIVER_CLAIMS_H_
#define LATHE_DRIVER_CLAIMS_H_

// Claims about integers, `assumptions |- claim => answer`.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lathe::driver {

struct ClaimResult {
  std::string answer;                // "true", "false" or "unknown"
  std::string simplified;            // the claim under its assumptions
  std::string expected;              // what the line says after =>, "" when nothing
  std::vector<std::string> reasons;  // the assumptions that the answer rests on, if asked for
  bool mismatched() const { return !expected.empty() && expected != answer; }
};

// Identifiers stand for any integers. InvalidArgument for a line that cannot be read, with the
// column, or whose assumptions contradict each other.
absl::StatusOr<ClaimResult> DecideClaim(absl::string_view line, bool why = false);

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_CLAIMS_H_
