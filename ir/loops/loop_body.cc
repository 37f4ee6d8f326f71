#include "ir/loops/loop_body.h"

#include <algorithm>
#include <array>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"
#include "symbolic/evaluate.h"

namespace lathe {
namespace {

struct KindRow {
  absl::string_view name;
  int arity;
};

constexpr KindRow kKinds[] = {
    {"constant", -1},   {"index", -1},       {"load", -1},     {"store", -1},
    {"load_local", -1}, {"store_local", -1}, {"indirect", -1}, {"check", -1},
    {"cast", -1},       {"bit_cast", -1},    {"reduce", -1},
#define LATHE_UNARY(Name, text) {text, 1},
#define LATHE_BINARY(Name, text) {text, 2},
#define LATHE_TERNARY(Name, text) {text, 3},
#include "ir/loops/ops_list.inc"
};

constexpr absl::string_view kReduceKinds[] = {"sum", "prod", "max",    "min",
                                              "any", "all",  "argmax", "argmin"};

std::string ValueName(int32_t id) { return absl::StrCat("%", id); }

std::string OperandText(const LoopOp& op) {
  std::string text;
  for (int32_t operand : op.operands) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", ValueName(operand));
  }
  return text;
}

}  // namespace

absl::string_view OpKindName(OpKind kind) { return kKinds[static_cast<size_t>(kind)].name; }

int OpKindArity(OpKind kind) { return kKinds[static_cast<size_t>(kind)].arity; }

std::optional<OpKind> FindOpKind(absl::string_view name) {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (kKinds[i].name == name) return static_cast<OpKind>(i);
  }
  return std::nullopt;
}

absl::string_view ReduceKindName(ReduceKind kind) {
  return kReduceKinds[static_cast<size_t>(kind)];
}

std::optional<ReduceKind> FindReduceKind(absl::string_view name) {
  for (size_t i = 0; i < std::size(kReduceKinds); ++i) {
    if (kReduceKinds[i] == name) return static_cast<ReduceKind>(i);
  }
  return std::nullopt;
}

DType ResultDType(OpKind kind, DType operand) {
  switch (kind) {
    case OpKind::kEq:
    case OpKind::kNe:
    case OpKind::kLt:
    case OpKind::kLe:
    case OpKind::kGt:
    case OpKind::kGe:
    case OpKind::kIsNan:
    case OpKind::kIsInf:
    case OpKind::kSignBit:
    case OpKind::kLogicalNot:
      return DType::kBool;
    default:
      return operand;
  }
}

bool IsComputeDType(DType dtype) {
  return IsBool(dtype) || (IsInteger(dtype) && !IsSubByte(dtype)) || dtype == DType::kF32 ||
         dtype == DType::kF64;
}

bool IsIntegerDivision(OpKind kind, DType operand) {
  if (!IsIntegral(operand)) return false;
  return kind == OpKind::kFloorDiv || kind == OpKind::kTruncDiv || kind == OpKind::kRemainder ||
         kind == OpKind::kFmod;
}

bool HasResult(OpKind kind) {
  return kind != OpKind::kStore && kind != OpKind::kStoreLocal && kind != OpKind::kCheck;
}

bool operator==(const LoopOp& a, const LoopOp& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.reduce == b.reduce && a.mode == b.mode &&
         a.operands == b.operands && a.mask == b.mask && a.buffer == b.buffer &&
         a.index == b.index && a.symbol == b.symbol && a.constant.Identical(b.constant) &&
         a.error == b.error;
}

bool HasIndirectLoads(const LoopBody& body) {
  absl::flat_hash_set<Expr> indirect;
  for (const LoopOp& op : body.ops) {
    if (op.kind == OpKind::kIndirect) indirect.insert(op.symbol);
    if (op.kind != OpKind::kLoad || indirect.empty()) continue;
    for (const Expr& symbol : symbolic::FreeSymbols(op.index)) {
      if (indirect.contains(symbol)) return true;
    }
  }
  return false;
}

std::string ToString(const LoopOp& op, int32_t id, const std::function<std::string(Expr)>& print) {
  const std::string mask = op.mask == kNoValue ? "" : absl::StrCat(" mask ", ValueName(op.mask));
  const std::string result = absl::StrCat(ValueName(id), " = ", OpKindName(op.kind), " ");
  const std::string type = absl::StrCat(mask, " : ", absl::string_view(Name(op.dtype)));
  switch (op.kind) {
    case OpKind::kConstant:
      return absl::StrCat(result, op.constant.ToString(), type);
    case OpKind::kIndexExpr:
      return absl::StrCat(result, print(op.index), type);
    case OpKind::kLoad:
      return absl::StrCat(result, "b", op.buffer, "[", print(op.index), "]", type);
    case OpKind::kStore:
      return absl::StrCat(op.mode == StoreMode::kAtomicAdd ? "store_add b" : "store b", op.buffer,
                          "[", print(op.index), "], ", OperandText(op), mask);
    case OpKind::kLoadLocal:
      return absl::StrCat(result, "l", op.buffer, type);
    case OpKind::kStoreLocal:
      return absl::StrCat("store_local l", op.buffer, ", ", OperandText(op));
    case OpKind::kIndirect:
      return absl::StrCat(result, OperandText(op), " below ", print(op.index), " as ",
                          print(op.symbol), mask);
    case OpKind::kCheck:
      return absl::StrCat("check ", OperandText(op), " error ", op.error, mask);
    case OpKind::kReduce:
      return absl::StrCat(result, ReduceKindName(op.reduce), " ", OperandText(op), type);
    default:
      return absl::StrCat(result, OperandText(op), type);
  }
}

std::string ToString(const LoopBody& body) {
  std::string text;
  for (size_t i = 0; i < body.ops.size(); ++i) {
    absl::StrAppend(&text,
                    ToString(body.ops[i], static_cast<int32_t>(i),
                             [](const Expr& e) { return symbolic::ToString(e); }),
                    "\n");
  }
  return text;
}

}  // namespace lathe
