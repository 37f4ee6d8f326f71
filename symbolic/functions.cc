#include "symbolic/functions.h"

#include <limits>

#include "absl/container/flat_hash_map.h"
#include "symbolic/expr_node.h"

namespace lathe::symbolic {
namespace {

using Arguments = absl::Span<const Fraction>;
using Build = Fraction (*)(Arguments);
constexpr size_t kAny = std::numeric_limits<size_t>::max();

Expr At(Arguments x, size_t i) { return Resolve(x[i]); }

Expr MakeAny(ExprKind kind, absl::Span<const Expr> operands) {
  // Constants need no context: whatever they fold to has none either.
  ExprContext* context = ContextAccess::ContextOf(operands);
  if (context != nullptr) return context->Make(kind, operands);
  ExprContext none;
  const Expr folded = none.Make(kind, operands);
  return folded.node() != nullptr && folded.node()->context != nullptr ? Expr::Overflow() : folded;
}

template <ExprKind kKind>
Fraction Operation(Arguments x) {
  std::vector<Expr> operands;
  for (size_t i = 0; i < x.size(); ++i) operands.push_back(At(x, i));
  if (operands.size() == 1 && (kKind == ExprKind::kMin || kKind == ExprKind::kMax)) {
    return {operands[0]};
  }
  return {MakeAny(kKind, operands)};
}

template <Expr (*kOperation)(const Expr&, const Expr&)>
Fraction Pair(Arguments x) {
  return {kOperation(At(x, 0), At(x, 1))};
}

Fraction Same(Arguments x) { return x[0]; }

Fraction AddAll(Arguments x) {
  bool whole = true;
  for (const Fraction& f : x) whole &= f.denominator == 1;
  if (whole) {
    std::vector<Expr> terms;
    for (const Fraction& f : x) terms.push_back(f.numerator);
    return {Sum(terms)};
  }
  Fraction r = {0};
  for (const Fraction& f : x) r = AddFractions(r, f);
  return r;
}

Fraction MultiplyAll(Arguments x) {
  std::vector<Expr> numerators, denominators;
  for (const Fraction& f : x) {
    numerators.push_back(f.numerator);
    if (f.denominator != 1) denominators.push_back(f.denominator);
  }
  return {Product(numerators), Product(denominators)};
}

Fraction DivideFractions(Arguments x) {
  return {x[0].numerator * x[1].denominator, x[0].denominator * x[1].numerator};
}

// floor(n/d) of an exact quotient is integer division; of a float it rounds.
Fraction FloorOf(Arguments x) {
  if (x[0].denominator != 1) return {FloorDiv(x[0].numerator, x[0].denominator)};
  return Operation<ExprKind::kFloor>(x);
}
Fraction CeilOf(Arguments x) {
  if (x[0].denominator != 1) return {CeilDiv(x[0].numerator, x[0].denominator)};
  return Operation<ExprKind::kCeil>(x);
}

// Value and condition in turn; the first condition that holds decides.
Fraction PiecewiseOf(Arguments x) {
  Expr e = Expr::Overflow();
  for (size_t i = x.size() / 2; i-- > 0;) {
    const Expr condition = At(x, 2 * i + 1);
    e = condition.AsBool() == true ? At(x, 2 * i) : Where(condition, At(x, 2 * i), e);
  }
  return {x.size() % 2 == 0 ? e : Expr::Overflow()};
}

Fraction PowOf(Arguments x) { return PowFraction(x[0], x[1]); }
Fraction FloatPowOf(Arguments x) { return {Pow(ToFloat(At(x, 0)), ToFloat(At(x, 1)))}; }
Fraction Modular(Arguments x) { return {ModularIndexing(At(x, 0), At(x, 1), At(x, 2))}; }
Fraction PositiveInfinity(Arguments) { return {Expr::Infinity()}; }
Fraction MinusInfinity(Arguments) { return {Expr::NegInfinity()}; }
Fraction TrueOf(Arguments) { return {Expr::Bool(true)}; }
Fraction FalseOf(Arguments) { return {Expr::Bool(false)}; }

constexpr Function kOwn[] = {
    {"min", 1, kAny, Operation<ExprKind::kMin>},
    {"max", 1, kAny, Operation<ExprKind::kMax>},
    {"abs", 1, 1, Operation<ExprKind::kAbs>},
    {"where", 3, 3, Operation<ExprKind::kWhere>},
    {"ceildiv", 2, 2, Pair<CeilDiv>, true},
    {"truncdiv", 2, 2, Pair<TruncDiv>, true},
    {"truncmod", 2, 2, Pair<TruncMod>, true},
    {"float", 1, 1, Operation<ExprKind::kToFloat>},
    {"floor", 1, 1, FloorOf},
    {"ceil", 1, 1, CeilOf},
    {"trunc", 1, 1, Operation<ExprKind::kTrunc>},
    {"round", 1, 1, Operation<ExprKind::kRound>},
    {"sqrt", 1, 1, Operation<ExprKind::kSqrt>},
    {"log2", 1, 1, Operation<ExprKind::kLog2>},
};

constexpr Function kSympy[] = {
    {"Add", 0, kAny, AddAll},
    {"Mul", 0, kAny, MultiplyAll},
    {"Pow", 2, 2, PowOf},
    {"PowByNatural", 2, 2, PowOf},
    {"FloatPow", 2, 2, FloatPowOf},
    {"Integer", 1, 1, Same},
    {"Rational", 2, 2, DivideFractions},
    {"Identity", 1, 1, Same},
    {"FloorDiv", 2, 2, Pair<FloorDiv>, true},
    {"CleanDiv", 2, 2, Pair<FloorDiv>, true},
    {"CeilDiv", 2, 2, Pair<CeilDiv>, true},
    {"Mod", 2, 2, Pair<Mod>, true},
    {"PythonMod", 2, 2, Pair<Mod>, true},
    {"ModularIndexing", 3, 3, Modular, true},
    {"Min", 1, kAny, Operation<ExprKind::kMin>},
    {"Max", 1, kAny, Operation<ExprKind::kMax>},
    {"Abs", 1, 1, Operation<ExprKind::kAbs>},
    {"Where", 3, 3, Operation<ExprKind::kWhere>},
    {"Piecewise", 2, kAny, PiecewiseOf},
    {"ExprCondPair", 2, 2, nullptr},
    {"IntTrueDiv", 2, 2, Pair<TrueDiv>},
    {"FloatTrueDiv", 2, 2, Pair<TrueDiv>},
    {"ToFloat", 1, 1, Operation<ExprKind::kToFloat>},
    {"sym_float", 1, 1, Operation<ExprKind::kToFloat>},
    {"FloorToInt", 1, 1, FloorOf},
    {"CeilToInt", 1, 1, CeilOf},
    {"ceiling", 1, 1, CeilOf},
    {"TruncToInt", 1, 1, Operation<ExprKind::kTrunc>},
    {"TruncToFloat", 1, 1,
     [](Arguments x) -> Fraction { return {ToFloat(Operation<ExprKind::kTrunc>(x).numerator)}; }},
    {"int", 1, 1, Operation<ExprKind::kTrunc>},
    {"RoundToInt", 1, 1, Operation<ExprKind::kRound>},
    {"OpaqueUnaryFn_sqrt", 1, 1, Operation<ExprKind::kSqrt>},
    {"OpaqueUnaryFn_log2", 1, 1, Operation<ExprKind::kLog2>},
    {"LShift", 2, 2, Pair<ShiftLeft>, true},
    {"RShift", 2, 2, Pair<ShiftRight>, true},
    {"BitwiseFn_bitwise_and", 2, 2, Pair<BitAnd>, true},
    {"BitwiseFn_bitwise_or", 2, 2, Pair<BitOr>, true},
    {"BitwiseFn_bitwise_xor", 2, 2, Pair<BitXor>, true},
    {"Eq", 2, 2, Pair<Eq>},
    {"Equality", 2, 2, Pair<Eq>},
    {"Ne", 2, 2, Pair<Ne>},
    {"Unequality", 2, 2, Pair<Ne>},
    {"Lt", 2, 2, Pair<Lt>},
    {"StrictLessThan", 2, 2, Pair<Lt>},
    {"Le", 2, 2, Pair<Le>},
    {"LessThan", 2, 2, Pair<Le>},
    {"Gt", 2, 2, Pair<Gt>},
    {"StrictGreaterThan", 2, 2, Pair<Gt>},
    {"Ge", 2, 2, Pair<Ge>},
    {"GreaterThan", 2, 2, Pair<Ge>},
    {"And", 0, kAny, Operation<ExprKind::kAnd>},
    {"Or", 0, kAny, Operation<ExprKind::kOr>},
    {"Not", 1, 1, Operation<ExprKind::kNot>},
    {"Infinity", 0, 0, PositiveInfinity},
    {"IntInfinity", 0, 0, PositiveInfinity},
    {"NegativeInfinity", 0, 0, MinusInfinity},
    {"NegativeIntInfinity", 0, 0, MinusInfinity},
    {"BooleanTrue", 0, 0, TrueOf},
    {"BooleanFalse", 0, 0, FalseOf},
};

using Table = absl::flat_hash_map<absl::string_view, const Function*>;

template <size_t kSize>
Table MakeTable(const Function (&functions)[kSize]) {
  Table table;
  for (const Function& f : functions) table.emplace(f.name, &f);
  return table;
}

}  // namespace

Expr Resolve(const Fraction& f) {
  if (f.denominator == 1) return f.numerator;
  if (f.numerator.type() == ExprType::kInt && f.denominator.type() == ExprType::kInt) {
    const Expr quotient = FloorDiv(f.numerator, f.denominator);
    if (!quotient.IsOverflow() && quotient * f.denominator == f.numerator) return quotient;
  }
  return TrueDiv(f.numerator, f.denominator);
}

Fraction AddFractions(const Fraction& a, const Fraction& b) {
  if (a.denominator == b.denominator) return {a.numerator + b.numerator, a.denominator};
  return {a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator};
}

Fraction MultiplyFractions(const Fraction& a, const Fraction& b) {
  return {a.numerator * b.numerator, a.denominator * b.denominator};
}

Fraction PowFraction(const Fraction& base, const Fraction& exponent) {
  if (exponent.denominator == 2 && exponent.numerator == 1) {  // SymPy writes sqrt as x**(1/2)
    return {MakeAny(ExprKind::kSqrt, {Resolve(base)})};
  }
  const Expr e = Resolve(exponent);
  if (e.is_const() && *e.AsInt() < 0 && *e.AsInt() != INT64_MIN) {
    const Expr n = -*e.AsInt();
    return {Pow(base.denominator, n), Pow(base.numerator, n)};
  }
  if (base.denominator == 1) return {Pow(base.numerator, e)};
  return {Pow(base.numerator, e), Pow(base.denominator, e)};
}

const Function* FindFunction(absl::string_view name, bool sympy) {
  static const Table& own = *new Table(MakeTable(kOwn));
  static const Table& others = *new Table(MakeTable(kSympy));
  auto it = own.find(name);
  if (it != own.end()) return it->second;
  it = others.find(name);
  return sympy && it != others.end() ? it->second : nullptr;
}

}  // namespace lathe::symbolic
