#ifndef LATHE_DRIVER_PARSE_VALUE_H_
#define LATHE_DRIVER_PARSE_VALUE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "driver/value.h"

namespace lathe::driver {

// A value as a person writes it: "2x3xf32=0.5" (every element), "4xi64=[1,2,3,4]",
// "2x2xf32=[[1,2],[3,4]]", "f32=1.5" (no dimensions), "7", "true", "0.5" (numbers).
// ResourceExhausted for a tensor larger than `largest_bytes`.
absl::StatusOr<Value> ParseValue(absl::string_view text, int64_t largest_bytes);
// The largest is this machine's memory.
absl::StatusOr<Value> ParseValue(absl::string_view text);

}  // namespace lathe::driver

#endif  // LATHE_DRIVER_PARSE_VALUE_H_
