#include "symbolic/evaluate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "dtypes/base/status.h"
#include "symbolic/expr_node.h"
#include "symbolic/simplify/float_values.h"

namespace lathe::symbolic {
namespace {

using Wide = __int128;
using Lookup = std::function<std::optional<int64_t>(const Expr&)>;

// Integers are evaluated in 128 bits, so that a sum whose parts leave 64 bits but whose total
// does not has a value.
struct Value {
  enum State : uint8_t { kInteger, kFloat, kUnknown, kOverflow, kDivisionByZero, kUndefined };
  State state = kInteger;
  Wide integer = 0;
  double real = 0;
  Expr culprit;  // of an error

  static Value Of(Wide v) { return {kInteger, v, 0, 0}; }
  static Value Of(double v) { return {kFloat, 0, v, 0}; }
  static Value Error(State state, const Expr& culprit) { return {state, 0, 0, culprit}; }
  bool ok() const { return state <= kFloat; }
  double AsDouble() const { return state == kFloat ? real : static_cast<double>(integer); }
  bool IsTrue() const { return state == kFloat ? real != 0 : integer != 0; }
};
using Values = absl::Span<const Value>;

Wide FloorDivide(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

Value Power(const Expr& e, Wide base, Wide exponent) {
  if (exponent < 0) return Value::Error(Value::kUndefined, e);
  Wide result = 1;
  while (exponent > 0) {
    if (exponent % 2 == 1 && __builtin_mul_overflow(result, base, &result)) {
      return Value::Error(Value::kOverflow, e);
    }
    exponent /= 2;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) {
      return Value::Error(Value::kOverflow, e);
    }
  }
  return Value::Of(result);
}

Value Shift(const Expr& e, Wide a, Wide k) {
  if (k < 0) return Value::Error(Value::kUndefined, e);
  if (e.kind() == ExprKind::kShiftRight) return Value::Of(a >> (k > 126 ? 126 : k));
  if (a == 0) return Value::Of(Wide{0});
  Wide result;
  if (k > 125 || __builtin_mul_overflow(a, Wide{1} << k, &result)) {
    return Value::Error(Value::kOverflow, e);
  }
  return Value::Of(result);
}

// Division by zero and two integers.
Value Divide(const Expr& e, Wide a, Wide b) {
  if (b == 0) return Value::Error(Value::kDivisionByZero, e);
  switch (e.kind()) {
    case ExprKind::kFloorDiv:
      return Value::Of(FloorDivide(a, b));
    case ExprKind::kMod:
      return Value::Of(a - b * FloorDivide(a, b));
    case ExprKind::kTruncDiv:
      return Value::Of(a / b);
    default:
      return Value::Of(a % b);
  }
}

Value Fold(const Expr& e, Values x) {
  Wide r = x[0].integer;
  for (const Value& v : x.subspan(1)) {
    const bool overflow = e.kind() == ExprKind::kAdd ? __builtin_add_overflow(r, v.integer, &r)
                                                     : __builtin_mul_overflow(r, v.integer, &r);
    if (overflow) return Value::Error(Value::kOverflow, e);
  }
  return Value::Of(r);
}

Value Extreme(const Expr& e, Values x) {
  Value r = x[0];
  for (const Value& v : x.subspan(1)) {
    const bool less = v.state == Value::kInteger && r.state == Value::kInteger
                          ? v.integer < r.integer
                          : v.AsDouble() < r.AsDouble();
    const bool greater = v.state == Value::kInteger && r.state == Value::kInteger
                             ? v.integer > r.integer
                             : v.AsDouble() > r.AsDouble();
    if (e.kind() == ExprKind::kMin ? less : greater) r = v;
  }
  return r;
}

template <typename T>
bool Holds(ExprKind kind, T a, T b) {
  switch (kind) {
    case ExprKind::kEq:
      return a == b;
    case ExprKind::kNe:
      return a != b;
    case ExprKind::kLt:
      return a < b;
    default:
      return a <= b;
  }
}

Value CompareValues(const Expr& e, const Value& a, const Value& b) {
  const bool x = a.state == Value::kInteger, y = b.state == Value::kInteger;
  if (x != y) {
    return Value::Of(Wide{HoldsInOrder(e.kind(), x ? CompareExactly(a.integer, b.real)
                                                   : Opposite(CompareExactly(b.integer, a.real)))});
  }
  return Value::Of(
      Wide{x ? Holds(e.kind(), a.integer, b.integer) : Holds(e.kind(), a.real, b.real)});
}

Value Round(const Expr& e, const Value& a) {
  if (a.state == Value::kInteger) return a;
  const std::optional<int64_t> r = RoundToInteger(e.kind(), a.real);
  return r ? Value::Of(Wide{*r}) : Value::Error(Value::kOverflow, e);
}

bool FitsInt64(Wide v) { return v >= INT64_MIN && v <= INT64_MAX; }

Value TrueDivide(const Expr& e, const Value& a, const Value& b) {
  if (b.AsDouble() == 0) return Value::Error(Value::kDivisionByZero, e);
  if (a.state == Value::kInteger && b.state == Value::kInteger && FitsInt64(a.integer) &&
      FitsInt64(b.integer)) {
    return Value::Of(
        DivideIntegers(static_cast<int64_t>(a.integer), static_cast<int64_t>(b.integer)));
  }
  return Value::Of(a.AsDouble() / b.AsDouble());
}

// Operands whose value decides alone, whatever is wrong with the others.
std::optional<Value> DecidedEarly(const Expr& e, Values x) {
  if (e.kind() == ExprKind::kWhere) {
    if (!x[0].ok()) return x[0];
    return x[0].IsTrue() ? x[1] : x[2];
  }
  if (e.kind() == ExprKind::kAnd || e.kind() == ExprKind::kOr) {
    const bool decides = e.kind() == ExprKind::kOr;
    for (const Value& v : x) {
      if (v.ok() && v.IsTrue() == decides) return Value::Of(Wide{decides});
    }
  }
  for (const Value& v : x) {
    if (!v.ok()) return v;
  }
  return std::nullopt;
}

Value Apply(const Expr& e, Values x) {
  if (const std::optional<Value> decided = DecidedEarly(e, x)) return *decided;
  switch (e.kind()) {
    case ExprKind::kAdd:
    case ExprKind::kMul:
      return Fold(e, x);
    case ExprKind::kFloorDiv:
    case ExprKind::kMod:
    case ExprKind::kTruncDiv:
    case ExprKind::kTruncMod:
      return Divide(e, x[0].integer, x[1].integer);
    case ExprKind::kPow:
      return Power(e, x[0].integer, x[1].integer);
    case ExprKind::kShiftLeft:
    case ExprKind::kShiftRight:
      return Shift(e, x[0].integer, x[1].integer);
    case ExprKind::kBitAnd:
      return Value::Of(x[0].integer & x[1].integer);
    case ExprKind::kBitOr:
      return Value::Of(x[0].integer | x[1].integer);
    case ExprKind::kBitXor:
      return Value::Of(x[0].integer ^ x[1].integer);
    case ExprKind::kMin:
    case ExprKind::kMax:
      return Extreme(e, x);
    case ExprKind::kAbs:
      if (x[0].state == Value::kFloat) return Value::Of(std::fabs(x[0].real));
      return Value::Of(x[0].integer < 0 ? -x[0].integer : x[0].integer);
    case ExprKind::kEq:
    case ExprKind::kNe:
    case ExprKind::kLt:
    case ExprKind::kLe:
      return CompareValues(e, x[0], x[1]);
    case ExprKind::kAnd:
      return Value::Of(Wide{1});  // no operand is false
    case ExprKind::kOr:
      return Value::Of(Wide{0});
    case ExprKind::kNot:
      return Value::Of(Wide{!x[0].IsTrue()});
    case ExprKind::kTrueDiv:
      return TrueDivide(e, x[0], x[1]);
    case ExprKind::kToFloat:
      return Value::Of(x[0].AsDouble());
    case ExprKind::kFloor:
    case ExprKind::kCeil:
    case ExprKind::kTrunc:
    case ExprKind::kRound:
      return Round(e, x[0]);
    case ExprKind::kSqrt:
      return Value::Of(std::sqrt(x[0].AsDouble()));
    case ExprKind::kLog2:
      return Value::Of(std::log2(x[0].AsDouble()));
    case ExprKind::kFloatAdd:
      return Value::Of(x[0].AsDouble() + x[1].AsDouble());
    case ExprKind::kFloatMul:
      return Value::Of(x[0].AsDouble() * x[1].AsDouble());
    case ExprKind::kFloatPow:
      return Value::Of(std::pow(x[0].AsDouble(), x[1].AsDouble()));
    default:
      return Value::Error(Value::kUndefined, e);
  }
}

Value LeafValue(const Expr& e, const Lookup& lookup) {
  if (const std::optional<int64_t> v = e.AsInt()) return Value::Of(Wide{*v});
  if (e.kind() == ExprKind::kFloatConst) return Value::Of(*e.AsFloat());
  if (e.kind() != ExprKind::kSymbol) return Value::Error(Value::kOverflow, e);
  const std::optional<int64_t> v = lookup(e);
  return v ? Value::Of(Wide{*v}) : Value::Error(Value::kUnknown, e);
}

bool IsLeaf(const Expr& e) { return e.operands().empty(); }

class Evaluator {
 public:
  explicit Evaluator(const Lookup& lookup) : lookup_(lookup) {}

  Value Run(const Expr& root) {
    if (IsLeaf(root)) return LeafValue(root, lookup_);
    std::vector<std::pair<Expr, bool>> work = {{root, false}};
    while (!work.empty()) {
      const auto [e, ready] = work.back();
      work.pop_back();
      if (known_.contains(e.node())) continue;
      if (ready) {
        absl::InlinedVector<Value, 8> operands;
        for (const Expr& o : e.operands()) operands.push_back(Get(o));
        known_.emplace(e.node(), Apply(e, operands));
        continue;
      }
      work.push_back({e, true});
      for (const Expr& o : e.operands()) {
        if (!IsLeaf(o) && !known_.contains(o.node())) work.push_back({o, false});
      }
    }
    return known_.at(root.node());
  }

 private:
  Value Get(const Expr& e) { return IsLeaf(e) ? LeafValue(e, lookup_) : known_.at(e.node()); }

  const Lookup& lookup_;
  absl::flat_hash_map<const ExprNode*, Value> known_;
};

absl::Status ErrorOf(const Value& v) {
  switch (v.state) {
    case Value::kUnknown:
      return FailedPrecondition("the value of symbol ", v.culprit.symbol_name(), " is not known");
    case Value::kDivisionByZero:
      return OutOfRange("division by zero in ", ShortText(v.culprit));
    case Value::kUndefined:
      return OutOfRange("undefined: ", ShortText(v.culprit));
    default:
      return OutOfRange("integer overflow in ", ShortText(v.culprit));
  }
}

}  // namespace

absl::StatusOr<int64_t> Evaluate(const Expr& e, const Lookup& lookup) {
  if (e.is_const()) return *e.AsInt();
  if (e.type() == ExprType::kFloat) {
    return InvalidArgument("an integer is needed, not the float ", ShortText(e));
  }
  const Value v = Evaluator(lookup).Run(e);
  if (!v.ok()) return ErrorOf(v);
  if (!FitsInt64(v.integer)) return ErrorOf(Value::Error(Value::kOverflow, e));
  return static_cast<int64_t>(v.integer);
}

absl::StatusOr<double> EvaluateFloat(const Expr& e, const Lookup& lookup) {
  const Value v = Evaluator(lookup).Run(e);
  if (!v.ok()) return ErrorOf(v);
  return v.AsDouble();
}

Expr Substitute(const Expr& root, const absl::flat_hash_map<Expr, Expr>& replacements,
                ExprContext& context) {
  absl::flat_hash_map<Expr, Expr> done;
  const auto leaf = [&](const Expr& e) -> Expr {
    if (e.kind() != ExprKind::kSymbol) return e;
    const auto it = replacements.find(e);
    if (it != replacements.end()) {
      const ExprNode* node = it->second.node();
      const bool foreign = node != nullptr && node->context != nullptr && node->context != &context;
      return foreign ? Substitute(it->second, {}, context) : it->second;
    }
    return e.node()->context == &context ? e : context.Symbol(e.symbol_name(), e.symbol_kind());
  };
  if (IsLeaf(root)) return leaf(root);
  std::vector<std::pair<Expr, bool>> work = {{root, false}};
  while (!work.empty()) {
    const auto [e, ready] = work.back();
    work.pop_back();
    if (done.contains(e)) continue;
    if (!ready) {
      work.push_back({e, true});
      for (const Expr& o : e.operands()) {
        if (!IsLeaf(o)) work.push_back({o, false});
      }
      continue;
    }
    absl::InlinedVector<Expr, 8> operands;
    bool changed = e.node()->context != &context;
    for (const Expr& o : e.operands()) {
      operands.push_back(IsLeaf(o) ? leaf(o) : done.at(o));
      changed |= operands.back() != o;
    }
    done.emplace(e, changed ? context.Make(e.kind(), operands) : e);
  }
  return done.at(root);
}

namespace {

// A search along what was seen so far, for the many expressions that are small: false when this
// one is not, with `symbols` as before.
bool CollectFromSmall(const Expr& root, std::vector<Expr>& symbols) {
  constexpr size_t kSmall = 24;
  const size_t before = symbols.size();
  if (before > kSmall) return false;
  absl::InlinedVector<Expr, kSmall> work = {root}, seen;
  while (!work.empty()) {
    const Expr e = work.back();
    work.pop_back();
    if (e.is_symbol()) {
      if (std::find(symbols.begin(), symbols.end(), e) == symbols.end()) symbols.push_back(e);
      continue;
    }
    const absl::Span<const Expr> operands = e.operands();
    if (operands.empty() || std::find(seen.begin(), seen.end(), e) != seen.end()) continue;
    if (seen.size() + operands.size() + symbols.size() > kSmall) {
      symbols.resize(before, 0);
      return false;
    }
    seen.push_back(e);
    work.insert(work.end(), operands.rbegin(), operands.rend());
  }
  return true;
}

}  // namespace

void CollectFreeSymbols(const Expr& root, std::vector<Expr>& symbols) {
  if (CollectFromSmall(root, symbols)) return;
  absl::flat_hash_set<Expr> seen(symbols.begin(), symbols.end());
  std::vector<Expr> work = {root};
  while (!work.empty()) {
    const Expr e = work.back();
    work.pop_back();
    if (e.is_const()) continue;
    const bool visit = e.kind() == ExprKind::kSymbol || !IsLeaf(e);
    if (!visit || !seen.insert(e).second) continue;
    if (e.kind() == ExprKind::kSymbol) symbols.push_back(e);
    const absl::Span<const Expr> operands = e.operands();
    work.insert(work.end(), operands.rbegin(), operands.rend());
  }
}

std::vector<Expr> FreeSymbols(const Expr& e) {
  std::vector<Expr> symbols;
  CollectFreeSymbols(e, symbols);
  return symbols;
}

}  // namespace lathe::symbolic
