#ifndef LATHE_CAPTURE_CONSTRAINTS_NEEDS_H_
#define LATHE_CAPTURE_CONSTRAINTS_NEEDS_H_

// What the guards of a program leave of the values that were asked for: exactly where there are
// few enough values to try them all, by ranges, remainders and proofs otherwise.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "capture/constraints/specification.h"
#include "symbolic/shape_env.h"

namespace lathe {

// The asker of the guards that say what was asked for; they are no needs of the program.
inline constexpr absl::string_view kSpecificationAsker = "the specification";

// A symbol that stands for what was asked of one or more dims.
struct AskedSymbol {
  symbolic::Expr expr;
  std::string asked_name;  // of a named dim; "" for auto and dynamic
  DimSpec::Kind kind = DimSpec::Kind::kNamed;
  symbolic::Range asked;    // what was asked for, with 0 or 2 as an open lower end of a size
  symbolic::Range granted;  // the same with what the conditions of the specification say of it
  std::vector<int64_t> allowed;
  std::string place;  // "size 0 of x"
  bool is_scalar = false;
  size_t input = 0, dim = 0;
};

// value = remainder modulo modulus.
struct Congruence {
  int64_t modulus = 1, remainder = 0;
};
// Both; nullopt: they contradict each other, or the modulus leaves 64 bits.
std::optional<Congruence> Combine(const Congruence& a, const Congruence& b);
// What the guards and facts say of `s`, 0 <= remainder < modulus.
Congruence CongruenceOf(const symbolic::ShapeEnv& env, const symbolic::Expr& s);

struct DimNeeds {
  std::optional<int64_t> constant;
  // Of a dim with few values: those that were asked for and those that the program leaves.
  bool is_tried = false;
  std::vector<int64_t> asked, good;
  // Of others.
  symbolic::Range range;
  Congruence congruence;
  // Guards that rule some of its values out: of this dim alone, of others too.
  std::vector<symbolic::Expr> conditions, shared_conditions;
  std::vector<std::string> reasons;
  bool Differs(const AskedSymbol& symbol) const;
};

struct Needs {
  std::vector<DimNeeds> dims;  // one for each symbol
  // Guards that hold for some of the values left only, in order.
  std::vector<symbolic::Guard> relations;
};

// `conditions`: what the specification says of several dims.
Needs NeedsOf(const symbolic::ShapeEnv& env, absl::Span<const AskedSymbol> symbols,
              absl::Span<const symbolic::Expr> conditions);

// first, first + step...: nullopt when the values are no such row.
std::optional<int64_t> StepOf(absl::Span<const int64_t> values);

}  // namespace lathe

#endif  // LATHE_CAPTURE_CONSTRAINTS_NEEDS_H_
