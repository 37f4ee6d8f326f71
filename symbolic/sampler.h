#ifndef LATHE_SYMBOLIC_SAMPLER_H_
#define LATHE_SYMBOLIC_SAMPLER_H_

// Looks for values that make a condition true, and for some that make it false: what was seen to
// be possible need not be disproved in vain. A few evaluations against a search for a proof.

#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "symbolic/expr.h"
#include "symbolic/knowledge.h"

namespace lathe::symbolic {

// Leaves are not counted.
bool HasMoreNodesThan(size_t limit, const Expr& root);

class Sampler {
 public:
  explicit Sampler(Knowledge& knowledge) : k_(knowledge) {}

  struct Outcomes {
    bool can_be_true = false;  // seen with all facts holding
    bool can_be_false = false;
  };
  Outcomes Try(const Expr& condition);

 private:
  bool GatherFacts(const Expr& condition);
  int64_t Pick(const Expr& symbol, int pattern, int64_t index);
  std::optional<bool> Holds(const Expr& condition) const;

  Knowledge& k_;
  std::vector<Expr> symbols_;
  std::vector<Expr> facts_;
  absl::flat_hash_map<Expr, int64_t> values_;
};

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_SAMPLER_H_
