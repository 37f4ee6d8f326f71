#include "runtime/tensor/device.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace lathe {

std::string ToString(const Device& device) {
  return device.type == Device::Type::kCpu ? "cpu" : absl::StrCat("cuda:", device.index);
}

std::optional<Device> ParseDevice(absl::string_view text) {
  if (text == "cpu") return Device::Cpu();
  if (text == "cuda") return Device::Cuda(0);
  int index = 0;
  // SimpleAtoi alone would admit blanks and signs.
  if (!absl::ConsumePrefix(&text, "cuda:") || text.empty() || text.size() > 4) return std::nullopt;
  if (text.find_first_not_of("0123456789") != absl::string_view::npos) return std::nullopt;
  if (!absl::SimpleAtoi(text, &index)) return std::nullopt;
  return Device::Cuda(index);
}

}  // namespace lathe
