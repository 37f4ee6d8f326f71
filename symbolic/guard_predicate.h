#ifndef LATHE_SYMBOLIC_GUARD_PREDICATE_H_
#define LATHE_SYMBOLIC_GUARD_PREDICATE_H_

// All guards of one program as one flat predicate over the integers of a call, packed by the
// caller in an order of its choice: sizes, strides, offsets, scalars.
//
//   const std::vector<Source> layout = {Source::InputSize(0, 0), Source::InputStride(0, 0)};
//   absl::StatusOr<GuardPredicate> guards = GuardPredicate::Compile(env, layout);
//   guards->Holds(values);     // no allocation, no lock
//   guards->Failure(values);   // "size 0 of input 0 is 3, the program was made for 4"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "symbolic/flat_condition.h"
#include "symbolic/shape_env.h"

namespace lathe::symbolic {

class GuardPredicate {
 public:
  // Checks bindings, ranges of backed symbols and guards; a guard that the others imply is left
  // out. A symbol that has no place of its own in `layout` is solved for where a size is an
  // integer times it plus what is known ("2*b + 1"). InvalidArgument when a guard needs any other.
  static absl::StatusOr<GuardPredicate> Compile(const ShapeEnv& env,
                                                absl::Span<const Source> layout);

  // `values` has as many integers as the layout. What divides by zero does not hold, nor does what
  // leaves 128 bits on the way; what leaves 64 bits is evaluated once more, by evaluate.h.
  bool Holds(const int64_t* values) const;
  // The first condition that does not hold, in words; nullopt when all do.
  std::optional<std::string> Failure(const int64_t* values) const;

  // The guards that are checked by evaluation: not seen by the flat comparisons.
  const std::vector<Guard>& general_guards() const { return guards_; }
  size_t dropped_guards() const { return dropped_; }

 private:
  friend class PredicateBuilder;
  struct Equal {  // values[slot] == values[of], of each
    uint32_t of;
    std::vector<uint32_t> slots;
  };
  struct Product {  // values[a] == values[b] * values[c]
    uint32_t a, b, c;
  };
  struct InRange {
    uint32_t slot;
    int64_t lower, upper;
  };
  struct Program {
    FlatCondition flat;
    Expr condition;                             // the same
    absl::flat_hash_map<Expr, uint32_t> slots;  // of its symbols
    std::optional<uint32_t> equals;             // the condition is a number: that of this slot
  };
  bool ConstantsHold(const int64_t* values) const;
  static bool HoldsOf(const Program& program, const int64_t* values);
  static bool HoldsInWideNumbers(const Program& program, const int64_t* values);

  std::vector<Source> layout_;
  // (values[i] ^ expected_[i]) & mask_[i] is 0 for all i: one pass without branches.
  std::vector<int64_t> expected_, mask_;
  std::vector<Equal> equals_;
  std::vector<Product> products_;
  std::vector<InRange> ranges_;
  std::vector<Program> programs_;  // one for each of guards_
  std::vector<Guard> guards_;
  std::shared_ptr<ExprContext> context_;  // of their expressions
  size_t dropped_ = 0;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_GUARD_PREDICATE_H_
