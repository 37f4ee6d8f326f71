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

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "symbolic/expr.h"
#include "symbolic/range.h"

namespace lathe::symbolic {

// Where a symbol's value comes from, as data.
struct Source {
  enum class Kind : uint8_t { kNone, kInputSize, kInputStride, kInputOffset, kInputScalar, kItem };
  Kind kind = Kind::kNone;
  int input = -1;      // index among the graph's inputs
  int dimension = -1;  // for sizes and strides
  std::string node;    // kItem: the node whose result binds an unbacked symbol
  static Source InputSize(int input, int dimension);
  static Source InputScalar(int input);
  static Source Item(absl::string_view node);
  std::string ToString() const;  // "size 1 of input 0", "item of %nonzero"
  friend bool operator==(const Source&, const Source&) = default;
};

struct Asker {
  std::string node;
  std::string source_line;
};

struct Guard {
  Expr condition;
  Asker asker;
};

class ShapeEnv {
 public:
  explicit ShapeEnv(std::shared_ptr<ExprContext> context);
  ~ShapeEnv();
  ShapeEnv(ShapeEnv&&);
  ShapeEnv& operator=(ShapeEnv&&);

  ExprContext& context() const;
  const std::shared_ptr<ExprContext>& shared_context() const;

  Expr AddBacked(absl::string_view name, Source source, std::optional<int64_t> hint, Range range);
  Expr AddUnbacked(absl::string_view name, Source source, Range range);
  Expr FreshUnbacked(Source source, Range range);  // u0, u1...: the first free name
  // Every symbol added, in order.
  const std::vector<Expr>& symbols() const;
  const Source& source(const Expr& symbol) const;
  std::optional<int64_t> hint(const Expr& symbol) const;
  void SetHint(const Expr& symbol, int64_t value);

  // Bounds of an expression from the ranges of its symbols and all facts; never wrong, not always
  // tight. A symbol that was never added has the full range.
  Range RangeOf(const Expr& e) const;
  // The largest d known to divide `e` for all values (1 if nothing is known; 0 for e == 0).
  int64_t KnownDivisor(const Expr& e) const;

  // Adds a fact that holds by construction (a precondition, an assertion already placed).
  // OutOfRange when it contradicts what is known, naming both.
  absl::Status AddFact(const Expr& condition);
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

  const std::vector<Guard>& guards() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lathe::symbolic

namespace lathe {
using symbolic::ShapeEnv;
}  // namespace lathe

#endif  // LATHE_SYMBOLIC_SHAPE_ENV_H_
