#ifndef LATHE_SYMBOLIC_SIGNS_H_
#define LATHE_SYMBOLIC_SIGNS_H_

// The signs that a polynomial in one unknown takes: "b*b - 8*b + 19" is positive everywhere.

#include <optional>

#include "symbolic/knowledge.h"
#include "symbolic/simplify/polynomial.h"

namespace lathe::symbolic {

struct Signs {
  bool negative = false, zero = false, positive = false;
};

// Over all values of the unknown that its bounds allow; nothing if `p` has several unknowns, is
// linear, or has its last root too far out to try all values up to there.
std::optional<Signs> SignsOf(Knowledge& k, const Polynomial& p);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_SIGNS_H_
