#ifndef LATHE_SYMBOLIC_TREES_FOR_TESTS_H_
#define LATHE_SYMBOLIC_TREES_FOR_TESTS_H_

// Expressions as plain trees with a meaning of their own, computed apart from the library: the
// oracle of the brute-force tests.

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "symbolic/expr.h"

namespace lathe::symbolic {

struct Tree {
  // ExprKinds of integers and booleans, and kinds that have none of their own.
  enum class Op : uint8_t {
    kConst,
    kSymbol,
    kAdd,
    kSub,
    kMul,
    kFloorDiv,
    kMod,
    kCeilDiv,
    kTruncDiv,
    kTruncMod,
    kBitAnd,
    kBitOr,
    kBitXor,
    kMin,
    kMax,
    kAbs,
    kWhere,
    kEq,
    kNe,
    kLt,
    kLe,
    kAnd,
    kOr,
    kNot,
  };
  Op op = Op::kConst;
  int64_t value = 0;  // of a constant; the index of a symbol
  std::vector<Tree> kids;

  static Tree Const(int64_t v) { return {Op::kConst, v, {}}; }
  static Tree Symbol(int64_t index) { return {Op::kSymbol, index, {}}; }
  static Tree Of(Op op, Tree a, Tree b) { return {op, 0, {std::move(a), std::move(b)}}; }
  static Tree Of(Op op, Tree a) { return {op, 0, {std::move(a)}}; }
  static Tree Where(Tree c, Tree a, Tree b) {
    return {Op::kWhere, 0, {std::move(c), std::move(a), std::move(b)}};
  }
  bool is_condition() const { return op >= Op::kEq; }

  Expr Build(absl::Span<const Expr> symbols) const;
  // nullopt: a division by zero anywhere that is reached.
  std::optional<int64_t> At(const int64_t* values) const;
  std::string Text() const;
};

// Random trees as compilers make them: small constants, many quotients and remainders.
class TreeMaker {
 public:
  TreeMaker(uint64_t seed, int symbols) : random_(seed), symbols_(symbols) {}
  int Roll(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
  int64_t SmallConst();
  Tree Integer(int depth);
  Tree Condition(int depth);
  Tree Fact();   // of the kinds that sizes have: bounds, order, divisibility, products
  Tree Claim();  // a condition, often near something that holds

 private:
  Tree Leaf();
  Tree Linear();
  Tree Symbol() { return Tree::Symbol(Roll(symbols_)); }
  std::mt19937_64 random_;
  int symbols_;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_TREES_FOR_TESTS_H_
