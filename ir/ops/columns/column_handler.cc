#include "ir/ops/columns/column_handler.h"

#include <bit>
#include <cmath>
#include <limits>

#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "dtypes/wide.h"

namespace lathe {
namespace {

absl::Status NoSuch(OpKind kind, DType dtype) {
  return Unimplemented(OpKindName(kind), " is not implemented for ", Name(dtype));
}

double PythonMod(double a, double b) {
  double mod = std::fmod(a, b);
  return mod != 0 && (b < 0) != (mod < 0) ? mod + b : mod;
}

// Python's floor division of floats.
double PythonFloorDiv(double a, double b) {
  if (b == 0) return a / b;
  double mod = std::fmod(a, b);
  double quotient = (a - mod) / b;
  if (mod != 0 && (b < 0) != (mod < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

double FloatUnary(OpKind kind, double x) {
  switch (kind) {
    case OpKind::kNeg:
      return -x;
    case OpKind::kAbs:
      return std::fabs(x);
    case OpKind::kSign:
      return (0 < x) - (x < 0);
    case OpKind::kExp:
      return std::exp(x);
    case OpKind::kExp2:
      return std::exp2(x);
    case OpKind::kExpm1:
      return std::expm1(x);
    case OpKind::kLog:
      return std::log(x);
    case OpKind::kLog2:
      return std::log2(x);
    case OpKind::kLog10:
      return std::log10(x);
    case OpKind::kLog1p:
      return std::log1p(x);
    case OpKind::kSqrt:
      return std::sqrt(x);
    case OpKind::kRsqrt:
      return 1 / std::sqrt(x);
    case OpKind::kReciprocal:
      return 1 / x;
    case OpKind::kSin:
      return std::sin(x);
    case OpKind::kCos:
      return std::cos(x);
    case OpKind::kTan:
      return std::tan(x);
    case OpKind::kAsin:
      return std::asin(x);
    case OpKind::kAcos:
      return std::acos(x);
    case OpKind::kAtan:
      return std::atan(x);
    case OpKind::kSinh:
      return std::sinh(x);
    case OpKind::kCosh:
      return std::cosh(x);
    case OpKind::kTanh:
      return std::tanh(x);
    case OpKind::kAsinh:
      return std::asinh(x);
    case OpKind::kAcosh:
      return std::acosh(x);
    case OpKind::kAtanh:
      return std::atanh(x);
    case OpKind::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case OpKind::kErf:
      return std::erf(x);
    case OpKind::kErfc:
      return std::erfc(x);
    case OpKind::kFloor:
      return std::floor(x);
    case OpKind::kCeil:
      return std::ceil(x);
    case OpKind::kTrunc:
      return std::trunc(x);
    case OpKind::kRound:
      return std::nearbyint(x);
    default:
      LATHE_UNREACHABLE();
  }
}

// Unary operations of floats that give bool: 1 or 0; -1 for the others.
int FloatPredicate(OpKind kind, double x) {
  switch (kind) {
    case OpKind::kLogicalNot:
      return x == 0;
    case OpKind::kIsNan:
      return std::isnan(x);
    case OpKind::kIsInf:
      return std::isinf(x);
    case OpKind::kSignBit:
      return std::signbit(x);
    default:
      return -1;
  }
}

double NextAfter(double a, double b, DType dtype) {
  if (dtype == DType::kF64) return std::nextafter(a, b);
  return std::nextafter(static_cast<float>(a), static_cast<float>(b));
}

double FloatBinary(OpKind kind, double a, double b, DType dtype) {
  switch (kind) {
    case OpKind::kAdd:
      return a + b;
    case OpKind::kSub:
      return a - b;
    case OpKind::kMul:
      return a * b;
    case OpKind::kDiv:
      return a / b;
    case OpKind::kMinimum:
      return a < b || std::isnan(a) ? a : b;
    case OpKind::kMaximum:
      return a > b || std::isnan(a) ? a : b;
    case OpKind::kFmin:
      return a < b || std::isnan(b) ? a : b;
    case OpKind::kFmax:
      return a > b || std::isnan(b) ? a : b;
    case OpKind::kFloorDiv:
      return PythonFloorDiv(a, b);
    case OpKind::kTruncDiv:
      // The digits that f32 lacks would be cut off a quotient that rounds up to an integer.
      return std::trunc(dtype == DType::kF32 ? static_cast<float>(a / b) : a / b);
    case OpKind::kRemainder:
      return PythonMod(a, b);
    case OpKind::kFmod:
      return std::fmod(a, b);
    case OpKind::kPow:
      return std::pow(a, b);
    case OpKind::kAtan2:
      return std::atan2(a, b);
    case OpKind::kCopySign:
      return std::copysign(a, b);
    case OpKind::kHypot:
      return std::hypot(a, b);
    case OpKind::kNextAfter:
      return NextAfter(a, b, dtype);
    default:
      LATHE_UNREACHABLE();
  }
}

int Compare(OpKind kind, auto a, auto b) {
  switch (kind) {
    case OpKind::kEq:
      return a == b;
    case OpKind::kNe:
      return a != b;
    case OpKind::kLt:
      return a < b;
    case OpKind::kLe:
      return a <= b;
    case OpKind::kGt:
      return a > b;
    case OpKind::kGe:
      return a >= b;
    default:
      return -1;
  }
}

bool IsComparison(OpKind kind) {
  return kind == OpKind::kEq || kind == OpKind::kNe || kind == OpKind::kLt || kind == OpKind::kLe ||
         kind == OpKind::kGt || kind == OpKind::kGe;
}

bool IsFloatOnly(OpKind kind) {
  switch (kind) {
    case OpKind::kNeg:
    case OpKind::kAbs:
    case OpKind::kSign:
    case OpKind::kBitwiseNot:
    case OpKind::kFloor:
    case OpKind::kCeil:
    case OpKind::kTrunc:
    case OpKind::kRound:
      return false;
    default:
      return OpKindArity(kind) == 1;
  }
}

int64_t IntegerPow(int64_t base, int64_t exponent, DType dtype) {
  if (IsSigned(dtype) && exponent < 0) {
    if (base == 1) return 1;
    return base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  }
  int64_t result = 1;
  for (uint64_t e = static_cast<uint64_t>(exponent); e != 0; e >>= 1) {
    if (e & 1) result = WrapMul(result, base, dtype);
    base = WrapMul(base, base, dtype);
  }
  return result;
}

int64_t IntegerUnary(OpKind kind, int64_t x, DType dtype) {
  bool is_negative = IsSigned(dtype) && x < 0;
  switch (kind) {
    case OpKind::kNeg:
      return WrapNeg(x, dtype);
    case OpKind::kAbs:
      return is_negative ? WrapNeg(x, dtype) : x;
    case OpKind::kSign:
      return is_negative ? -1 : x != 0;
    case OpKind::kBitwiseNot:
      return IsBool(dtype) ? !x : WrapInt(~x, dtype);
    default:
      return x;  // floor, ceil, trunc, round
  }
}

// Operations that fail on a zero divisor.
bool IsDivision(OpKind kind) {
  return kind == OpKind::kFloorDiv || kind == OpKind::kTruncDiv || kind == OpKind::kRemainder ||
         kind == OpKind::kFmod;
}

std::optional<int64_t> IntegerBinary(OpKind kind, int64_t a, int64_t b, DType dtype) {
  switch (kind) {
    case OpKind::kAdd:
      return WrapAdd(a, b, dtype);
    case OpKind::kSub:
      return WrapSub(a, b, dtype);
    case OpKind::kMul:
      return WrapMul(a, b, dtype);
    case OpKind::kMinimum:
    case OpKind::kFmin:
      return IntLess(a, b, dtype) ? a : b;
    case OpKind::kMaximum:
    case OpKind::kFmax:
      return IntLess(b, a, dtype) ? a : b;
    case OpKind::kFloorDiv:
      return FloorDiv(a, b, dtype);
    case OpKind::kTruncDiv:
      return TruncDiv(a, b, dtype);
    case OpKind::kRemainder:
      return Mod(a, b, dtype);
    case OpKind::kFmod:
      return TruncMod(a, b, dtype);
    case OpKind::kPow:
      return IntegerPow(a, b, dtype);
    case OpKind::kAnd:
      return a & b;
    case OpKind::kOr:
      return a | b;
    case OpKind::kXor:
      return a ^ b;
    case OpKind::kShiftLeft:
      return ShiftLeft(a, b, dtype);
    case OpKind::kShiftRight:
      return ShiftRight(a, b, dtype);
    default:
      return std::nullopt;
  }
}

using Complex = std::complex<double>;

std::optional<Complex> ComplexUnary(OpKind kind, Complex x) {
  switch (kind) {
    case OpKind::kNeg:
      return -x;
    case OpKind::kExp:
      return std::exp(x);
    case OpKind::kExp2:
      return std::pow(2.0, x);
    case OpKind::kExpm1:
      return std::exp(x) - 1.0;
    case OpKind::kLog:
      return std::log(x);
    case OpKind::kLog2:
      return std::log(x) / std::log(2.0);
    case OpKind::kLog10:
      return std::log10(x);
    case OpKind::kLog1p:
      return std::log(1.0 + x);
    case OpKind::kSqrt:
      return std::sqrt(x);
    case OpKind::kRsqrt:
      return 1.0 / std::sqrt(x);
    case OpKind::kReciprocal:
      return 1.0 / x;
    case OpKind::kSin:
      return std::sin(x);
    case OpKind::kCos:
      return std::cos(x);
    case OpKind::kTan:
      return std::tan(x);
    case OpKind::kAsin:
      return std::asin(x);
    case OpKind::kAcos:
      return std::acos(x);
    case OpKind::kAtan:
      return std::atan(x);
    case OpKind::kSinh:
      return std::sinh(x);
    case OpKind::kCosh:
      return std::cosh(x);
    case OpKind::kTanh:
      return std::tanh(x);
    case OpKind::kAsinh:
      return std::asinh(x);
    case OpKind::kAcosh:
      return std::acosh(x);
    case OpKind::kAtanh:
      return std::atanh(x);
    case OpKind::kSigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case OpKind::kSign:
      return x == 0.0 ? x : x / std::abs(x);
    default:
      return std::nullopt;
  }
}

std::optional<Complex> ComplexBinary(OpKind kind, Complex a, Complex b) {
  switch (kind) {
    case OpKind::kAdd:
      return a + b;
    case OpKind::kSub:
      return a - b;
    case OpKind::kMul:
      return a * b;
    case OpKind::kDiv:
      return a / b;
    case OpKind::kPow:
      return a == 0.0 && b == 0.0 ? Complex(1.0) : std::pow(a, b);
    default:
      return std::nullopt;
  }
}

// A float as the kernels hold it on the way: past the largest f32 there is infinity. (The digits
// that f32 lacks stay, which makes this meaning the more exact one.)
double Held(double value, DType dtype) {
  if (dtype != DType::kF32 || std::isinf(static_cast<float>(value)) == std::isinf(value)) {
    return value;
  }
  return std::copysign(std::numeric_limits<double>::infinity(), value);
}

}  // namespace

OpsValue ColumnHandler::Push(Column column) {
  columns_.push_back(std::move(column));
  return {static_cast<int32_t>(columns_.size()) - 1};
}

OpsValue ColumnHandler::Fail(absl::Status status, DType dtype) {
  if (status_.ok()) status_ = std::move(status);
  return Constant(0, dtype);
}

OpsValue ColumnHandler::Input(Column column) { return Push(std::move(column)); }

OpsValue ColumnHandler::Constant(const Scalar& value, DType dtype) {
  Column column;
  column.dtype = dtype;
  Scalar v = IsComplex(dtype) ? value : Convert(value, dtype);
  if (IsComplex(dtype)) {
    column.complexes.assign(length_, v.ToComplex());
  } else if (IsFloat(dtype)) {
    column.floats.assign(length_, v.ToDouble());
  } else {
    column.integers.assign(length_, static_cast<int64_t>(v.ToUInt()));
    if (IsBool(dtype)) column.integers.assign(length_, v.ToBool());
  }
  return Push(std::move(column));
}

OpsValue ColumnHandler::IndexExpr(const Expr& index, DType dtype) {
  if (index.type() == symbolic::ExprType::kFloat && index.AsFloat()) {
    return Constant(*index.AsFloat(), dtype);
  }
  LATHE_CHECK(index.AsInt().has_value()) << "a symbolic index in a column";
  return Constant(*index.AsInt(), dtype);
}

OpsValue ColumnHandler::Load(BufferId, const Expr&, DType) { LATHE_UNREACHABLE(); }
void ColumnHandler::Store(BufferId, const Expr&, OpsValue, StoreMode) { LATHE_UNREACHABLE(); }
OpsValue ColumnHandler::LoadLocal(BufferId, DType) { LATHE_UNREACHABLE(); }
void ColumnHandler::StoreLocal(BufferId, OpsValue) { LATHE_UNREACHABLE(); }
Expr ColumnHandler::Indirect(OpsValue, const Expr&) { LATHE_UNREACHABLE(); }
OpsValue ColumnHandler::Reduce(ReduceKind, OpsValue, OpsValue) { LATHE_UNREACHABLE(); }

void ColumnHandler::Check(OpsValue condition, absl::string_view message) {
  for (int64_t value : column(condition).integers) {
    if (value == 0 && status_.ok()) status_ = InvalidArgument(message);
  }
}

OpsValue ColumnHandler::Cast(OpsValue value, DType dtype) {
  return Push(CastColumn(column(value), dtype));
}

OpsValue ColumnHandler::BitCast(OpsValue value, DType dtype) {
  const Column& from = column(value);
  LATHE_CHECK(BitWidth(from.dtype) == BitWidth(dtype)) << "BitCast between widths";
  Tensor bits = Tensor::Empty(from.dtype, {length_});
  WriteColumn(from, bits, 0);
  return Push(ReadColumn(Tensor(dtype, {length_}, {1}, 0, bits.storage()), 0, length_));
}

OpsValue ColumnHandler::ApplyWhere(const Column& condition, const Column& a, const Column& b) {
  Column result = b;
  for (int64_t k = 0; k < length_; ++k) {
    if (condition.integers[k] == 0) continue;
    if (!result.floats.empty()) result.floats[k] = a.floats[k];
    if (!result.integers.empty()) result.integers[k] = a.integers[k];
    if (!result.complexes.empty()) result.complexes[k] = a.complexes[k];
  }
  return Push(std::move(result));
}

OpsValue ColumnHandler::ApplyFloat(OpKind kind, absl::Span<const OpsValue> operands) {
  const Column& a = column(operands[0]);
  Column result;
  bool gives_bool = IsComparison(kind) || FloatPredicate(kind, 0) >= 0;
  result.dtype = gives_bool ? DType::kBool : a.dtype;
  if (kind == OpKind::kBitwiseNot || kind == OpKind::kAnd || kind == OpKind::kOr ||
      kind == OpKind::kXor || kind == OpKind::kShiftLeft || kind == OpKind::kShiftRight) {
    return Fail(NoSuch(kind, a.dtype), result.dtype);
  }
  for (int64_t k = 0; k < length_; ++k) {
    double x = a.floats[k];
    double y = operands.size() > 1 ? column(operands[1]).floats[k] : 0;
    if (kind == OpKind::kFma) {
      result.floats.push_back(Held(std::fma(x, y, column(operands[2]).floats[k]), a.dtype));
    } else if (gives_bool) {
      result.integers.push_back(IsComparison(kind) ? Compare(kind, x, y) : FloatPredicate(kind, x));
    } else {
      const double value =
          operands.size() == 1 ? FloatUnary(kind, x) : FloatBinary(kind, x, y, a.dtype);
      result.floats.push_back(Held(value, a.dtype));
    }
  }
  return Push(std::move(result));
}

OpsValue ColumnHandler::ApplyInteger(OpKind kind, absl::Span<const OpsValue> operands) {
  const Column& a = column(operands[0]);
  DType dtype = a.dtype;
  Column result;
  int predicate = FloatPredicate(kind, 0);
  result.dtype = IsComparison(kind) || predicate >= 0 ? DType::kBool : dtype;
  if (predicate < 0 && IsFloatOnly(kind)) return Fail(NoSuch(kind, dtype), dtype);
  for (int64_t k = 0; k < length_; ++k) {
    int64_t x = a.integers[k];
    if (predicate >= 0) {
      bool is_negative = IsSigned(dtype) && x < 0;
      result.integers.push_back(
          kind == OpKind::kLogicalNot ? x == 0 : kind == OpKind::kSignBit && is_negative);
      continue;
    }
    if (operands.size() == 1) {
      result.integers.push_back(IntegerUnary(kind, x, dtype));
      continue;
    }
    int64_t y = column(operands[1]).integers[k];
    if (kind == OpKind::kFma) {
      int64_t product = WrapMul(x, y, dtype);
      result.integers.push_back(WrapAdd(product, column(operands[2]).integers[k], dtype));
    } else if (IsComparison(kind)) {
      result.integers.push_back(
          dtype == DType::kU64 ? Compare(kind, static_cast<uint64_t>(x), static_cast<uint64_t>(y))
                               : Compare(kind, x, y));
    } else if (IsDivision(kind) && y == 0) {
      return Fail(InvalidArgument("ZeroDivisionError"), dtype);
    } else {
      std::optional<int64_t> value = IntegerBinary(kind, x, y, dtype);
      if (!value) return Fail(NoSuch(kind, dtype), dtype);
      result.integers.push_back(*value);
    }
  }
  return Push(std::move(result));
}

OpsValue ColumnHandler::ApplyComplex(OpKind kind, absl::Span<const OpsValue> operands) {
  const Column& a = column(operands[0]);
  Column result;
  result.dtype = a.dtype;
  if (kind == OpKind::kAbs) {
    result.dtype = ComplexPart(a.dtype);
    for (const Complex& x : a.complexes) result.floats.push_back(std::abs(x));
    return Push(std::move(result));
  }
  if (kind == OpKind::kEq || kind == OpKind::kNe || FloatPredicate(kind, 0) >= 0) {
    result.dtype = DType::kBool;
  }
  for (int64_t k = 0; k < length_; ++k) {
    Complex x = a.complexes[k];
    if (kind == OpKind::kIsNan || kind == OpKind::kIsInf || kind == OpKind::kLogicalNot) {
      bool value = kind == OpKind::kLogicalNot
                       ? x == 0.0
                       : FloatPredicate(kind, x.real()) == 1 || FloatPredicate(kind, x.imag()) == 1;
      result.integers.push_back(value);
      continue;
    }
    Complex y = operands.size() > 1 ? column(operands[1]).complexes[k] : Complex();
    if (kind == OpKind::kEq || kind == OpKind::kNe) {
      result.integers.push_back((x == y) == (kind == OpKind::kEq));
      continue;
    }
    std::optional<Complex> value =
        operands.size() == 1 ? ComplexUnary(kind, x) : ComplexBinary(kind, x, y);
    if (kind == OpKind::kFma) value = x * y + column(operands[2]).complexes[k];
    if (!value) return Fail(NoSuch(kind, a.dtype), a.dtype);
    result.complexes.push_back(*value);
  }
  return Push(std::move(result));
}

OpsValue ColumnHandler::Apply(OpKind kind, absl::Span<const OpsValue> operands) {
  if (kind == OpKind::kWhere) {
    LATHE_CHECK(dtype(operands[1]) == dtype(operands[2])) << "where of two dtypes";
    // Copies: pushing a result moves the columns.
    return ApplyWhere(column(operands[0]), column(operands[1]), column(operands[2]));
  }
  for (OpsValue operand : operands) {
    LATHE_CHECK(dtype(operand) == dtype(operands[0]))
        << OpKindName(kind) << " of " << Name(dtype(operands[0])) << " and "
        << Name(dtype(operand));
  }
  if (IsComplex(dtype(operands[0]))) return ApplyComplex(kind, operands);
  if (IsFloat(dtype(operands[0]))) return ApplyFloat(kind, operands);
  return ApplyInteger(kind, operands);
}

}  // namespace lathe
