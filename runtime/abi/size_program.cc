#include "runtime/abi/size_program.h"

#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include "dtypes/base/status.h"

namespace lathe {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

double AsFloat(int64_t bits) { return std::bit_cast<double>(bits); }
int64_t AsBits(double value) { return std::bit_cast<int64_t>(value); }

// Python's rule: the quotient rounds towards minus infinity, the remainder has the divisor's sign.
int64_t FloorDiv(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}
int64_t FloorMod(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// False on overflow or a negative exponent.
bool Power(int64_t base, int64_t exponent, int64_t* result) {
  if (exponent < 0) return false;
  int64_t value = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(value, base, &value)) return false;
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return false;
  }
  *result = value;
  return true;
}

bool ShiftLeft(int64_t value, int64_t by, int64_t* result) {
  if (by < 0) return false;
  if (value == 0 || by == 0) return *result = value, true;
  if (by > 62) return false;
  return !__builtin_mul_overflow(value, int64_t{1} << by, result);
}

bool ShiftRight(int64_t value, int64_t by, int64_t* result) {
  if (by < 0) return false;
  *result = value >> (by > 63 ? 63 : by);
  return true;
}

// False for NaN and what int64 cannot hold.
bool ToInteger(double value, int64_t* result) {
  if (!(value >= -0x1p63 && value < 0x1p63)) return false;
  *result = static_cast<int64_t>(value);
  return true;
}

double RoundHalfToEven(double value) {
  const double below = std::floor(value);
  const double rest = value - below;
  if (rest < 0.5) return below;
  if (rest > 0.5) return below + 1;
  return std::fmod(below, 2) == 0 ? below : below + 1;
}

// Writes the result of one instruction; false when it has none.
bool Step(const SizeInstruction& i, int64_t* r) {
  int64_t& dst = r[i.dst];
  const int64_t a = r[i.a], b = r[i.b];
  switch (i.op) {
    case SizeOp::kConst:
      dst = i.immediate;
      return true;
    case SizeOp::kAdd:
      return !__builtin_add_overflow(a, b, &dst);
    case SizeOp::kSub:
      return !__builtin_sub_overflow(a, b, &dst);
    case SizeOp::kMul:
      return !__builtin_mul_overflow(a, b, &dst);
    case SizeOp::kFloorDiv:
      if (b == 0 || (a == kMin && b == -1)) return false;
      dst = FloorDiv(a, b);
      return true;
    case SizeOp::kMod:
      if (b == 0) return false;
      dst = b == -1 ? 0 : FloorMod(a, b);
      return true;
    case SizeOp::kTruncDiv:
      if (b == 0 || (a == kMin && b == -1)) return false;
      dst = a / b;
      return true;
    case SizeOp::kTruncMod:
      if (b == 0) return false;
      dst = b == -1 ? 0 : a % b;
      return true;
    case SizeOp::kPow:
      return Power(a, b, &dst);
    case SizeOp::kShiftLeft:
      return ShiftLeft(a, b, &dst);
    case SizeOp::kShiftRight:
      return ShiftRight(a, b, &dst);
    case SizeOp::kBitAnd:
      dst = a & b;
      return true;
    case SizeOp::kBitOr:
      dst = a | b;
      return true;
    case SizeOp::kBitXor:
      dst = a ^ b;
      return true;
    case SizeOp::kMin:
      dst = a < b ? a : b;
      return true;
    case SizeOp::kMax:
      dst = a > b ? a : b;
      return true;
    case SizeOp::kAbs:
      if (a == kMin) return false;
      dst = a < 0 ? -a : a;
      return true;
    case SizeOp::kNeg:
      if (a == kMin) return false;
      dst = -a;
      return true;
    case SizeOp::kEq:
      dst = a == b;
      return true;
    case SizeOp::kNe:
      dst = a != b;
      return true;
    case SizeOp::kLt:
      dst = a < b;
      return true;
    case SizeOp::kLe:
      dst = a <= b;
      return true;
    case SizeOp::kAnd:
      dst = a != 0 && b != 0;
      return true;
    case SizeOp::kOr:
      dst = a != 0 || b != 0;
      return true;
    case SizeOp::kNot:
      dst = a == 0;
      return true;
    case SizeOp::kSelect:
      dst = a != 0 ? b : r[i.c];
      return true;
    case SizeOp::kToFloat:
      dst = AsBits(static_cast<double>(a));
      return true;
    case SizeOp::kFloatAdd:
      dst = AsBits(AsFloat(a) + AsFloat(b));
      return true;
    case SizeOp::kFloatMul:
      dst = AsBits(AsFloat(a) * AsFloat(b));
      return true;
    case SizeOp::kFloatDiv:
      if (AsFloat(b) == 0) return false;
      dst = AsBits(AsFloat(a) / AsFloat(b));
      return true;
    case SizeOp::kFloatPow:
      dst = AsBits(std::pow(AsFloat(a), AsFloat(b)));
      return true;
    case SizeOp::kFloatSqrt:
      if (AsFloat(a) < 0) return false;
      dst = AsBits(std::sqrt(AsFloat(a)));
      return true;
    case SizeOp::kFloatLog2:
      if (!(AsFloat(a) > 0)) return false;
      dst = AsBits(std::log2(AsFloat(a)));
      return true;
    case SizeOp::kFloatFloor:
      return ToInteger(std::floor(AsFloat(a)), &dst);
    case SizeOp::kFloatCeil:
      return ToInteger(std::ceil(AsFloat(a)), &dst);
    case SizeOp::kFloatTrunc:
      return ToInteger(std::trunc(AsFloat(a)), &dst);
    case SizeOp::kFloatRound:
      return ToInteger(RoundHalfToEven(AsFloat(a)), &dst);
  }
  return false;
}

// Operands are read again only here: a failing instruction leaves a wrapped value in dst, which may
// be an operand, so the message names the operation and what is sure.
absl::Status Failure(const SizeInstruction& i, int64_t a, int64_t b) {
  const bool divides = i.op == SizeOp::kFloorDiv || i.op == SizeOp::kMod ||
                       i.op == SizeOp::kTruncDiv || i.op == SizeOp::kTruncMod;
  if (divides && b == 0) return OutOfRange("size expression: ", a, " is divided by zero");
  if (i.op == SizeOp::kFloatDiv) return OutOfRange("size expression: division by zero");
  if ((i.op == SizeOp::kShiftLeft || i.op == SizeOp::kShiftRight) && b < 0) {
    return OutOfRange("size expression: shift by ", b);
  }
  if (i.op > SizeOp::kToFloat) {
    return OutOfRange("size expression: ", Name(i.op), " of ", AsFloat(a), " has no value");
  }
  return OutOfRange("size expression: ", Name(i.op), " of ", a, " and ", b, " passes 64 bits");
}

}  // namespace

absl::string_view Name(SizeOp op) {
  static constexpr absl::string_view kNames[] = {
      "const",      "add",        "sub",        "mul",         "floor_div",   "mod",
      "trunc_div",  "trunc_mod",  "pow",        "shift_left",  "shift_right", "bit_and",
      "bit_or",     "bit_xor",    "min",        "max",         "abs",         "neg",
      "eq",         "ne",         "lt",         "le",          "and",         "or",
      "not",        "select",     "to_float",   "float_add",   "float_mul",   "float_div",
      "float_pow",  "float_sqrt", "float_log2", "float_floor", "float_ceil",  "float_trunc",
      "float_round"};
  static_assert(std::size(kNames) == kSizeOpCount);
  return kNames[static_cast<size_t>(op)];
}

int OperandCount(SizeOp op) {
  switch (op) {
    case SizeOp::kConst:
      return 0;
    case SizeOp::kAbs:
    case SizeOp::kNeg:
    case SizeOp::kNot:
    case SizeOp::kToFloat:
    case SizeOp::kFloatSqrt:
    case SizeOp::kFloatLog2:
    case SizeOp::kFloatFloor:
    case SizeOp::kFloatCeil:
    case SizeOp::kFloatTrunc:
    case SizeOp::kFloatRound:
      return 1;
    case SizeOp::kSelect:
      return 3;
    default:
      return 2;
  }
}

absl::Status RunSizeProgram(const SizeProgram& program, int64_t* registers) {
  for (const SizeInstruction& i : program.code) {
    const int64_t a = registers[i.a], b = registers[i.b];
    if (__builtin_expect(!Step(i, registers), 0)) return Failure(i, a, b);
  }
  return absl::OkStatus();
}

}  // namespace lathe
