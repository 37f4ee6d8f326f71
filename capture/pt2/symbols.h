#ifndef LATHE_CAPTURE_PT2_SYMBOLS_H_
#define LATHE_CAPTURE_PT2_SYMBOLS_H_

// The symbols of one exported program: reads expression texts, and adds each symbol to the
// program's ShapeEnv once it is known where its value comes from.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "ir/graph/type.h"
#include "symbolic/shape_env.h"

namespace lathe::pt2 {

class Symbols {
 public:
  explicit Symbols(ShapeEnv* shapes) : shapes_(shapes) {}

  // What the file's range_constraints say.
  void SetRange(const std::string& name, symbolic::Range range) { ranges_[name] = range; }

  // "Symbol('s31', positive=True, integer=True)" and anything else SymPy writes. `hint` is the
  // value that the example inputs gave the whole expression.
  absl::StatusOr<Expr> Parse(absl::string_view text, std::optional<int64_t> hint);

  // Adds the symbols that are a size (or the value) of this input by themselves.
  void BindInput(const ValueType& type, int input);
  // Adds what is left of the symbols that occur in inputs: 2*s0 alone binds s0 too.
  void BindRest(const ValueType& type);
  // Adds the unbacked symbols that first occur in the result of `node`. InvalidArgument for a
  // backed symbol that no input has.
  absl::Status BindResult(const ValueType& type, absl::string_view node);
  bool IsAdded(const Expr& symbol) const { return added_.contains(symbol); }

 private:
  void Add(const Expr& symbol, symbolic::Source source);
  symbolic::Range RangeOf(const Expr& symbol, const symbolic::Source& source) const;

  ShapeEnv* shapes_;
  std::map<std::string, symbolic::Range> ranges_;
  absl::flat_hash_map<std::string, Expr> parsed_;
  absl::flat_hash_map<Expr, int64_t> hints_;
  absl::flat_hash_map<Expr, int64_t> least_;  // what the symbol's own text says: positive=True
  absl::flat_hash_set<Expr> added_;
};

// The expressions inside a type: sizes, strides, offset; or the value.
std::vector<Expr> ExpressionsOf(const ValueType& type);

}  // namespace lathe::pt2

#endif  // LATHE_CAPTURE_PT2_SYMBOLS_H_
