#include "ir/reference/scalar_handler.h"

#include <algorithm>

#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "ir/loops/recorder.h"

namespace lathe {
namespace {

bool GivesBool(OpKind kind) {
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
      return true;
    default:
      return false;
  }
}

// The integer that a constant expression has; an index is never symbolic here.
int64_t NumberOf(const Expr& e) {
  LATHE_CHECK(e.AsInt().has_value()) << "a symbolic index: " << symbolic::ToString(e);
  return *e.AsInt();
}

}  // namespace

OpsValue ScalarHandler::Push(DType dtype, Scalar value) {
  entries_.push_back({dtype, value});
  return {static_cast<int32_t>(entries_.size()) - 1};
}

void ScalarHandler::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

bool ScalarHandler::is_masked_off() const {
  return std::find(masks_.begin(), masks_.end(), false) != masks_.end();
}

OpsValue ScalarHandler::Constant(const Scalar& value, DType dtype) {
  return Push(dtype, Convert(value, dtype));
}

OpsValue ScalarHandler::IndexExpr(const Expr& index, DType dtype) {
  if (index.type() == symbolic::ExprType::kFloat && index.AsFloat()) {
    return Constant(*index.AsFloat(), dtype);
  }
  return Constant(NumberOf(index), dtype);
}

OpsValue ScalarHandler::Load(BufferId, const Expr&, DType) { LATHE_UNREACHABLE(); }
void ScalarHandler::Store(BufferId, const Expr&, OpsValue, StoreMode) { LATHE_UNREACHABLE(); }
OpsValue ScalarHandler::LoadLocal(BufferId, DType) { LATHE_UNREACHABLE(); }
void ScalarHandler::StoreLocal(BufferId, OpsValue) { LATHE_UNREACHABLE(); }
OpsValue ScalarHandler::Reduce(ReduceKind, OpsValue, OpsValue) { LATHE_UNREACHABLE(); }

Expr ScalarHandler::Indirect(OpsValue v, const Expr& size) {
  int64_t index = value(v).ToInt(), bound = NumberOf(size);
  if (index < 0) index += bound;
  if (index >= 0 && index < bound) return index;
  if (!is_masked_off()) {
    Fail(OutOfRange("index ", value(v).ToInt(), " is out of bounds for size ", bound));
  }
  return 0;
}

void ScalarHandler::Check(OpsValue condition, absl::string_view message) {
  if (!value(condition).ToBool() && !is_masked_off()) Fail(InvalidArgument(message));
}

OpsValue ScalarHandler::Cast(OpsValue v, DType dtype) {
  return Push(dtype, Convert(value(v), dtype));
}

OpsValue ScalarHandler::BitCast(OpsValue v, DType dtype) {
  if (BitWidth(this->dtype(v)) != BitWidth(dtype)) Fail(Internal("a bit cast between widths"));
  uint64_t bits = 0;
  StoreElement(&bits, this->dtype(v), 0, value(v));
  return Push(dtype, LoadElement(&bits, dtype, 0));
}

void ScalarHandler::PushMask(OpsValue mask) { masks_.push_back(value(mask).ToBool()); }
void ScalarHandler::PopMask() { masks_.pop_back(); }

OpsValue ScalarHandler::Apply(OpKind kind, absl::Span<const OpsValue> operands) {
  std::vector<Scalar> values;
  for (OpsValue v : operands) values.push_back(value(v));
  size_t first = kind == OpKind::kWhere ? 1 : 0;
  DType operand = dtype(operands[first]);
  for (size_t k = first; k < operands.size(); ++k) {
    if (dtype(operands[k]) == operand) continue;
    Fail(Internal(OpKindName(kind), " of ", Name(operand), " and ", Name(dtype(operands[k]))));
  }
  if (first == 1 && dtype(operands[0]) != DType::kBool) {
    Fail(Internal("where on ", Name(dtype(operands[0]))));
  }
  absl::StatusOr<Scalar> result = ScalarApply(kind, operand, values);
  DType dtype = GivesBool(kind) ? DType::kBool : operand;
  if (result.ok()) return Push(dtype, *result);
  if (!is_masked_off()) Fail(result.status());
  return Push(dtype, Convert(0, dtype));
}

}  // namespace lathe
