// Symbolic numbers: sizes as values, Python's operators on them, numbers read out of tensors. The
// value's type carries its expression, so that nothing has to run.

#include <cmath>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "ir/ops/control/control_parts.h"

namespace lathe {
namespace {

using symbolic::ExprKind;
using symbolic::ExprType;
using Types = absl::StatusOr<std::vector<ValueType>>;

ValueType NumberType(const Expr& e) { return ScalarType{e.type(), e}; }

// An operand of a Python operator as an expression.
absl::StatusOr<Expr> OperandExpr(const OpArgs& args, int i) {
  const Argument& a = args[i];
  switch (a.kind()) {
    case Argument::Kind::kInt:
      return a.expr();
    case Argument::Kind::kBool:
      return Expr::Bool(a.boolean());
    case Argument::Kind::kScalar:
      if (a.number().is_float()) return Expr::Float(a.number().ToDouble());
      if (a.number().is_bool()) return Expr::Bool(a.number().ToBool());
      return Expr(a.number().ToInt());
    case Argument::Kind::kValue:
      if (a.value()->type.is_scalar()) return a.value()->type.scalar().value;
      [[fallthrough]];
    default:
      return InvalidArgument(args.schema().name, ": argument '", args.schema().arguments[i].name,
                             "' is not a number");
  }
}

using Fold = std::function<Expr(ExprContext&, const std::vector<Expr>&)>;

OpRow NumberRow(std::string schema, std::string doc, Fold fold) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = std::move(doc);
  row.infer = [fold](const InferContext& c) -> Types {
    std::vector<Expr> operands;
    for (int i = 0; i < c.args.size(); ++i) {
      LATHE_ASSIGN_OR_RETURN(Expr e, OperandExpr(c.args, i));
      operands.push_back(e);
    }
    return std::vector<ValueType>{NumberType(fold(c.shapes.context(), operands))};
  };
  // The result's type holds its value once the symbols in it have theirs.
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Expr& e = c.results[0].scalar().value;
    if (auto value = e.AsBool()) return std::vector<HostValue>{Scalar(*value)};
    if (auto value = e.AsInt()) return std::vector<HostValue>{Scalar(*value)};
    if (auto value = e.AsFloat()) return std::vector<HostValue>{Scalar(*value)};
    return FailedPrecondition(c.args.schema().name, ": ", symbolic::ToString(e),
                              " is not known yet");
  };
  return row;
}

OpRow BinaryRow(absl::string_view name, Expr (*fold)(const Expr&, const Expr&)) {
  return NumberRow(absl::StrCat("operator::", name, "(Any a, Any b) -> Any"),
                   absl::StrCat("Python's ", name, " on symbolic numbers."),
                   [fold](ExprContext&, const std::vector<Expr>& e) { return fold(e[0], e[1]); });
}

// A row of one operand whose value is an operation of the symbolic language.
OpRow UnaryRow(std::string schema, std::string doc, ExprKind kind) {
  return NumberRow(std::move(schema), std::move(doc),
                   [kind](ExprContext& context, const std::vector<Expr>& e) {
                     return context.Make(kind, {e[0]});
                   });
}

Expr Sum(const Expr& a, const Expr& b) { return a + b; }
Expr Difference(const Expr& a, const Expr& b) { return a - b; }
Expr ProductOf(const Expr& a, const Expr& b) { return a * b; }

// Python's & and | join conditions and mix bits of numbers.
bool AreConditions(const Expr& a, const Expr& b) {
  return a.type() == ExprType::kBool && b.type() == ExprType::kBool;
}
Expr BothOf(const Expr& a, const Expr& b) {
  return AreConditions(a, b) ? symbolic::And(a, b) : symbolic::BitAnd(a, b);
}
Expr EitherOf(const Expr& a, const Expr& b) {
  return AreConditions(a, b) ? symbolic::Or(a, b) : symbolic::BitOr(a, b);
}

OpRow SizeRow() {
  OpRow row;
  row.schema = "aten::sym_size.int(Tensor self, int dim) -> SymInt";
  row.doc = "The size of one dimension.";
  row.infer = [](const InferContext& c) -> Types {
    LATHE_ASSIGN_OR_RETURN(int64_t given, c.args.ConstantInt(1));
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(given, c.args.Type(0).rank()));
    return std::vector<ValueType>{NumberType(c.args.Type(0).sizes[dim])};
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(1), c.args.Tensor(0).rank()));
    return std::vector<HostValue>{Scalar(c.args.Tensor(0).sizes()[dim])};
  };
  return row;
}

OpRow StrideRow() {
  OpRow row;
  row.schema = "aten::sym_stride.int(Tensor self, int dim) -> SymInt";
  row.doc = "The stride of one dimension, in elements.";
  row.infer = [](const InferContext& c) -> Types {
    LATHE_ASSIGN_OR_RETURN(int64_t given, c.args.ConstantInt(1));
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(given, c.args.Type(0).rank()));
    return std::vector<ValueType>{NumberType(c.args.Type(0).strides[dim])};
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    LATHE_ASSIGN_OR_RETURN(int dim, WrapDim(c.args.Int(1), c.args.Tensor(0).rank()));
    return std::vector<HostValue>{Scalar(c.args.Tensor(0).strides()[dim])};
  };
  return row;
}

OpRow OffsetRow() {
  OpRow row;
  row.schema = "aten::sym_storage_offset(Tensor self) -> SymInt";
  row.doc = "Where the first element lies in its storage, in elements.";
  row.infer = [](const InferContext& c) -> Types {
    return std::vector<ValueType>{NumberType(c.args.Type(0).offset)};
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    return std::vector<HostValue>{Scalar(c.args.Tensor(0).offset())};
  };
  return row;
}

OpRow CountRow() {
  OpRow row;
  row.schema = "aten::sym_numel(Tensor self) -> SymInt";
  row.doc = "The number of elements.";
  row.infer = [](const InferContext& c) -> Types {
    return std::vector<ValueType>{NumberType(NumElements(c.args.Type(0)))};
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    return std::vector<HostValue>{Scalar(c.args.Tensor(0).numel())};
  };
  return row;
}

// A number that only running can tell: a new unbacked symbol.
OpRow ItemRow(std::string schema) {
  OpRow row;
  row.schema = std::move(schema);
  row.doc = "The value of a tensor with one element, as a number.";
  row.infer = [](const InferContext& c) -> Types {
    const DType dtype = c.args.Type(0).dtype;
    if (!IsIntegral(dtype)) {
      return Unimplemented(c.args.schema().name, ": a ", Name(dtype),
                           " as a symbolic number; only integers and bool are supported");
    }
    const symbolic::Range range = IsBool(dtype) ? symbolic::Range{0, 1} : symbolic::Range{};
    const Expr symbol = c.shapes.FreshUnbacked(symbolic::Source::Item(c.asker.node), range);
    return std::vector<ValueType>{ScalarType{ExprType::kInt, symbol}};
  };
  row.evaluate = [](const EvaluateContext& c) -> absl::StatusOr<std::vector<HostValue>> {
    const Tensor& t = c.args.Tensor(0);
    if (t.numel() != 1) {
      return FailedPrecondition(c.args.schema().name, ": expected one element, got ", t.numel());
    }
    return std::vector<HostValue>{t.AtLinear(0)};
  };
  return row;
}

}  // namespace

std::vector<OpRow> SizeRows() {
  std::vector<OpRow> rows = {SizeRow(), StrideRow(), OffsetRow(), CountRow()};
  rows.push_back(ItemRow("aten::_local_scalar_dense(Tensor self) -> Scalar"));
  rows.push_back(ItemRow("aten::item(Tensor self) -> Scalar"));
  rows.push_back(BinaryRow("add", Sum));
  rows.push_back(BinaryRow("sub", Difference));
  rows.push_back(BinaryRow("mul", ProductOf));
  rows.push_back(BinaryRow("floordiv", symbolic::FloorDiv));
  rows.push_back(BinaryRow("mod", symbolic::Mod));
  rows.push_back(BinaryRow("truediv", symbolic::TrueDiv));
  rows.push_back(BinaryRow("pow", symbolic::Pow));
  rows.push_back(BinaryRow("eq", symbolic::Eq));
  rows.push_back(BinaryRow("ne", symbolic::Ne));
  rows.push_back(BinaryRow("lt", symbolic::Lt));
  rows.push_back(BinaryRow("le", symbolic::Le));
  rows.push_back(BinaryRow("gt", symbolic::Gt));
  rows.push_back(BinaryRow("ge", symbolic::Ge));
  rows.push_back(BinaryRow("and_", BothOf));
  rows.push_back(BinaryRow("or_", EitherOf));
  rows.push_back(BinaryRow("xor", symbolic::BitXor));
  rows.push_back(BinaryRow("lshift", symbolic::ShiftLeft));
  rows.push_back(BinaryRow("rshift", symbolic::ShiftRight));
  rows.push_back(NumberRow("operator::neg(Any a) -> Any", "Python's - on a symbolic number.",
                           [](ExprContext&, const std::vector<Expr>& e) { return -e[0]; }));
  rows.push_back(NumberRow("operator::pos(Any a) -> Any", "Python's + on a symbolic number.",
                           [](ExprContext&, const std::vector<Expr>& e) { return e[0]; }));
  rows.push_back(UnaryRow("operator::abs(Any a) -> Any", "Python's abs on a symbolic number.",
                          ExprKind::kAbs));
  rows.push_back(
      NumberRow("sym_max(Any a, Any b) -> Any", "The larger of two sizes.",
                [](ExprContext&, const std::vector<Expr>& e) { return Max(e[0], e[1]); }));
  rows.push_back(
      NumberRow("sym_min(Any a, Any b) -> Any", "The smaller of two sizes.",
                [](ExprContext&, const std::vector<Expr>& e) { return Min(e[0], e[1]); }));
  rows.push_back(NumberRow("sym_not(Any a) -> Any", "The negation of a symbolic condition.",
                           [](ExprContext&, const std::vector<Expr>& e) { return Not(e[0]); }));
  rows.push_back(NumberRow("sym_float(Any a) -> Any", "A size as a float.",
                           [](ExprContext&, const std::vector<Expr>& e) { return ToFloat(e[0]); }));
  rows.push_back(
      UnaryRow("sym_sqrt(Any a) -> Any", "The square root of a size, a float.", ExprKind::kSqrt));
  rows.push_back(
      UnaryRow("sym_int(Any a) -> Any", "A number rounded towards zero.", ExprKind::kTrunc));
  rows.push_back(
      UnaryRow("math::trunc(Any a) -> Any", "A number rounded towards zero.", ExprKind::kTrunc));
  rows.push_back(
      UnaryRow("math::floor(Any a) -> Any", "A number rounded downwards.", ExprKind::kFloor));
  rows.push_back(
      UnaryRow("math::ceil(Any a) -> Any", "A number rounded upwards.", ExprKind::kCeil));
  rows.push_back(NumberRow(
      "sym_ite(Any b, Any t, Any f) -> Any", "One of two sizes, by a symbolic condition.",
      [](ExprContext&, const std::vector<Expr>& e) { return symbolic::Where(e[0], e[1], e[2]); }));
  return rows;
}

}  // namespace lathe
