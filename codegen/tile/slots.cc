#include "codegen/tile/slots.h"

#include <bit>

#include "dtypes/base/status.h"

namespace lathe::tile {
namespace {

using symbolic::ExprKind;
using symbolic::ExprType;

std::optional<SizeOp> PlainOp(ExprKind kind) {
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
    case ExprKind::kAbs:
      return SizeOp::kAbs;
    case ExprKind::kWhere:
      return SizeOp::kSelect;
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

// Whether an operation takes floats; integer operands are converted then.
bool TakesFloats(ExprKind kind) {
  switch (kind) {
    case ExprKind::kTrueDiv:
    case ExprKind::kFloatAdd:
    case ExprKind::kFloatMul:
    case ExprKind::kFloatPow:
    case ExprKind::kSqrt:
    case ExprKind::kLog2:
    case ExprKind::kFloor:
    case ExprKind::kCeil:
    case ExprKind::kTrunc:
    case ExprKind::kRound:
      return true;
    default:
      return false;
  }
}

}  // namespace

Slots::Slots(absl::Span<const Expr> symbols) {
  NewConstant(0);
  for (const Expr& symbol : symbols) {
    computed_[symbol] = static_cast<Slot>(values_.size());
    values_.push_back(0);
    is_constant_.push_back(false);
  }
}

Slot Slots::NewConstant(int64_t value) {
  auto [it, is_new] = constants_.try_emplace(value, static_cast<Slot>(values_.size()));
  if (is_new) {
    values_.push_back(value);
    is_constant_.push_back(true);
  }
  return it->second;
}

Slot Slots::Emit(SizeOp op, Slot a, Slot b, Slot c) {
  const Slot dst = static_cast<Slot>(values_.size());
  values_.push_back(0);
  is_constant_.push_back(false);
  setup_.code.push_back({op, dst, a, b, c, 0});
  return dst;
}

absl::StatusOr<Slot> Slots::Of(const Expr& e) {
  if (std::optional<int64_t> value = e.AsInt()) return NewConstant(*value);
  if (e.kind() == ExprKind::kFloatConst) {
    return NewConstant(std::bit_cast<int64_t>(*e.AsFloat()));
  }
  if (auto it = computed_.find(e); it != computed_.end()) return it->second;
  LATHE_ASSIGN_OR_RETURN(const Slot slot, Compile(e));
  computed_[e] = slot;
  return slot;
}

absl::StatusOr<Slot> Slots::Compile(const Expr& e) {
  const std::optional<SizeOp> op = PlainOp(e.kind());
  if (!op) return Unimplemented("tile tier: size expression ", symbolic::ToString(e));
  std::vector<Slot> slots;
  for (const Expr& operand : e.operands()) {
    LATHE_ASSIGN_OR_RETURN(Slot slot, Of(operand));
    if (TakesFloats(e.kind()) && operand.type() != ExprType::kFloat) {
      slot = Emit(SizeOp::kToFloat, slot);
    }
    slots.push_back(slot);
  }
  if (*op == SizeOp::kSelect) return Emit(*op, slots[0], slots[1], slots[2]);
  if (slots.size() == 1) return Emit(*op, slots[0]);
  Slot result = slots[0];
  for (size_t k = 1; k < slots.size(); ++k) result = Emit(*op, result, slots[k]);
  return result;
}

std::optional<int64_t> Slots::Constant(Slot slot) const {
  if (!is_constant_[slot]) return std::nullopt;
  return values_[slot];
}

void Slots::MoveInto(KernelProgram& program) {
  program.slots = std::move(values_);
  program.setup = std::move(setup_);
}

}  // namespace lathe::tile
