#ifndef LATHE_SYMBOLIC_SHAPE_ENV_H_
#define LATHE_SYMBOLIC_SHAPE_ENV_H_

// What is known of the symbols of one program: ranges, sources, hints, equalities, divisibility;
// and the three questions that a compiler asks about sizes (design §3).
//
//   ShapeEnv env(context);
//   Expr s0 = env.AddBacked("s0", Source::InputSize(0, 1), /*hint=*/8, {2, 64});
//   env.IsKnownTrue(Ge(s0, 2));                    // true, and no guard is made
//   env.GuardTrue(Lt(s0, 16), {"%add", "m.py:3"}); // true by the hint, records a guard
//   env.TrueOrDefault(Eq(u0, 1), false, asker);    // unbacked: the default, no guard

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "symbolic/expr.h"
#include "symbolic/range.h"
#include "symbolic/source.h"

namespace lathe::symbolic {

// A condition on the inputs under which the program was made; another input needs another program.
struct Guard {
  Expr condition;
  Asker asker;
  Expr asked = 0;  // as it was asked, before facts turned it into one on backed symbols
};

// What the running program checks, once all unbacked symbols of it are bound.
struct Assertion {
  Expr condition;
  Asker asker;
  std::string message;  // the user's own words, may be empty
};

enum class Origin : uint8_t { kRange, kPrecondition, kGuard, kAssertion };
struct KnownFact {
  Expr condition;
  Origin origin = Origin::kPrecondition;
  Asker asker;
  // "2 <= s0: range of size 0 of input 0", "s0 < 16: guard (asked by %add at m.py:3)"
  std::string text;
};

// What is asked of one dimension of an input, or of an integer input.
enum class DimPolicy : uint8_t {
  kStatic,    // the example value, a constant
  kDuck,      // a symbol, the same one as for an equal example value of this policy
  kDynamic,   // a symbol of its own
  kUnbacked,  // a symbol without example: nothing about it becomes a guard, its range is asserted
};
struct DimChoice {
  DimPolicy policy = DimPolicy::kDuck;
  bool specialize_zero_one = true;  // 0 and 1 become constants, the others start at 2
  Range range = {0, Range::kMax};
};

// A number that the caller passes and what the program takes it to be.
struct Binding {
  Source source;
  Expr value;
};

class ShapeEnv {
 public:
  explicit ShapeEnv(std::shared_ptr<ExprContext> context);
  ~ShapeEnv();
  ShapeEnv(ShapeEnv&&);
  ShapeEnv& operator=(ShapeEnv&&);

  ExprContext& context() const;
  const std::shared_ptr<ExprContext>& shared_context() const;

  // A name that a number of another source has already becomes "name_1", "name_2"...; of the same
  // source: what is said here replaces what was said before.
  Expr AddBacked(absl::string_view name, Source source, std::optional<int64_t> hint, Range range);
  Expr AddUnbacked(absl::string_view name, Source source, Range range);
  Expr FreshUnbacked(Source source, Range range);  // u0, u1...: the first free name
  // Every symbol added, in order.
  const std::vector<Expr>& symbols() const;
  const Source& source(const Expr& symbol) const;
  std::optional<int64_t> hint(const Expr& symbol) const;
  void SetHint(const Expr& symbol, int64_t value);

  // The size (stride, offset, scalar) of an input whose example value is `example`. OutOfRange
  // when the example is outside choice.range.
  absl::StatusOr<Expr> BindInput(Source source, int64_t example, const DimChoice& choice);
  // The strides of an input whose sizes are bound: relative to its sizes where the example allows
  // ("s1*s2"), the example itself otherwise.
  std::vector<Expr> BindStrides(int input, absl::Span<const Expr> sizes,
                                absl::Span<const int64_t> example_strides);
  // States that a number of the caller is `value`, made of symbols that exist already.
  void Bind(Source source, const Expr& value);
  // What the three above made, in order.
  const std::vector<Binding>& bindings() const;

  // Bounds of an expression from the ranges of its symbols and all facts; never wrong, not always
  // tight. A symbol that was never added has the full range.
  Range RangeOf(const Expr& e) const;
  // The largest d known to divide `e` for all values (1 if nothing is known; 0 for e == 0).
  int64_t KnownDivisor(const Expr& e) const;

  // Adds a fact that holds by construction (a precondition, an assertion already placed).
  // OutOfRange when it contradicts what is known, naming both.
  absl::Status AddFact(const Expr& condition, const Asker& asker = {});
  const std::vector<Expr>& facts() const;

  // Rewrites with the facts: equal symbols replaced, ranges and divisibility used.
  Expr Simplify(const Expr& e) const;

  bool IsKnownTrue(const Expr& condition) const;
  bool IsKnownFalse(const Expr& condition) const;
  bool IsKnownEqual(const Expr& a, const Expr& b) const;
  // Decides with the hints and records a guard unless the answer is already known. On unbacked
  // symbols: FailedPrecondition naming the expression and the asker.
  absl::StatusOr<bool> GuardTrue(const Expr& condition, const Asker& asker);
  // Guards if backed, otherwise gives the default.
  bool TrueOrDefault(const Expr& condition, bool default_value, const Asker& asker);

  // The program states that `condition` holds. On backed symbols it becomes a guard (unless known;
  // false for the hints: FailedPrecondition with the message), on unbacked ones an assertion that
  // the program runs. Either way it is a fact from now on. OutOfRange when it cannot hold.
  absl::Status Check(const Expr& condition, const Asker& asker, absl::string_view message = "");

  const std::vector<Guard>& guards() const;
  // All of Check's, in order.
  const std::vector<Assertion>& assertions() const;
  // `unbacked` has its value from here on in the program.
  void MarkBound(const Expr& unbacked);
  // Assertions whose unbacked symbols are all bound and that were not taken before.
  std::vector<Assertion> TakeReadyAssertions();

  // No more guards: who would need one gets FailedPrecondition (or the default).
  void Freeze();
  bool frozen() const;
  // Grows with every fact; an answer other than "unknown" never changes.
  int64_t version() const;

  // Ranges of symbols as they were given, preconditions, guards and assertions, in order.
  std::vector<KnownFact> history() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lathe::symbolic

namespace lathe {
using symbolic::ShapeEnv;
}  // namespace lathe

#endif  // LATHE_SYMBOLIC_SHAPE_ENV_H_
