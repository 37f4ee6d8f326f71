#ifndef LATHE_SYMBOLIC_PARTIAL_RANGES_H_
#define LATHE_SYMBOLIC_PARTIAL_RANGES_H_

// Ranges of sums and products of symbols that share an array of operands: partial results are kept
// from its begin on, so that the range of a sum with a symbol more, or of what is left of a long
// one, takes the same time however many symbols there are.

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolic/expr.h"
#include "symbolic/range.h"

namespace lathe::symbolic {

// Exact until it is asked for.
class SumOfRanges {
 public:
  void Add(const Range& r) {
    if (r.lower == Range::kMin) {
      ++endless_below_;
    } else {
      lower_ += r.lower;
    }
    if (r.upper == Range::kMax) {
      ++endless_above_;
    } else {
      upper_ += r.upper;
    }
  }
  // Of what was added since `before`.
  Range Since(const SumOfRanges& before) const;
  Range Get() const { return Since({}); }
  // No bound is left, whatever else is added.
  bool IsUnbounded() const { return endless_below_ > 0 && endless_above_ > 0; }

 private:
  __int128 lower_ = 0, upper_ = 0;
  int64_t endless_below_ = 0, endless_above_ = 0;
};

class PartialRanges {
 public:
  using BoundOf = std::function<Range(const Expr& symbol)>;

  // What is derived is left behind: who copies what is known wants another future for it.
  PartialRanges() = default;
  PartialRanges(const PartialRanges&) {}
  PartialRanges& operator=(const PartialRanges&) = delete;

  // Whether partial results are kept for `e`.
  static bool IsFor(const Expr& e) {
    const bool is_product = e.kind() == ExprKind::kMul;
    // Quotients of products do not have the quotients of their ranges.
    return is_product ? e.node()->growable && e.node()->array_offset == 0
                      : e.node()->growable || e.node()->array_offset > 0;
  }
  // `e` is a sum or product of symbols; bounds may differ from those of the last call if `version`
  // does.
  Range Of(const Expr& e, int64_t version, const BoundOf& bound_of);

 private:
  struct Array {
    int64_t version = -1;
    std::vector<SumOfRanges> sums;  // [i]: of the first i operands
    std::vector<Range> products;
  };
  absl::flat_hash_map<const Expr*, Array> arrays_;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_PARTIAL_RANGES_H_
