#ifndef LATHE_RUNTIME_EXTERNS_ORDERING_H_
#define LATHE_RUNTIME_EXTERNS_ORDERING_H_

// One order for all element types: as unsigned keys. NaN is above everything and equal to itself,
// -0.0 equals 0.0, as PyTorch sorts.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace lathe {

template <typename T>
double AsDouble(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else {
    return value.ToFloat();
  }
}

// a < b exactly when OrderKey(a) < OrderKey(b). Not for complex numbers, which have no order.
template <typename T>
uint64_t OrderKey(T value) {
  if constexpr (std::is_integral_v<T>) {
    constexpr uint64_t kFlip = std::is_signed_v<T> ? uint64_t{1} << 63 : 0;
    return static_cast<uint64_t>(static_cast<int64_t>(value)) ^ kFlip;
  } else {
    const double number = AsDouble(value) + 0.0;  // -0.0 + 0.0 is 0.0
    if (std::isnan(number)) return std::numeric_limits<uint64_t>::max();
    const auto bits = std::bit_cast<uint64_t>(number);
    return bits >> 63 != 0 ? ~bits : bits | uint64_t{1} << 63;
  }
}

struct KeyAndIndex {
  uint64_t key;
  int64_t index;
  // Ties in order of appearance, so that any sort by this is stable.
  friend bool operator<(const KeyAndIndex& a, const KeyAndIndex& b) {
    return a.key != b.key ? a.key < b.key : a.index < b.index;
  }
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_EXTERNS_ORDERING_H_
