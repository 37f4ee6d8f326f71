#ifndef LATHE_SYMBOLIC_SIMPLIFY_FLOAT_VALUES_H_
#define LATHE_SYMBOLIC_SIMPLIFY_FLOAT_VALUES_H_

// What float operations give for numbers: one meaning for folding and for evaluation.

#include <cmath>
#include <cstdint>
#include <optional>

#include "symbolic/expr.h"

namespace lathe::symbolic {

// kFloor, kCeil, kTrunc or kRound (half to even) where the result is an int64.
inline std::optional<int64_t> RoundToInteger(ExprKind kind, double value) {
  const double r = kind == ExprKind::kFloor   ? std::floor(value)
                   : kind == ExprKind::kCeil  ? std::ceil(value)
                   : kind == ExprKind::kTrunc ? std::trunc(value)
                                              : std::nearbyint(value);
  if (!(r >= -0x1p63 && r < 0x1p63)) return std::nullopt;
  return static_cast<int64_t>(r);
}

// The quotient of two integers rounded once, as Python's / does it. `long double` holds every
// int64; its division and the narrowing could round twice only for quotients of more than 53 bits.
inline double DivideIntegers(int64_t a, int64_t b) {
  return static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b));
}

// An integer and a double as Python compares them: by their values, without rounding the integer.
// nullopt: NaN.
inline std::optional<int> CompareExactly(__int128 a, double b) {
  if (std::isnan(b)) return std::nullopt;
  if (b >= 0x1p126) return -1;
  if (b <= -0x1p126) return 1;
  const double whole = std::trunc(b);
  const __int128 w = static_cast<__int128>(whole);
  if (a != w) return a < w ? -1 : 1;
  return b > whole ? -1 : b < whole ? 1 : 0;
}

// `order` of two sides as CompareExactly gives it.
inline bool HoldsInOrder(ExprKind kind, std::optional<int> order) {
  switch (kind) {
    case ExprKind::kEq:
      return order == 0;
    case ExprKind::kNe:
      return order != 0;
    case ExprKind::kLt:
      return order && *order < 0;
    default:
      return order && *order <= 0;
  }
}

inline std::optional<int> Opposite(std::optional<int> order) {
  return order ? std::optional<int>(-*order) : order;
}

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_SIMPLIFY_FLOAT_VALUES_H_
