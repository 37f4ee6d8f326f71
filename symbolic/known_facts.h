#ifndef LATHE_SYMBOLIC_KNOWN_FACTS_H_
#define LATHE_SYMBOLIC_KNOWN_FACTS_H_

// A list of facts as Knowledge, and which of them an answer rests on.

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "symbolic/expr.h"
#include "symbolic/knowledge.h"

namespace lathe::symbolic {

// The range of a symbol as facts: "2 <= s0", "s0 <= 64".
std::vector<Expr> RangeFacts(const Expr& e, const Range& range);

// "2 <= s0"
bool IsBoundOfSymbol(const Expr& fact);
// "a <= b", "a < b" of integers that are no numbers.
bool IsOrderOfTwo(const Expr& fact);

// All that `facts` and the ranges say together; nullptr when they contradict each other.
std::unique_ptr<Knowledge> Combine(ExprContext* context,
                                   absl::Span<const std::pair<Expr, Range>> ranges,
                                   absl::Span<const Expr> facts);

// Indices of a small set of `facts` that alone give `answer` for `condition`; none of them can be
// left out. Nothing when they do not give it within the limits. A contradiction among the facts
// is asked for by condition = false, answer = true.
std::optional<std::vector<size_t>> SufficientFacts(ExprContext* context,
                                                   absl::Span<const Expr> facts,
                                                   const Expr& condition, bool answer);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_KNOWN_FACTS_H_
