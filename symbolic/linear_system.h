#ifndef LATHE_SYMBOLIC_LINEAR_SYSTEM_H_
#define LATHE_SYMBOLIC_LINEAR_SYSTEM_H_

// Linear inequalities over integer unknowns, and whether they contradict each other.
// Fourier-Motzkin elimination with integer tightening, within fixed limits: `true` is a proof,
// `false` says nothing.

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

namespace lathe::symbolic {

struct Inequality {  // sum of coefficient * unknown + constant >= 0
  struct Entry {
    int unknown;
    int64_t coefficient;
    friend bool operator==(const Entry&, const Entry&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Entry& e) {
      return H::combine(std::move(h), e.unknown, e.coefficient);
    }
  };
  absl::InlinedVector<Entry, 4> entries;  // by unknown, none 0
  int64_t constant = 0;
};

class LinearSystem {
 public:
  // Unsorted entries of distinct unknowns are fine.
  void Add(Inequality inequality);
  size_t size() const { return rows_.size(); }
  bool IsInfeasible();

 private:
  bool Insert(Inequality inequality);  // false: a contradiction
  int CheapestUnknown() const;
  bool Eliminate(int unknown);  // false: a contradiction or a limit, see contradiction_

  std::vector<Inequality> rows_;
  using Key = absl::InlinedVector<Inequality::Entry, 4>;
  absl::flat_hash_map<Key, size_t> row_of_;  // by coefficients: the tightest constant is kept
  bool contradiction_ = false;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_LINEAR_SYSTEM_H_
