#ifndef LATHE_SYMBOLIC_ALL_VALUES_H_
#define LATHE_SYMBOLIC_ALL_VALUES_H_

// Answers by trying all values, where the symbols have few: "0 <= x, x <= 35 |- x | 7 != 9".

#include <optional>

#include "symbolic/expr.h"
#include "symbolic/knowledge.h"

namespace lathe::symbolic {

// The truth of `condition` if it is one for all values that the facts allow, and defined for each;
// nothing if its symbols have more than a few thousand values together.
std::optional<bool> DecideByAllValues(const Knowledge& k, const Expr& condition);

// The facts allow no values at all for the symbols of `condition`, which are few.
bool AllowNoValues(const Knowledge& k, const Expr& condition);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_ALL_VALUES_H_
