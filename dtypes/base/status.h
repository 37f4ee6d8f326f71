#ifndef LATHE_DTYPES_BASE_STATUS_H_
#define LATHE_DTYPES_BASE_STATUS_H_

// Status helpers that Abseil 20220623 lacks, and where an error happened in the user's program.
//
//   LATHE_ASSIGN_OR_RETURN(Graph graph, ParseGraph(text));
//   LATHE_RETURN_IF_ERROR(Verify(graph));
//   return InvalidArgument("matmul: inner sizes differ: ", a, " and ", b);
//   return AtNode(status, "%mm", "model.py:41");

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#define LATHE_CONCAT_INNER(a, b) a##b
#define LATHE_CONCAT(a, b) LATHE_CONCAT_INNER(a, b)

#define LATHE_RETURN_IF_ERROR(expression)                               \
  do {                                                                  \
    if (absl::Status lathe_status = (expression); !lathe_status.ok()) { \
      return lathe_status;                                              \
    }                                                                   \
  } while (false)

#define LATHE_ASSIGN_OR_RETURN(target, expression) \
  LATHE_ASSIGN_OR_RETURN_INNER(LATHE_CONCAT(lathe_or_, __LINE__), target, expression)
#define LATHE_ASSIGN_OR_RETURN_INNER(temporary, target, expression) \
  auto temporary = (expression);                                    \
  if (!temporary.ok()) return std::move(temporary).status();        \
  target = *std::move(temporary)

namespace lathe {

template <typename... Parts>
absl::Status InvalidArgument(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status OutOfRange(const Parts&... parts) {
  return absl::OutOfRangeError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status FailedPrecondition(const Parts&... parts) {
  return absl::FailedPreconditionError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status NotFound(const Parts&... parts) {
  return absl::NotFoundError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status DataLoss(const Parts&... parts) {
  return absl::DataLossError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status ResourceExhausted(const Parts&... parts) {
  return absl::ResourceExhaustedError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status Unimplemented(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}
template <typename... Parts>
absl::Status Internal(const Parts&... parts) {
  return absl::InternalError(absl::StrCat(parts...));
}

// Adds the node and the user's source line as payloads. An innermost place already present stays.
absl::Status AtNode(absl::Status status, absl::string_view node, absl::string_view source);
std::string NodeOf(const absl::Status& status);    // "" when none is attached
std::string SourceOf(const absl::Status& status);  // "" when none is attached

// The same status with `prefix: ` before its message, payloads kept.
absl::Status Annotate(const absl::Status& status, absl::string_view prefix);

// "message (at %node, model.py:41)": what a person reads.
std::string Describe(const absl::Status& status);

// The driver's exit code for a status: 0 good, 2 bad usage or input, 3 a limit of lathe,
// 4 a fault in lathe (design §3).
int ExitCode(const absl::Status& status);

}  // namespace lathe

#endif  // LATHE_DTYPES_BASE_STATUS_H_
