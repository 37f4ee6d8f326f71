#include "ir/loops/computed_nan.h"

namespace lathe {

std::vector<bool> MayBeComputedNan(absl::Span<const LoopOp> ops) {
  std::vector<bool> result(ops.size(), false);
  for (size_t i = 0; i < ops.size(); ++i) {
    const LoopOp& op = ops[i];
    if (!HasResult(op.kind) || !IsFloat(op.dtype)) continue;
    switch (op.kind) {
      case OpKind::kLoad:
      case OpKind::kIndexExpr:
        break;
      case OpKind::kConstant: {
        const double value = op.constant.is_float() ? op.constant.ToDouble() : 0;
        result[i] = value != value;
        break;
      }
      case OpKind::kCast:
        result[i] = result[op.operands[0]];
        break;
      case OpKind::kBitCast:
        break;  // replaced before, if it was a float
      case OpKind::kWhere:
        result[i] = result[op.operands[1]] || result[op.operands[2]];
        break;
      default:
        result[i] = true;
    }
  }
  return result;
}

bool ShowsBits(const LoopOp& op, size_t k, DType operand) {
  if (operand != DType::kF32 && operand != DType::kF64) return false;
  switch (op.kind) {
    case OpKind::kStore:
      return op.mode == StoreMode::kPlain;
    case OpKind::kCast:
      return IsFloat(op.dtype) && op.dtype != DType::kF32 && op.dtype != DType::kF64;
    case OpKind::kBitCast:
    case OpKind::kSignBit:
      return true;
    case OpKind::kCopySign:
      return k == 1;
    default:
      return false;
  }
}

}  // namespace lathe
