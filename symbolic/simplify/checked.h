#ifndef LATHE_SYMBOLIC_SIMPLIFY_CHECKED_H_
#define LATHE_SYMBOLIC_SIMPLIFY_CHECKED_H_

// 64-bit arithmetic that says when it does not fit.

#include <cstdint>
#include <numeric>
#include <optional>

namespace lathe::symbolic {

inline std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
  return r;
}
inline std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
  return r;
}
// Python's // and % by a positive divisor: always fit.
inline int64_t FloorBy(int64_t a, int64_t d) { return a / d - (a % d < 0); }
inline int64_t ModBy(int64_t a, int64_t d) {
  const int64_t r = a % d;
  return r < 0 ? r + d : r;
}
// 0 and INT64_MIN are safe; the result of gcd(INT64_MIN, 0) does not fit and gives 1.
inline int64_t Gcd(int64_t a, int64_t b) {
  uint64_t x = a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
  uint64_t y = b < 0 ? 0 - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
  const uint64_t g = std::gcd(x, y);
  return g > static_cast<uint64_t>(INT64_MAX) ? 1 : static_cast<int64_t>(g);
}

// Rules that look into nested operands stop here: hostile depth must cost no stack.
class NestingLimit {
 public:
  explicit NestingLimit(int& depth) : depth_(depth) { ++depth_; }
  ~NestingLimit() { --depth_; }
  NestingLimit(const NestingLimit&) = delete;
  NestingLimit& operator=(const NestingLimit&) = delete;
  bool reached() const { return depth_ > 32; }

 private:
  int& depth_;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_SIMPLIFY_CHECKED_H_
