// Any bytes as a plan, and as the body behind a header that fits: what is accepted can be written
// and read again.

#include <cstdint>
#include <string>

#include "dtypes/base/check.h"
#include "runtime/abi/plan.h"
#include "tests/fuzz/fuzz.h"
#include "xxhash.h"

namespace {

template <typename T>
void Append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string WithHeader(absl::string_view body) {
  std::string bytes = "LATHPLAN";
  Append(bytes, static_cast<uint32_t>(lathe::Plan::kVersion));
  Append(bytes, static_cast<uint64_t>(body.size()));
  Append(bytes, static_cast<uint64_t>(XXH3_64bits(body.data(), body.size())));
  bytes.append(body.data(), body.size());
  return bytes;
}

void Read(absl::string_view bytes) {
  absl::StatusOr<lathe::Plan> plan = lathe::ParsePlan(bytes);
  if (!plan.ok()) return;
  (void)lathe::ToString(*plan);
  std::string written = lathe::SerializePlan(*plan);
  absl::StatusOr<lathe::Plan> again = lathe::ParsePlan(written);
  LATHE_CHECK(again.ok()) << again.status();
  LATHE_CHECK(lathe::SerializePlan(*again) == written);
}

}  // namespace

void FuzzOne(absl::string_view input) {
  Read(input);
  Read(WithHeader(input));
}
