#include "symbolic/operators.h"

namespace lathe::symbolic {
namespace {

constexpr Operator kOperators[] = {
    {"or", kOr},      {"and", kAnd},   {"==", kCompare}, {"!=", kCompare}, {"<", kCompare},
    {"<=", kCompare}, {">", kCompare}, {">=", kCompare}, {"|", kBitOr},    {"^", kBitXor},
    {"&", kBitAnd},   {"<<", kShift},  {">>", kShift},   {"+", kAdd},      {"-", kAdd},
    {"*", kMul},      {"//", kMul},    {"%", kMul},      {"/", kMul},      {"**", kPow},
};

}  // namespace

const Operator* FindOperator(const Token& token) {
  if (token.kind != Token::kPunctuation && token.kind != Token::kName) return nullptr;
  for (const Operator& o : kOperators) {
    if (o.text == token.text) return &o;
  }
  return nullptr;
}

bool TakesIntegers(absl::string_view op) {
  for (const absl::string_view one : {"//", "%", "|", "^", "&", "<<", ">>"}) {
    if (op == one) return true;
  }
  return false;
}

Expr CompareOf(absl::string_view op, const Expr& a, const Expr& b) {
  if (op == "==") return Eq(a, b);
  if (op == "!=") return Ne(a, b);
  if (op == "<") return Lt(a, b);
  if (op == "<=") return Le(a, b);
  if (op == ">") return Gt(a, b);
  return Ge(a, b);
}

Expr BinaryOf(absl::string_view op, const Expr& a, const Expr& b) {
  if (op == "//") return FloorDiv(a, b);
  if (op == "%") return Mod(a, b);
  if (op == "/") return TrueDiv(a, b);
  if (op == "|") return BitOr(a, b);
  if (op == "^") return BitXor(a, b);
  if (op == "&") return BitAnd(a, b);
  if (op == "<<") return ShiftLeft(a, b);
  return ShiftRight(a, b);
}

}  // namespace lathe::symbolic
