#ifndef LATHE_SYMBOLIC_EXPR_H_
#define LATHE_SYMBOLIC_EXPR_H_

// Integer, boolean and float expressions over sizes: hash-consed, in normal form, so that equal
// expressions of one context are one pointer.
//
//   ExprContext context;
//   Expr s0 = context.Symbol("s0");
//   Expr e = (s0 * 2 + 4) / 2;              // floor division: s0 + 2
//   e == s0 + 2;                            // pointer comparison
//   ToString(e) == "s0 + 2";
//
// A constant carries its value itself and belongs to no context, so `Expr(4)` needs none.
// Arithmetic that passes 64 bits yields an expression whose IsOverflow() is true, never a wrapped
// number; it propagates and is refused where a value is needed.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "symbolic/range.h"

namespace lathe::symbolic {

enum class ExprKind : uint8_t {
  // Leaves.
  kConst,       // an int64
  kFloatConst,  // a double
  kBoolConst,   // true or false
  kSymbol,
  kInfinity,  // +inf of ranges (int_oo); -inf is kNegInfinity
  kNegInfinity,
  kOverflow,
  // Integers. FloorDiv and Mod have Python's sign rule; TruncDiv and TruncMod have C's.
  kAdd,
  kMul,
  kFloorDiv,
  kMod,
  kTruncDiv,
  kTruncMod,
  kPow,
  kShiftLeft,
  kShiftRight,
  kBitAnd,
  kBitOr,
  kBitXor,
  kMin,
  kMax,
  kAbs,
  kWhere,  // (condition, then, else)
  // Booleans.
  kEq,
  kNe,
  kLt,
  kLe,
  kAnd,
  kOr,
  kNot,
  // Floats over sizes.
  kTrueDiv,
  kToFloat,
  kFloor,  // float -> integer
  kCeil,
  kTrunc,
  kRound,  // half to even, float -> integer
  kSqrt,
  kLog2,
  kFloatAdd,
  kFloatMul,
  kFloatPow,
};

enum class ExprType : uint8_t { kInt, kBool, kFloat };

// What is known of a symbol at its birth; ranges and sources live in ShapeEnv.
enum class SymbolKind : uint8_t { kBacked, kUnbacked, kIndex };

class ExprContext;
struct ExprNode;  // below, and symbolic/expr_node.h for printers and analyses

class Expr {
 public:
  constexpr Expr() : node_(nullptr), value_(0) {}
  constexpr Expr(int64_t value) : node_(nullptr), value_(value) {}  // NOLINT: a literal converts
  constexpr Expr(int value) : node_(nullptr), value_(value) {}      // NOLINT
  static Expr Bool(bool value);
  static Expr Float(double value);
  static Expr Infinity();
  static Expr NegInfinity();
  static Expr Overflow();

  ExprKind kind() const;
  ExprType type() const;
  bool is_const() const { return node_ == nullptr; }  // an int64 constant
  bool is_symbol() const { return kind() == ExprKind::kSymbol; }
  bool IsOverflow() const { return kind() == ExprKind::kOverflow; }
  // The value of an integer or boolean constant (true = 1), nullopt otherwise.
  std::optional<int64_t> AsInt() const;
  std::optional<bool> AsBool() const;
  std::optional<double> AsFloat() const;  // of a float or integer constant
  // The name of a symbol; "" otherwise.
  absl::string_view symbol_name() const;
  SymbolKind symbol_kind() const;  // of a symbol
  absl::Span<const Expr> operands() const;
  const ExprNode* node() const { return node_; }

  // Identity, not a symbolic comparison: for that use Eq().
  friend bool operator==(const Expr& a, const Expr& b) {
    return a.node_ == b.node_ && a.value_ == b.value_;
  }
  friend bool operator!=(const Expr& a, const Expr& b) { return !(a == b); }
  template <typename H>
  friend H AbslHashValue(H h, const Expr& e) {
    return H::combine(std::move(h), e.node_, e.value_);
  }

 private:
  friend class ExprContext;
  friend struct ContextAccess;  // symbolic/expr_node.h
  explicit Expr(const ExprNode* node) : node_(node), value_(0) {}
  const ExprNode* node_;  // nullptr: the constant value_
  int64_t value_;
};

// One cache line. The operands follow it, or lie in an array that several nodes share: the terms of
// a growing sum, what is left of a product. Only symbolic/ itself looks inside: expr_node.h.
struct ExprNode {
  ExprKind kind = ExprKind::kConst;
  ExprType type = ExprType::kInt;
  SymbolKind symbol_kind = SymbolKind::kBacked;
  bool plain : 1 = false;     // of a sum or product: its operands are symbols
  bool growable : 1 = false;  // of a sum or product: its array may have room for another operand
  uint16_t degree = 1;        // of a product: the number of factors, saturating
  uint16_t symbol_index = 0;  // of a symbol: its ordinal in its context, if below 65535; else 65535
  uint32_t operand_count = 0;
  union {
    uint32_t name_order = 0;  // of a symbol "x12": orders like the name; 0 for other names
    uint32_t array_offset;    // of an operation: operands of its array before its own
  };
  uint64_t hash = 0;  // structural: the same in every context and process
  ExprContext* context = nullptr;
  const ExprNode* monomial = nullptr;  // of a kMul with a coefficient: the product without it
  const Expr* operands = nullptr;
  Range range;  // holds for all values of the symbols

  absl::Span<const Expr> operand_span() const { return {operands, operand_count}; }
};

inline ExprKind Expr::kind() const { return node_ == nullptr ? ExprKind::kConst : node_->kind; }
inline ExprType Expr::type() const { return node_ == nullptr ? ExprType::kInt : node_->type; }
inline std::optional<int64_t> Expr::AsInt() const {
  if (node_ == nullptr || node_->kind == ExprKind::kBoolConst) return value_;
  return std::nullopt;
}
inline std::optional<bool> Expr::AsBool() const {
  if (kind() == ExprKind::kBoolConst) return value_ != 0;
  return std::nullopt;
}
inline absl::Span<const Expr> Expr::operands() const {
  return node_ == nullptr ? absl::Span<const Expr>() : node_->operand_span();
}

// Owns the nodes of its expressions; they live as long as it does. Thread-safe.
class ExprContext {
 public:
  ExprContext();
  ~ExprContext();
  ExprContext(const ExprContext&) = delete;
  ExprContext& operator=(const ExprContext&) = delete;

  // The symbol of that name, made on first use. One name is one symbol; a second call with
  // another kind returns the first symbol.
  Expr Symbol(absl::string_view name, SymbolKind kind = SymbolKind::kBacked);
  // The symbol of that name if it exists.
  std::optional<Expr> FindSymbol(absl::string_view name) const;
  // Interns (kind, operands) after simplification. Operands may come from this context or be
  // constants. Prefer the named functions below.
  Expr Make(ExprKind kind, absl::Span<const Expr> operands);
  int64_t node_count() const;

 private:
  friend class Expr;
  friend struct ContextAccess;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Arithmetic. At least the context of one operand is used; two constants need none.
Expr operator+(const Expr& a, const Expr& b);
Expr operator-(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr operator*(const Expr& a, const Expr& b);
Expr operator/(const Expr& a, const Expr& b);  // floor division, Python's //; by 0: Overflow
Expr operator%(const Expr& a, const Expr& b);  // Python's %; by 0: Overflow
Expr FloorDiv(const Expr& a, const Expr& b);
Expr Mod(const Expr& a, const Expr& b);
Expr CeilDiv(const Expr& a, const Expr& b);  // -((-a) // b)
Expr TruncDiv(const Expr& a, const Expr& b);
Expr TruncMod(const Expr& a, const Expr& b);
Expr Pow(const Expr& a, const Expr& b);
Expr ShiftLeft(const Expr& a, const Expr& b);
Expr ShiftRight(const Expr& a, const Expr& b);
Expr BitAnd(const Expr& a, const Expr& b);
Expr BitOr(const Expr& a, const Expr& b);
Expr BitXor(const Expr& a, const Expr& b);
Expr Min(const Expr& a, const Expr& b);
Expr Max(const Expr& a, const Expr& b);
Expr Abs(const Expr& a);
Expr Where(const Expr& condition, const Expr& then_value, const Expr& else_value);
// (x // divisor) % modulus
Expr ModularIndexing(const Expr& x, const Expr& divisor, const Expr& modulus);
Expr Eq(const Expr& a, const Expr& b);
Expr Ne(const Expr& a, const Expr& b);
Expr Lt(const Expr& a, const Expr& b);
Expr Le(const Expr& a, const Expr& b);
Expr Gt(const Expr& a, const Expr& b);
Expr Ge(const Expr& a, const Expr& b);
Expr And(const Expr& a, const Expr& b);
Expr Or(const Expr& a, const Expr& b);
Expr Not(const Expr& a);
Expr TrueDiv(const Expr& a, const Expr& b);
Expr ToFloat(const Expr& a);
// n-ary, in near-linear time; so is a chain s0 + s1 + s2 ..., whose partial sums share operands.
Expr Sum(absl::Span<const Expr> terms);        // 0 for none
Expr Product(absl::Span<const Expr> factors);  // 1 for none

// "2*s0 + 1", "s0//2", "s0 % 8", "min(s0, 4)", "s0 <= 4 and s1 != 0": reads back (parser.h).
std::string ToString(const Expr& e);

}  // namespace lathe::symbolic

namespace lathe {
using symbolic::Expr;
using symbolic::ExprContext;
}  // namespace lathe

#endif  // LATHE_SYMBOLIC_EXPR_H_
