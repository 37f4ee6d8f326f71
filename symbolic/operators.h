#ifndef LATHE_SYMBOLIC_OPERATORS_H_
#define LATHE_SYMBOLIC_OPERATORS_H_

// The operators of expressions as text: how strongly each binds and what it makes.

#include "absl/strings/string_view.h"
#include "symbolic/expr.h"
#include "symbolic/lexer.h"

namespace lathe::symbolic {

enum Level {
  kOr = 1,
  kAnd,
  kNot,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kAdd,
  kMul,
  kUnary,
  kPow,
};

struct Operator {
  absl::string_view text;
  int level;
};

// nullptr: the token is no operator.
const Operator* FindOperator(const Token& token);
Expr CompareOf(absl::string_view op, const Expr& a, const Expr& b);
// Of the levels kBitOr to kMul, sums and products apart.
// "//", "%", shifts and bits.
bool TakesIntegers(absl::string_view op);

Expr BinaryOf(absl::string_view op, const Expr& a, const Expr& b);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_OPERATORS_H_
