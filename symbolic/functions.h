#ifndef LATHE_SYMBOLIC_FUNCTIONS_H_
#define LATHE_SYMBOLIC_FUNCTIONS_H_

// The functions that expression texts may call.

#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "symbolic/expr.h"

namespace lathe::symbolic {

// A number as SymPy has it: `numerator / denominator`, exact. Elsewhere the denominator is 1.
struct Fraction {
  Expr numerator;
  Expr denominator = 1;
};

// The expression a fraction stands for: the exact quotient of integers if there is one, a true
// division if not.
Expr Resolve(const Fraction& f);
Fraction AddFractions(const Fraction& a, const Fraction& b);
Fraction MultiplyFractions(const Fraction& a, const Fraction& b);
Fraction PowFraction(const Fraction& base, const Fraction& exponent);

struct Function {
  absl::string_view name;
  size_t least_arguments;
  size_t most_arguments;
  // nullptr: the arguments stay what they are, as if the call were not there (ExprCondPair).
  Fraction (*build)(absl::Span<const Fraction> arguments);
  bool of_integers = false;  // takes no floats
};

// lathe's own functions; with `sympy` also those of SymPy and of Python. nullptr: unknown.
const Function* FindFunction(absl::string_view name, bool sympy);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_FUNCTIONS_H_
