// The arithmetic half of OpEmitter.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/cpu/op_emitter.h"
#include "dtypes/base/status.h"
#include "ir/loops/affine_index.h"

namespace lathe::cpu {
namespace {

int LaneBytes(DType dtype) { return std::max(1, BitWidth(dtype) / 8); }

// hn::NAME of one to three vectors, where the name says it all.
absl::string_view DirectName(OpKind kind) {
  switch (kind) {
    case OpKind::kNeg:
      return "Neg";
    case OpKind::kAbs:
      return "Abs";
    case OpKind::kSign:
      return "Sign";
    case OpKind::kBitwiseNot:
      return "Not";
    case OpKind::kSqrt:
      return "Sqrt";
    case OpKind::kFloor:
      return "Floor";
    case OpKind::kCeil:
      return "Ceil";
    case OpKind::kTrunc:
      return "Trunc";
    case OpKind::kRound:
      return "Round";
    case OpKind::kAdd:
      return "Add";
    case OpKind::kSub:
      return "Sub";
    case OpKind::kMul:
      return "Mul";
    case OpKind::kDiv:
      return "Div";
    case OpKind::kMinimum:
      return "Minimum";
    case OpKind::kMaximum:
      return "Maximum";
    case OpKind::kFmin:
      return "Fmin";
    case OpKind::kFmax:
      return "Fmax";
    case OpKind::kCopySign:
      return "CopySign";
    case OpKind::kAnd:
      return "And";
    case OpKind::kOr:
      return "Or";
    case OpKind::kXor:
      return "Xor";
    case OpKind::kShiftLeft:
      return "ShiftLeftBy";
    case OpKind::kShiftRight:
      return "ShiftRightBy";
    case OpKind::kEq:
      return "Eq";
    case OpKind::kNe:
      return "Ne";
    case OpKind::kLt:
      return "Lt";
    case OpKind::kLe:
      return "Le";
    case OpKind::kGt:
      return "Gt";
    case OpKind::kGe:
      return "Ge";
    case OpKind::kFma:
      return "MulAdd";
    default:
      return "";
  }
}

bool IsRounding(OpKind kind) {
  return kind == OpKind::kFloor || kind == OpKind::kCeil || kind == OpKind::kTrunc ||
         kind == OpKind::kRound;
}

// On masks; $0, $1 and $2 stand for the operands. "" where a bool has no such operation.
std::string LogicPattern(OpKind kind) {
  switch (kind) {
    case OpKind::kNeg:
    case OpKind::kAbs:
    case OpKind::kSign:
    case OpKind::kFloor:
    case OpKind::kCeil:
    case OpKind::kTrunc:
    case OpKind::kRound:
    case OpKind::kShiftLeft:
      return "A";
    case OpKind::kBitwiseNot:
    case OpKind::kLogicalNot:
      return "~A";
    case OpKind::kIsNan:
    case OpKind::kIsInf:
    case OpKind::kSignBit:
      return "A ^ A";
    case OpKind::kAdd:
    case OpKind::kOr:
    case OpKind::kMaximum:
    case OpKind::kFmax:
      return "A | B";
    case OpKind::kMul:
    case OpKind::kAnd:
    case OpKind::kMinimum:
    case OpKind::kFmin:
      return "A & B";
    case OpKind::kSub:
    case OpKind::kXor:
    case OpKind::kNe:
      return "A ^ B";
    case OpKind::kEq:
      return "~(A ^ B)";
    case OpKind::kLt:
      return "~A & B";
    case OpKind::kLe:
      return "~A | B";
    case OpKind::kGt:
    case OpKind::kShiftRight:
      return "A & ~B";
    case OpKind::kGe:
    case OpKind::kPow:
      return "A | ~B";
    case OpKind::kWhere:
      return "(A & B) | (~A & C)";
    case OpKind::kFma:
      return "(A & B) | C";
    case OpKind::kFloorDiv:
    case OpKind::kTruncDiv:
      return "A & B";
    case OpKind::kRemainder:
    case OpKind::kFmod:
      return "A ^ A";
    default:
      return "";
  }
}

}  // namespace

absl::Status OpEmitter::Arithmetic(int id, const Scope& scope) {
  const LoopOp& o = op(id);
  const DType dtype = OperandDType(o, o.kind == OpKind::kWhere ? 1 : 0);
  if (IsBool(dtype)) return Logic(id, scope);
  if (IsIntegerDivision(o.kind, dtype)) return Divide(id, scope);
  if (plan_.narrow[id] && scope.vector_axis >= 0) return Compare(id, scope);
  LATHE_ASSIGN_OR_RETURN(std::string text, ArithmeticText(o, dtype));
  return Define(id, text, IsBool(o.dtype) ? LaneBytes(dtype) : 0);
}

absl::StatusOr<std::string> OpEmitter::ArithmeticText(const LoopOp& o, DType dtype) {
  const bool is_float = IsFloat(dtype);
  const bool shows = is_float && (o.kind == OpKind::kSignBit || o.kind == OpKind::kCopySign);
  const auto operand = [&](size_t k) { return shows ? Shown(o, k) : Operand(o, k); };
  const std::string a = operand(0);
  std::string all = a;
  for (size_t k = 1; k < o.operands.size(); ++k) absl::StrAppend(&all, ", ", operand(k));
  if (const absl::string_view name = VectorMathName(o.kind, dtype); !name.empty()) {
    parts_.vector_math = true;
    return absl::StrCat("vm::", name, "(", Tag(dtype), ", ", all, ")");
  }
  switch (o.kind) {
    case OpKind::kLogicalNot:
      return absl::StrCat("hn::Eq(", a, ", hn::Zero(", Tag(dtype), "))");
    case OpKind::kIsNan:
      return absl::StrCat("hn::IsNaN(", a, ")");
    case OpKind::kIsInf:
      return is_float ? absl::StrCat("hn::IsInf(", a, ")")
                      : absl::StrCat("hn::Ne(", a, ", ", a, ")");
    case OpKind::kSignBit:
      return IsUnsigned(dtype) ? absl::StrCat("hn::Ne(", a, ", ", a, ")")
                               : absl::StrCat("hn::SignBit(", a, ")");
    case OpKind::kRsqrt:
      return absl::StrCat("hn::Div(hn::Set(", Tag(dtype), ", 1), hn::Sqrt(", a, "))");
    case OpKind::kReciprocal:
      return absl::StrCat("hn::Div(hn::Set(", Tag(dtype), ", 1), ", a, ")");
    case OpKind::kWhere:
      return absl::StrCat("hn::IfThenElse(", MaskAs(o.operands[0], LaneBytes(dtype)), ", ",
                          Operand(o, 1), ", ", Operand(o, 2), ")");
    case OpKind::kPow:
      parts_.integers = true;
      return absl::StrCat("hn::IntPow(", Tag(dtype), ", ", all, ")");
    default:
      break;
  }
  if (!is_float && IsRounding(o.kind)) return a;
  const absl::string_view name = DirectName(o.kind);
  const bool needs_float =
      o.kind == OpKind::kSqrt || o.kind == OpKind::kDiv || o.kind == OpKind::kCopySign;
  const bool needs_integer = o.kind == OpKind::kBitwiseNot || o.kind == OpKind::kAnd ||
                             o.kind == OpKind::kOr || o.kind == OpKind::kXor ||
                             o.kind == OpKind::kShiftLeft || o.kind == OpKind::kShiftRight;
  if (name.empty() || (needs_float && !is_float) || (needs_integer && is_float)) {
    return Internal("kernel: ", OpKindName(o.kind), " of ", absl::string_view(Name(dtype)));
  }
  parts_.integers |= o.kind == OpKind::kShiftLeft || o.kind == OpKind::kShiftRight;
  return absl::StrCat("hn::", name, "(", all, ")");
}

absl::Status OpEmitter::Logic(int id, const Scope& scope) {
  const LoopOp& o = op(id);
  const std::string pattern = LogicPattern(o.kind);
  if (pattern.empty()) return Internal("kernel: ", OpKindName(o.kind), " of bool");
  // What is the same in all lanes fits itself to what is not.
  int bytes = 0, alike = 1;
  for (int32_t operand : o.operands) {
    int& most = plan_.varies[operand] ? bytes : alike;
    most = std::max(most, MaskBytes(operand));
  }
  if (bytes == 0) bytes = alike;
  if (IsIntegerDivision(o.kind, DType::kBool)) {
    const std::string zero = absl::StrCat("hn::Not(", MaskAs(o.operands[1], bytes), ")");
    ReturnIfAny(id, Failing(o, zero, bytes, scope), -2, Operand(o, 0));
  }
  std::string text;
  for (char c : pattern) {
    if (c >= 'A' && c <= 'C') {
      absl::StrAppend(&text, MaskAs(o.operands[c - 'A'], bytes));
    } else {
      text.push_back(c);
    }
  }
  if (o.mask != kNoValue) text = absl::StrCat("(", text, ") & ", MaskAs(o.mask, bytes));
  return Define(id, text, bytes);
}

absl::Status OpEmitter::Divide(int id, const Scope& scope) {
  const LoopOp& o = op(id);
  const DType dtype = o.dtype;
  parts_.integers = true;
  const std::string a = Operand(o, 0), b = Operand(o, 1), tag = Tag(dtype);
  const std::string is_zero = absl::StrCat("hn::Eq(", b, ", hn::Zero(", tag, "))");
  const int bytes = LaneBytes(dtype);
  ReturnIfAny(id, Failing(o, is_zero, bytes, scope), -2, a);
  absl::string_view name = o.kind == OpKind::kFloorDiv    ? "FloorQuotient"
                           : o.kind == OpKind::kTruncDiv  ? "TruncQuotient"
                           : o.kind == OpKind::kRemainder ? "FloorRemainder"
                                                          : "TruncRemainder";
  std::string text = absl::StrCat("hn::", name, "(", a, ", hn::IfThenElse(", is_zero, ", hn::Set(",
                                  tag, ", 1), ", b, "))");
  if (o.mask != kNoValue) {
    text = absl::StrCat("hn::IfThenElseZero(", MaskAs(o.mask, bytes), ", ", text, ")");
  }
  return Define(id, text);
}

// a + l*sa against b + l*sb as l*(sa - sb) against b - a, in 32 bits.
absl::Status OpEmitter::Compare(int id, const Scope& scope) {
  const LoopOp& o = op(id);
  const Expr& axis = spec_.axes[scope.vector_axis].symbol;
  std::string first[2];
  int64_t stride[2] = {0, 0};
  for (int k : {0, 1}) {
    const LoopOp& side = op(o.operands[k]);
    if (side.kind == OpKind::kConstant) {
      LATHE_ASSIGN_OR_RETURN(first[k], ExpressionText(Expr(side.constant.ToInt()), names_));
    } else {
      LATHE_ASSIGN_OR_RETURN(first[k], ExpressionText(side.index, names_));
      stride[k] = *AffineCoefficient(side.index, axis)->AsInt();
    }
  }
  const std::string tag = Tag(DType::kI32);
  return Define(id,
                absl::StrCat("hn::", DirectName(o.kind), "(hn::Mul(hn::Iota(", tag, "), hn::Set(",
                             tag, ", ", stride[0] - stride[1], ")), hn::Set(", tag,
                             ", hn::ClampDistance(", first[0], ", ", first[1], ")))"),
                4);
}

}  // namespace lathe::cpu
