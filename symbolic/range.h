#ifndef LATHE_SYMBOLIC_RANGE_H_
#define LATHE_SYMBOLIC_RANGE_H_

// Interval arithmetic. Values are mathematical integers; a bound that leaves 64 bits becomes
// infinite, so every operation is sound and none wraps.

#include <cstdint>

#include "absl/types/span.h"

namespace lathe::symbolic {

enum class ExprKind : uint8_t;  // symbolic/expr.h

// Bounds of an integer, both ends included; the extremes of int64 stand for infinities.
struct Range {
  static constexpr int64_t kMin = INT64_MIN, kMax = INT64_MAX;
  int64_t lower = kMin;
  int64_t upper = kMax;
  bool empty() const { return lower > upper; }
  bool Contains(int64_t v) const { return lower <= v && v <= upper; }
  friend bool operator==(const Range&, const Range&) = default;
};

Range Intersect(const Range& a, const Range& b);
Range Union(const Range& a, const Range& b);

Range operator+(const Range& a, const Range& b);
Range operator-(const Range& a, const Range& b);
Range operator*(const Range& a, const Range& b);
Range FloorDivRange(const Range& a, const Range& b);  // where b is not 0
Range ModRange(const Range& a, const Range& b);
Range PowRange(const Range& base, const Range& exponent);

// The bounds of `kind` applied to operands within `operands`, whenever it is defined. Booleans
// are 0 and 1. Float kinds give the full range. Operands of a kAdd with constant coefficients are
// seen as independent.
Range RangeOfOperation(ExprKind kind, absl::Span<const Range> operands);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_RANGE_H_
