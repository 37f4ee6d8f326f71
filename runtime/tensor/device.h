#ifndef LATHE_RUNTIME_TENSOR_DEVICE_H_
#define LATHE_RUNTIME_TENSOR_DEVICE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace lathe {

// Where a tensor lives: the CPU, or one CUDA device.
struct Device {
  enum class Type : uint8_t { kCpu, kCuda };
  Type type = Type::kCpu;
  int index = 0;
  static Device Cpu() { return {}; }
  static Device Cuda(int index) { return {Type::kCuda, index}; }
  friend bool operator==(const Device&, const Device&) = default;
};

std::string ToString(const Device& device);                 // "cpu", "cuda:0"
std::optional<Device> ParseDevice(absl::string_view text);  // "cuda" is cuda:0

}  // namespace lathe

#endif  // LATHE_RUNTIME_TENSOR_DEVICE_H_
