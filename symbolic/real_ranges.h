#ifndef LATHE_SYMBOLIC_REAL_RANGES_H_
#define LATHE_SYMBOLIC_REAL_RANGES_H_

// Bounds of floats over sizes, of what is known of the sizes.

#include <limits>

#include "symbolic/expr.h"
#include "symbolic/knowledge.h"

namespace lathe::symbolic {

struct RealRange {
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
  bool may_be_nan = true;
};

// Of a float or an integer expression.
RealRange RealRangeOf(Knowledge& k, const Expr& e);

// Of a rounded float: kFloor, kCeil, kTrunc or kRound.
Range RangeOfRounded(Knowledge& k, const Expr& e);

// The truth of a comparison of which a side is a float.
std::optional<bool> ByRealBounds(Knowledge& k, const Expr& comparison);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_REAL_RANGES_H_
