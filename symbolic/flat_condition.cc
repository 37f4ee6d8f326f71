#include "symbolic/flat_condition.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/walk.h"

namespace lathe::symbolic {
namespace {

struct Cell {  // a register: a number, or nothing
  int64_t value;
  bool defined;
};

Cell Checked(std::optional<int64_t> v) { return {v.value_or(0), v.has_value()}; }

Cell Divide(ExprKind kind, int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return {0, b != 0 && kind == ExprKind::kMod};
  const int64_t q = a / b, r = a % b;
  const bool down = r != 0 && (r < 0) != (b < 0);
  switch (kind) {
    case ExprKind::kFloorDiv:
      return {q - down, true};
    case ExprKind::kMod:
      return {down ? r + b : r, true};
    case ExprKind::kTruncDiv:
      return {q, true};
    default:
      return {r, true};
  }
}

Cell Power(int64_t base, int64_t exponent) {
  if (exponent < 0) return {0, false};
  int64_t result = 1;
  for (; exponent > 0 && base != 0 && base != 1; --exponent) {
    if (base == -1) return {exponent % 2 == 0 ? result : -result, true};
    if (__builtin_mul_overflow(result, base, &result)) return {0, false};
  }
  return {exponent > 0 ? base * result : result, true};
}

Cell Shift(ExprKind kind, int64_t a, int64_t k) {
  if (k < 0) return {0, false};
  if (kind == ExprKind::kShiftRight) return {a >> std::min<int64_t>(k, 63), true};
  if (a == 0) return {0, true};
  if (k > 62) return {0, false};
  return Checked(CheckedMul(a, int64_t{1} << k));
}

Cell Apply(ExprKind kind, const Cell& x, const Cell& y) {
  const int64_t a = x.value, b = y.value;
  switch (kind) {
    case ExprKind::kAdd:
      return Checked(CheckedAdd(a, b));
    case ExprKind::kMul:
      return Checked(CheckedMul(a, b));
    case ExprKind::kFloorDiv:
    case ExprKind::kMod:
    case ExprKind::kTruncDiv:
    case ExprKind::kTruncMod:
      return Divide(kind, a, b);
    case ExprKind::kPow:
      return Power(a, b);
    case ExprKind::kShiftLeft:
    case ExprKind::kShiftRight:
      return Shift(kind, a, b);
    case ExprKind::kBitAnd:
      return {a & b, true};
    case ExprKind::kBitOr:
      return {a | b, true};
    case ExprKind::kBitXor:
      return {a ^ b, true};
    case ExprKind::kMin:
      return {std::min(a, b), true};
    case ExprKind::kMax:
      return {std::max(a, b), true};
    case ExprKind::kAbs:
      return {a < 0 ? -a : a, a != INT64_MIN};
    case ExprKind::kNot:
      return {a == 0, true};
    case ExprKind::kEq:
      return {a == b, true};
    case ExprKind::kNe:
      return {a != b, true};
    case ExprKind::kLt:
      return {a < b, true};
    case ExprKind::kLe:
      return {a <= b, true};
    default:
      return {0, false};
  }
}

// One false operand of an "and" decides it, whatever the other is.
Cell Logic(ExprKind kind, const Cell& x, const Cell& y) {
  const bool neutral = kind == ExprKind::kAnd;
  if (x.defined && (x.value != 0) != neutral) return {!neutral, true};
  if (y.defined && (y.value != 0) != neutral) return {!neutral, true};
  return {neutral, x.defined && y.defined};
}

bool IsFlat(ExprKind kind) { return kind >= ExprKind::kAdd && kind <= ExprKind::kNot; }

}  // namespace

class FlatCompiler {
 public:
  explicit FlatCompiler(const std::function<std::optional<uint32_t>(const Expr&)>& slot_of)
      : slot_of_(slot_of) {}

  std::optional<FlatCondition> Compile(const Expr& root, std::optional<uint32_t> equals) {
    const auto is_done = [&](const Expr& e) { return e.operands().empty() || at_.contains(e); };
    VisitOperandsFirst(root, is_done, [&](const Expr& e) { Emit(e); });
    const uint32_t value = root.operands().empty() ? Leaf(root) : at_[root];
    if (equals) {
      const uint32_t slot = Push(ExprKind::kSymbol, *equals);
      Push(ExprKind::kEq, value, slot);
    }
    if (!ok_ || p_.registers_ > FlatCondition::kMostRegisters) return std::nullopt;
    return std::move(p_);
  }

 private:
  uint32_t Push(ExprKind kind, uint32_t a, uint32_t b = 0, uint32_t c = 0, int64_t value = 0) {
    p_.steps_.push_back({kind, p_.registers_, a, b, c, value});
    return p_.registers_++;
  }

  uint32_t Leaf(const Expr& e) {
    if (const auto it = at_.find(e); it != at_.end()) return it->second;
    if (const std::optional<int64_t> v = e.AsInt()) {
      return at_[e] = Push(ExprKind::kConst, 0, 0, 0, *v);
    }
    const std::optional<uint32_t> slot = e.is_symbol() ? slot_of_(e) : std::nullopt;
    ok_ = ok_ && slot.has_value();
    return at_[e] = Push(ExprKind::kSymbol, slot.value_or(0));
  }

  void Emit(const Expr& e) {
    ok_ = ok_ && IsFlat(e.kind()) && e.type() != ExprType::kFloat;
    absl::InlinedVector<uint32_t, 8> x;
    for (const Expr& o : e.operands()) x.push_back(Leaf(o));
    if (e.kind() == ExprKind::kWhere) {
      at_[e] = Push(e.kind(), x[0], x[1], x[2]);
      return;
    }
    uint32_t result = x.size() == 1 ? Push(e.kind(), x[0], x[0]) : x[0];
    for (size_t i = 1; i < x.size(); ++i) result = Push(e.kind(), result, x[i]);
    at_[e] = result;
  }

  const std::function<std::optional<uint32_t>(const Expr&)>& slot_of_;
  FlatCondition p_;
  absl::flat_hash_map<Expr, uint32_t> at_;
  bool ok_ = true;
};

std::optional<FlatCondition> FlatCondition::Compile(
    const Expr& e, const std::function<std::optional<uint32_t>(const Expr& symbol)>& slot_of,
    std::optional<uint32_t> equals) {
  return FlatCompiler(slot_of).Compile(e, equals);
}

bool FlatCondition::Holds(const int64_t* values) const {
  Cell cells[kMostRegisters];
  for (const Step& s : steps_) {
    Cell& to = cells[s.to];
    switch (s.kind) {
      case ExprKind::kConst:
        to = {s.value, true};
        break;
      case ExprKind::kSymbol:
        to = {values[s.a], true};
        break;
      case ExprKind::kWhere: {
        const Cell& c = cells[s.a];
        to = !c.defined ? Cell{0, false} : c.value != 0 ? cells[s.b] : cells[s.c];
        break;
      }
      case ExprKind::kAnd:
      case ExprKind::kOr:
        to = Logic(s.kind, cells[s.a], cells[s.b]);
        break;
      default:
        to = cells[s.a].defined && cells[s.b].defined ? Apply(s.kind, cells[s.a], cells[s.b])
                                                      : Cell{0, false};
    }
  }
  const Cell& result = cells[registers_ - 1];
  return result.defined && result.value != 0;
}

}  // namespace lathe::symbolic
