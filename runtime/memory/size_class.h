#ifndef LATHE_RUNTIME_MEMORY_SIZE_CLASS_H_
#define LATHE_RUNTIME_MEMORY_SIZE_CLASS_H_

// Eight sizes between a power of two and the next: a block wastes at most an eighth.

#include <bit>
#include <cstdint>

namespace lathe::memory {

inline constexpr int64_t kAlignment = 64, kTailPadding = 64;
inline constexpr int64_t kHugePage = int64_t{2} << 20;
inline constexpr int64_t kMaxBytes = int64_t{1} << 46;
inline constexpr int kClassCount = 48 * 8;

constexpr int64_t RoundUp(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// The bytes of the block that holds `bytes` and its padding. Requires 0 <= bytes <= kMaxBytes.
constexpr int64_t BlockBytes(int64_t bytes) {
  int64_t n = RoundUp(bytes + kTailPadding, kAlignment);
  if (n < 2 * kAlignment) n = 2 * kAlignment;
  if (n >= kHugePage) n = RoundUp(n, kHugePage);
  const int64_t step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n))) / 8;
  return RoundUp(n, step < kAlignment ? kAlignment : step);
}

// A number below kClassCount that differs for different results of BlockBytes.
constexpr int ClassOf(int64_t block_bytes) {
  const int log = std::bit_width(static_cast<uint64_t>(block_bytes)) - 1;
  return log * 8 + static_cast<int>((block_bytes >> (log - 3)) & 7);
}

}  // namespace lathe::memory

#endif  // LATHE_RUNTIME_MEMORY_SIZE_CLASS_H_
