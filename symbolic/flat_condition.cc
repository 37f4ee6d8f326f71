#include "symbolic/flat_condition.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/base/casts.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "symbolic/simplify/checked.h"
#include "symbolic/simplify/float_values.h"
#include "symbolic/walk.h"

namespace lathe::symbolic {
namespace {

using Cell = FlatCell;

double RealOf(const Cell& c) { return absl::bit_cast<double>(c.value); }
Cell OfReal(double v) { return {absl::bit_cast<int64_t>(v), true}; }

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
    case ExprKind::kTrueDiv:
      return b == 0 ? Cell{0, false} : OfReal(DivideIntegers(a, b));
    case ExprKind::kToFloat:
      return OfReal(static_cast<double>(a));
    default:
      return {0, false};
  }
}

Cell RealDivision(double a, double b) {
  if (b == 0) return {0, false};
  return OfReal(a / b);
}

Cell ApplyToReals(ExprKind kind, const Cell& x, const Cell& y) {
  const double a = RealOf(x), b = RealOf(y);
  switch (kind) {
    case ExprKind::kTrueDiv:
      return RealDivision(a, b);
    case ExprKind::kFloor:
    case ExprKind::kCeil:
    case ExprKind::kTrunc:
    case ExprKind::kRound:
      return Checked(RoundToInteger(kind, a));
    case ExprKind::kSqrt:
      return OfReal(std::sqrt(a));
    case ExprKind::kLog2:
      return OfReal(std::log2(a));
    case ExprKind::kFloatAdd:
      return OfReal(a + b);
    case ExprKind::kFloatMul:
      return OfReal(a * b);
    case ExprKind::kFloatPow:
      return OfReal(std::pow(a, b));
    case ExprKind::kMin:
      return b < a ? y : x;
    case ExprKind::kMax:
      return b > a ? y : x;
    case ExprKind::kAbs:
      return OfReal(std::fabs(a));
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

// Of an integer and a double, in the order that `which` says.
constexpr uint32_t kFirstIsInteger = 1, kSecondIsInteger = 2;
Cell CompareMixed(ExprKind kind, uint32_t which, const Cell& x, const Cell& y) {
  const std::optional<int> order = which == kFirstIsInteger
                                       ? CompareExactly(x.value, RealOf(y))
                                       : Opposite(CompareExactly(y.value, RealOf(x)));
  return {HoldsInOrder(kind, order), true};
}

// One false operand of an "and" decides it, whatever the other is.
Cell Logic(ExprKind kind, const Cell& x, const Cell& y) {
  const bool neutral = kind == ExprKind::kAnd;
  if (x.defined && (x.value != 0) != neutral) return {!neutral, true};
  if (y.defined && (y.value != 0) != neutral) return {!neutral, true};
  return {neutral, x.defined && y.defined};
}

// Operations that take doubles, whatever their operands are.
bool TakesReals(ExprKind kind) {
  return kind == ExprKind::kSqrt || kind == ExprKind::kLog2 || kind >= ExprKind::kFloatAdd;
}

}  // namespace

class FlatCompiler {
 public:
  explicit FlatCompiler(const std::function<std::optional<uint32_t>(const Expr&)>& slot_of)
      : slot_of_(slot_of) {
    p_.steps_.reserve(kUsualSteps);
  }

  std::optional<FlatCondition> Compile(const Expr& root, std::optional<uint32_t> equals) {
    const auto is_done = [&](const Expr& e) { return e.operands().empty() || Find(e) || !ok_; };
    VisitOperandsFirst(root, is_done, [&](const Expr& e) { Emit(e); });
    const uint32_t value = ok_ ? RegisterOf(root) : 0;
    if (equals) {
      const uint32_t slot = Push(ExprKind::kSymbol, false, *equals);
      Push(ExprKind::kEq, false, value, slot);
    }
    if (!ok_) return std::nullopt;
    p_.result_ = equals ? p_.registers_ - 1 : value;
    return std::move(p_);
  }

 private:
  static constexpr size_t kUsualSteps = 12;

  std::optional<uint32_t> Find(const Expr& e) const {
    for (const auto& [known, at] : first_) {
      if (known == e) return at;
    }
    const auto it = others_.find(e);
    return it == others_.end() ? std::nullopt : std::optional<uint32_t>(it->second);
  }
  void Keep(const Expr& e, uint32_t at) {
    if (first_.size() < kUsualSteps) {
      first_.push_back({e, at});
    } else {
      others_.emplace(e, at);
    }
  }

  uint32_t Push(ExprKind kind, bool real, uint32_t a, uint32_t b = 0, uint32_t c = 0,
                int64_t value = 0) {
    ok_ = ok_ && p_.registers_ < FlatCondition::kMostRegisters;
    if (!ok_) return 0;
    p_.steps_.push_back({kind, real, p_.registers_, a, b, c, value});
    return p_.registers_++;
  }

  uint32_t RegisterOf(const Expr& e) {
    if (const std::optional<uint32_t> at = Find(e)) return *at;
    const uint32_t at = Leaf(e);
    Keep(e, at);
    return at;
  }

  uint32_t Leaf(const Expr& e) {
    if (const std::optional<int64_t> v = e.AsInt()) {
      return Push(ExprKind::kConst, false, 0, 0, 0, *v);
    }
    if (e.kind() == ExprKind::kFloatConst) {
      return Push(ExprKind::kConst, true, 0, 0, 0, OfReal(*e.AsFloat()).value);
    }
    const std::optional<uint32_t> slot = e.is_symbol() ? slot_of_(e) : std::nullopt;
    ok_ = ok_ && slot.has_value();
    return Push(ExprKind::kSymbol, false, slot.value_or(0));
  }

  void Emit(const Expr& e) {
    const absl::Span<const Expr> operands = e.operands();
    const absl::Span<const Expr> numbers =
        e.kind() == ExprKind::kWhere ? operands.subspan(1) : operands;
    bool real = TakesReals(e.kind());
    for (const Expr& o : numbers) real = real || o.type() == ExprType::kFloat;
    absl::InlinedVector<uint32_t, 8> x;
    const bool compares = e.kind() >= ExprKind::kEq && e.kind() <= ExprKind::kLe;
    if (compares && real && operands[0].type() != operands[1].type()) {
      const uint32_t a = RegisterOf(operands[0]), b = RegisterOf(operands[1]);
      const bool first = operands[0].type() != ExprType::kFloat;
      Keep(e, Push(e.kind(), true, a, b, first ? kFirstIsInteger : kSecondIsInteger));
      return;
    }
    for (const Expr& o : operands) {
      x.push_back(RegisterOf(o));
      const bool converts =
          real && o.type() != ExprType::kFloat && !(e.kind() == ExprKind::kWhere && x.size() == 1);
      if (converts) x.back() = Push(ExprKind::kToFloat, false, x.back(), x.back());
    }
    Keep(e, EmitOperation(e.kind(), real, x));
  }

  uint32_t EmitOperation(ExprKind kind, bool real, absl::Span<const uint32_t> x) {
    const bool rounds = kind >= ExprKind::kFloor && kind <= ExprKind::kRound;
    if (rounds && !real) return x[0];  // an integer already
    if (kind == ExprKind::kToFloat && real) return x[0];
    if (kind == ExprKind::kWhere) return Push(kind, real, x[0], x[1], x[2]);
    uint32_t result = x.size() == 1 ? Push(kind, real, x[0], x[0]) : x[0];
    for (size_t i = 1; i < x.size(); ++i) result = Push(kind, real, result, x[i]);
    return result;
  }

  const std::function<std::optional<uint32_t>(const Expr&)>& slot_of_;
  FlatCondition p_;
  // Where values are: of most conditions the few that are searched fastest.
  absl::InlinedVector<std::pair<Expr, uint32_t>, kUsualSteps> first_;
  absl::flat_hash_map<Expr, uint32_t> others_;
  bool ok_ = true;
};

std::optional<FlatCondition> FlatCondition::Compile(
    const Expr& e, const std::function<std::optional<uint32_t>(const Expr& symbol)>& slot_of,
    std::optional<uint32_t> equals) {
  return FlatCompiler(slot_of).Compile(e, equals);
}

std::optional<bool> FlatCondition::ValueOf(const int64_t* values) const {
  if (registers_ <= kUsualRegisters) {
    Cell cells[kUsualRegisters];
    return Run(values, cells);
  }
  std::vector<Cell> cells(registers_);
  return Run(values, cells.data());
}

std::optional<bool> FlatCondition::Run(const int64_t* values, Cell* cells) const {
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
        if (!cells[s.a].defined || !cells[s.b].defined) {
          to = {0, false};
        } else if (s.real && s.c != 0) {
          to = CompareMixed(s.kind, s.c, cells[s.a], cells[s.b]);
        } else {
          to = s.real ? ApplyToReals(s.kind, cells[s.a], cells[s.b])
                      : Apply(s.kind, cells[s.a], cells[s.b]);
        }
    }
  }
  const Cell& result = cells[result_];
  if (!result.defined) return std::nullopt;
  return result.value != 0;
}

}  // namespace lathe::symbolic
