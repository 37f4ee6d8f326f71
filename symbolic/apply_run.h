#ifndef LATHE_SYMBOLIC_APPLY_RUN_H_
#define LATHE_SYMBOLIC_APPLY_RUN_H_

// What the parser makes of operators of one level between their operands: "a + b - c".

#include "absl/types/span.h"
#include "symbolic/functions.h"
#include "symbolic/operators.h"

namespace lathe::symbolic {

struct Run {
  int level;                            // of operators.h
  absl::Span<const char* const> texts;  // the operators, one fewer than there are operands
  bool divides_exactly = false;         // "/" makes a fraction, as in SymPy
};

Fraction ApplyPrefix(absl::string_view op, const Fraction& x);
// `x` is used up.
Fraction ApplyRun(ExprContext& context, const Run& run, absl::Span<Fraction> x);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_APPLY_RUN_H_
