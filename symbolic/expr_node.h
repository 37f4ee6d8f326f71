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

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "symbolic/expr.h"

namespace lathe::symbolic {

inline constexpr size_t kLargestFlattened = 128;
inline constexpr size_t kLargestFlatSum = 512;
inline constexpr uint16_t kNoSymbolIndex = 65535;

// What the simplifier may do that others may not.
struct ContextAccess {
  // The node (kind, operands) as it stands. `context` nullptr: operands are constants that no rule
  // folded, which is undefined: Overflow.
  static Expr Intern(ExprContext* context, ExprKind kind, absl::Span<const Expr> operands);
  // The sum or product `shorter` with `added` put at `place` among its operands. At their end, and
  // of one chain, that costs the same however many there are.
  static Expr InternLonger(const ExprNode* shorter, const Expr& added, size_t place);
  // The sum or product `longer` without the operands of `part`, with which it begins: two or more
  // are left. Costs no copy.
  static Expr InternRest(const ExprNode* longer, const Expr& part);
  // The sum or product `longer` without its operand at `place`; two or more are left.
  static Expr InternWithout(const ExprNode* longer, size_t place);
  // Whether the operands of `longer` begin with those of `shorter`, or with `shorter` itself where
  // that is not of the kind of `longer`. Of two that grow, asked step by step, in constant time.
  static bool BeginsWith(const ExprNode* longer, const Expr& shorter);
  // The context of the first operand that has one, nullptr if all are constants.
  static ExprContext* ContextOf(absl::Span<const Expr> operands);
  static std::optional<Expr> FindMemo(ExprContext* context, uint8_t operation, const Expr& a,
                                      const Expr& b);
  static void StoreMemo(ExprContext* context, uint8_t operation, const Expr& a, const Expr& b,
                        const Expr& result);
  // Some power in the context has an exponent that is no number.
  static bool HasOpenPowers(const ExprContext& context);
  // Of nodes and tables, as reserved.
  static int64_t MemoryBytes(const ExprContext& context);
  static Expr ToExpr(const ExprNode* node) { return Expr(node); }
  static double FloatValue(const Expr& e);  // of a kFloatConst
  static int64_t RawValue(const Expr& e) { return e.value_; }
};

// A symbol's node and its name.
struct SymbolNode : ExprNode {
  std::string name;
};

uint64_t StructuralHash(const Expr& e);
inline Range IntrinsicRange(const Expr& e) {
  if (const std::optional<int64_t> v = e.AsInt()) return {*v, *v};
  return e.node()->range;
}

// A total order that does not depend on the context or the order of creation: products of higher
// degree first, symbols by name (s2 before s10), constants last. Negative: a before b.
int Compare(const Expr& a, const Expr& b);

// ToString for messages: cut short, in time and space too.
std::string ShortText(const Expr& e);

}  // namespace lathe::symbolic

#endif  // LATHE_SYMBOLIC_EXPR_NODE_H_
