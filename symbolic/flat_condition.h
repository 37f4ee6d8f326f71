#ifndef LATHE_SYMBOLIC_FLAT_CONDITION_H_
#define LATHE_SYMBOLIC_FLAT_CONDITION_H_

// A condition as straight-line code over an array of integers: evaluated without allocation, a
// few nanoseconds an operation. Floats inside, as in "s0 / 2 <= 1.5", are computed as Evaluate
// (evaluate.h) does.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "symbolic/expr.h"

namespace lathe::symbolic {

struct FlatCell {  // a register: a number (of a double its bits), or nothing
  int64_t value;
  bool defined;
};

class FlatCondition {
 public:
  static constexpr uint32_t kMostRegisters = 1 << 16;

  // `slot_of` says where in the array the value of a symbol is. With `equals` the condition is
  // that the integer expression is the value of that slot. nullopt: a symbol without a slot, too
  // many operations.
  static std::optional<FlatCondition> Compile(
      const Expr& e, const std::function<std::optional<uint32_t>(const Expr& symbol)>& slot_of,
      std::optional<uint32_t> equals = std::nullopt);

  // What overflows 64 bits on the way or divides by zero does not hold.
  bool Holds(const int64_t* values) const { return ValueOf(values) == true; }
  // nullopt: undefined there. Allocates only where there are more than kUsualRegisters.
  std::optional<bool> ValueOf(const int64_t* values) const;

 private:
  friend class FlatCompiler;
  static constexpr uint32_t kUsualRegisters = 256;
  std::optional<bool> Run(const int64_t* values, FlatCell* cells) const;
  // registers[to] = kind(a, b, c); of a comparison of an integer with a double c says which is
  // which
  struct Step {
    ExprKind kind;
    bool real;  // a and b are doubles
    uint32_t to, a, b, c;
    int64_t value;  // of a constant; of a double its bits
  };
  std::vector<Step> steps_;
  uint32_t registers_ = 0;
  uint32_t result_ = 0;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_FLAT_CONDITION_H_
