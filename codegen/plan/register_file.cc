#include "codegen/plan/register_file.h"

#include <cstring>

#include "dtypes/base/status.h"

namespace lathe {
namespace {

using symbolic::ExprKind;

// The operation of kinds whose operands fold from left to right.
std::optional<SizeOp> FoldingOp(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAdd:
      return SizeOp::kAdd;
    case ExprKind::kMul:
      return SizeOp::kMul;
    case ExprKind::kFloorDiv:
      return SizeOp::kFloorDiv;
    case ExprKind::kMod:
      return SizeOp::kMod;
    case ExprKind::kTruncDiv:
      return SizeOp::kTruncDiv;
    case ExprKind::kTruncMod:
      return SizeOp::kTruncMod;
    case ExprKind::kPow:
      return SizeOp::kPow;
    case ExprKind::kShiftLeft:
      return SizeOp::kShiftLeft;
    case ExprKind::kShiftRight:
      return SizeOp::kShiftRight;
    case ExprKind::kBitAnd:
      return SizeOp::kBitAnd;
    case ExprKind::kBitOr:
      return SizeOp::kBitOr;
    case ExprKind::kBitXor:
      return SizeOp::kBitXor;
    case ExprKind::kMin:
      return SizeOp::kMin;
    case ExprKind::kMax:
      return SizeOp::kMax;
    case ExprKind::kEq:
      return SizeOp::kEq;
    case ExprKind::kNe:
      return SizeOp::kNe;
    case ExprKind::kLt:
      return SizeOp::kLt;
    case ExprKind::kLe:
      return SizeOp::kLe;
    case ExprKind::kAnd:
      return SizeOp::kAnd;
    case ExprKind::kOr:
      return SizeOp::kOr;
    case ExprKind::kTrueDiv:
      return SizeOp::kFloatDiv;
    case ExprKind::kFloatAdd:
      return SizeOp::kFloatAdd;
    case ExprKind::kFloatMul:
      return SizeOp::kFloatMul;
    case ExprKind::kFloatPow:
      return SizeOp::kFloatPow;
    default:
      return std::nullopt;
  }
}

std::optional<SizeOp> UnaryOp(ExprKind kind) {
  switch (kind) {
    case ExprKind::kAbs:
      return SizeOp::kAbs;
    case ExprKind::kNot:
      return SizeOp::kNot;
    case ExprKind::kToFloat:
      return SizeOp::kToFloat;
    case ExprKind::kFloor:
      return SizeOp::kFloatFloor;
    case ExprKind::kCeil:
      return SizeOp::kFloatCeil;
    case ExprKind::kTrunc:
      return SizeOp::kFloatTrunc;
    case ExprKind::kRound:
      return SizeOp::kFloatRound;
    case ExprKind::kSqrt:
      return SizeOp::kFloatSqrt;
    case ExprKind::kLog2:
      return SizeOp::kFloatLog2;
    default:
      return std::nullopt;
  }
}

// Operations over float registers take integer operands through kToFloat.
bool TakesFloats(ExprKind kind) {
  switch (kind) {
    case ExprKind::kTrueDiv:
    case ExprKind::kFloatAdd:
    case ExprKind::kFloatMul:
    case ExprKind::kFloatPow:
    case ExprKind::kFloor:
    case ExprKind::kCeil:
    case ExprKind::kTrunc:
    case ExprKind::kRound:
    case ExprKind::kSqrt:
    case ExprKind::kLog2:
      return true;
    default:
      return false;
  }
}

}  // namespace

Register RegisterFile::Append(SizeProgram& program, SizeOp op, Register a, Register b, Register c) {
  SizeInstruction instruction;
  instruction.op = op;
  instruction.dst = New();
  instruction.a = a;
  instruction.b = b;
  instruction.c = c;
  program.code.push_back(instruction);
  return instruction.dst;
}

absl::StatusOr<Register> RegisterFile::Of(const Expr& e, SizeProgram& program) {
  // Operands first, with a stack of our own: expressions may be deep.
  std::vector<Expr> pending = {e};
  while (!pending.empty()) {
    const Expr top = pending.back();
    if (of_.contains(top)) {
      pending.pop_back();
      continue;
    }
    const size_t before = pending.size();
    for (const Expr& operand : top.operands()) {
      if (!of_.contains(operand)) pending.push_back(operand);
    }
    if (pending.size() > before) continue;
    pending.pop_back();
    LATHE_RETURN_IF_ERROR(Emit(top, program));
  }
  return of_.at(e);
}

absl::Status RegisterFile::Emit(const Expr& e, SizeProgram& program) {
  if (e.is_symbol()) {
    return FailedPrecondition("the size ", e.symbol_name(), " is not known here");
  }
  if (e.IsOverflow()) return OutOfRange("a size does not fit 64 bits");
  std::optional<int64_t> constant = e.AsInt();
  if (!constant.has_value() && e.kind() == ExprKind::kFloatConst) {
    const double value = *e.AsFloat();
    int64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    constant = bits;
  }
  if (constant.has_value()) {
    SizeInstruction instruction;
    instruction.dst = New();
    instruction.immediate = *constant;
    program.code.push_back(instruction);
    of_[e] = instruction.dst;
    return absl::OkStatus();
  }
  std::vector<Register> operands;
  for (const Expr& operand : e.operands()) {
    Register reg = of_.at(operand);
    if (TakesFloats(e.kind()) && operand.type() != symbolic::ExprType::kFloat) {
      reg = Append(program, SizeOp::kToFloat, reg);
    }
    operands.push_back(reg);
  }
  Register result;
  if (auto unary = UnaryOp(e.kind()); unary.has_value()) {
    result = Append(program, *unary, operands[0]);
  } else if (e.kind() == ExprKind::kWhere) {
    result = Append(program, SizeOp::kSelect, operands[0], operands[1], operands[2]);
  } else if (auto fold = FoldingOp(e.kind()); fold.has_value()) {
    result = operands[0];
    for (size_t k = 1; k < operands.size(); ++k) {
      result = Append(program, *fold, result, operands[k]);
    }
  } else {
    return Unimplemented("an expression that no size program computes: ", symbolic::ToString(e));
  }
  of_[e] = result;
  return absl::OkStatus();
}

}  // namespace lathe
