#ifndef LATHE_SYMBOLIC_EXPR_NODE_H_
#define LATHE_SYMBOLIC_EXPR_NODE_H_

// The inside of an Expr, for printers and analyses; everyone else uses expr.h.
//
// Normal form, what a reader of nodes may rely on:
//   kAdd   terms in Compare order, each a product, then the constant if it is not 0
//   kMul   an integer coefficient other than 1 if any, then factors in Compare order; a repeated
//          factor is kPow(x, n), n >= 2
//   kMin, kMax, kAnd, kOr   flat, sorted, without duplicates
//   kLt, kLe, kEq, kNe over integers   no term on both sides
// Sums of more than kLargestFlatSum operands, others of more than kLargestFlattened, are opaque:
// nested, not merged.

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "symbolic/expr.h"
#include "symbolic/range.h"

namespace lathe::symbolic {

inline constexpr size_t kLargestFlattened = 128;
inline constexpr size_t kLargestFlatSum = 512;

struct ExprNode {
  ExprKind kind = ExprKind::kConst;
  ExprType type = ExprType::kInt;
  SymbolKind symbol_kind = SymbolKind::kBacked;
  uint16_t degree = 1;  // of a product: the number of factors, saturating
  uint32_t operand_count = 0;
  const Expr* operands = nullptr;
  uint64_t hash = 0;  // structural: the same in every context and process
  ExprContext* context = nullptr;
  Expr monomial = 0;  // of a kMul with a coefficient: the product without it
  absl::string_view name;
  Range range;  // holds for all values of the symbols

  absl::Span<const Expr> operand_span() const { return {operands, operand_count}; }
};

// What the simplifier may do that others may not.
struct ContextAccess {
  // The node (kind, operands) as it stands. `context` nullptr: operands are constants that no rule
  // folded, which is undefined: Overflow.
  static Expr Intern(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands);
  // The context of the first operand that has one, nullptr if all are constants.
  static ExprContext* ContextOf(absl::Span<const Expr> operands);
  static std::optional<Expr> FindMemo(ExprContext* context, uint8_t operation, const Expr& a,
                                      const Expr& b);
  static void StoreMemo(ExprContext* context, uint8_t operation, const Expr& a, const Expr& b,
                        const Expr& result);
  // Of nodes and tables, as reserved.
  static int64_t MemoryBytes(const ExprContext& context);
  static double FloatValue(const Expr& e);  // of a kFloatConst
  static int64_t RawValue(const Expr& e) { return e.value_; }
};

uint64_t StructuralHash(const Expr& e);
Range IntrinsicRange(const Expr& e);

// A total order that does not depend on the context or the order of creation: products of higher
// degree first, symbols by name (s2 before s10), constants last. Negative: a before b.
int Compare(const Expr& a, const Expr& b);

// ToString for messages: cut short, in time and space too.
std::string ShortText(const Expr& e);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_EXPR_NODE_H_
