#ifndef LATHE_CAPTURE_CONSTRAINTS_TRY_VALUES_H_
#define LATHE_CAPTURE_CONSTRAINTS_TRY_VALUES_H_

// All combinations of a few values against conditions, by evaluation.

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "symbolic/expr.h"

namespace lathe {

struct CandidateValues {
  symbolic::Expr symbol;
  std::vector<int64_t> values;
  std::vector<int64_t> possible;  // of them, those that nothing else rules out
};

struct TriedValues {
  // Of each symbol, sorted: in some combination that was asked for; in one where all that is
  // needed holds too.
  std::vector<std::vector<int64_t>> asked, good;
  std::vector<bool> fails;        // of each condition needed: on a combination that was asked for
  std::vector<bool> fails_still;  // on one of good values
};

// nullopt: too many combinations, or a condition that is too long.
std::optional<TriedValues> TryAll(absl::Span<const CandidateValues> symbols,
                                  absl::Span<const symbolic::Expr> asked,
                                  absl::Span<const symbolic::Expr> needed);

}  // namespace lathe

#endif  // LATHE_CAPTURE_CONSTRAINTS_TRY_VALUES_H_
