#include "ir/ops/op_args.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "dtypes/base/check.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

using Type = SchemaArgument::Type;
using Kind = Argument::Kind;

absl::string_view TypeName(Type type) {
  switch (type) {
    case Type::kTensor:
      return "a tensor";
    case Type::kTensorList:
      return "a list of tensors";
    case Type::kInt:
      return "an integer";
    case Type::kIntList:
      return "a list of integers";
    case Type::kFloat:
      return "a float";
    case Type::kFloatList:
      return "a list of floats";
    case Type::kBool:
      return "a bool";
    case Type::kBoolList:
      return "a list of bools";
    case Type::kScalar:
      return "a number";
    case Type::kScalarList:
      return "a list of numbers";
    case Type::kString:
      return "a string";
    case Type::kDType:
      return "a dtype";
    case Type::kDevice:
      return "a device";
    case Type::kLayout:
      return "a layout";
    case Type::kMemoryFormat:
      return "a memory format";
    case Type::kGraph:
      return "a graph";
    case Type::kAny:
      return "anything";
  }
  return "?";
}

absl::string_view KindName(Kind kind) {
  static constexpr absl::string_view kNames[] = {
      "none",     "a value",  "an integer",      "a bool", "a number", "a string",  "a dtype",
      "a device", "a layout", "a memory format", "a list", "a graph",  "a constant"};
  return kNames[static_cast<int>(kind)];
}

// The expression that a number argument stands for: an int literal, or a symbolic value's.
std::optional<Expr> ExprOf(const Argument& a) {
  if (a.kind() == Kind::kInt) return a.expr();
  if (a.kind() == Kind::kValue && a.value()->type.is_scalar())
    return a.value()->type.scalar().value;
  return std::nullopt;
}

// A constant number of any kind as a Scalar.
std::optional<Scalar> ScalarOf(const Argument& a) {
  if (a.kind() == Kind::kScalar) return a.number();
  if (a.kind() == Kind::kBool) return Scalar(a.boolean());
  std::optional<Expr> e = ExprOf(a);
  if (!e) return std::nullopt;
  if (e->type() == symbolic::ExprType::kBool && e->AsBool()) return Scalar(*e->AsBool());
  if (e->type() == symbolic::ExprType::kInt && e->AsInt()) return Scalar(*e->AsInt());
  if (e->type() == symbolic::ExprType::kFloat && e->AsFloat()) return Scalar(*e->AsFloat());
  return std::nullopt;
}

bool IsTensorValue(const Argument& a) {
  return a.kind() == Kind::kValue && (a.value()->type.is_tensor() || a.value()->type.is_none());
}

// One element (not a list) brought to the kind that OpArgs reads; nullopt when it does not fit.
std::optional<Argument> Coerce(Type type, const Argument& a) {
  switch (type) {
    case Type::kTensor:
      if (IsTensorValue(a)) return a;
      return std::nullopt;
    case Type::kInt: {
      if (std::optional<Expr> e = ExprOf(a)) return Argument::Int(*e);
      if (a.kind() == Kind::kBool) return Argument::Int(a.boolean() ? 1 : 0);
      if (a.kind() == Kind::kScalar && a.number().is_int())
        return Argument::Int(a.number().ToInt());
      return std::nullopt;
    }
    case Type::kFloat: {
      std::optional<Scalar> s = ScalarOf(a);
      if (s && !s->is_complex()) return Argument::Float(s->ToDouble());
      return std::nullopt;
    }
    case Type::kBool: {
      std::optional<Scalar> s = ScalarOf(a);
      if (s && (s->is_bool() || s->is_int())) return Argument::Bool(s->ToBool());
      return std::nullopt;
    }
    case Type::kScalar: {
      if (std::optional<Scalar> s = ScalarOf(a)) return Argument::Number(*s);
      if (std::optional<Expr> e = ExprOf(a)) return Argument::Int(*e);
      return std::nullopt;
    }
    case Type::kString:
      return a.kind() == Kind::kString ? std::optional(a) : std::nullopt;
    case Type::kDType:
      return a.kind() == Kind::kDType ? std::optional(a) : std::nullopt;
    case Type::kDevice:
      return a.kind() == Kind::kDevice ? std::optional(a) : std::nullopt;
    case Type::kLayout:
      return a.kind() == Kind::kLayout ? std::optional(a) : std::nullopt;
    case Type::kMemoryFormat:
      return a.kind() == Kind::kMemoryFormat ? std::optional(a) : std::nullopt;
    case Type::kGraph:
      return a.kind() == Kind::kGraph ? std::optional(a) : std::nullopt;
    default:
      return a;
  }
}

Type ElementType(Type list) {
  switch (list) {
    case Type::kTensorList:
      return Type::kTensor;
    case Type::kIntList:
      return Type::kInt;
    case Type::kFloatList:
      return Type::kFloat;
    case Type::kBoolList:
      return Type::kBool;
    case Type::kScalarList:
      return Type::kScalar;
    default:
      return list;
  }
}

absl::Status WrongKind(const Schema& schema, const SchemaArgument& parameter, const Argument& a) {
  if (std::optional<Expr> e = ExprOf(a); e && !ScalarOf(a)) {
    return Unimplemented(schema.name, ": argument '", parameter.name, "' is the symbolic number ",
                         symbolic::ToString(*e), "; only a constant is supported there");
  }
  return InvalidArgument(schema.name, ": argument '", parameter.name, "' must be ",
                         TypeName(parameter.type), ", not ", KindName(a.kind()));
}

absl::StatusOr<Argument> CoerceList(const Schema& schema, const SchemaArgument& parameter,
                                    const Argument& a) {
  Type element = ElementType(parameter.type);
  if (!a.is_list()) {
    // A lone number where ATen says "int[2]".
    std::optional<Argument> one = Coerce(element, a);
    if (!one || parameter.list_size <= 0) return WrongKind(schema, parameter, a);
    return Argument::List(std::vector<Argument>(parameter.list_size, *one));
  }
  std::vector<Argument> items;
  for (const Argument& item : a.list()) {
    if (item.is_none() && parameter.list_of_optional) {
      items.push_back(item);
      continue;
    }
    std::optional<Argument> coerced = Coerce(element, item);
    if (!coerced) {
      return InvalidArgument(schema.name, ": argument '", parameter.name, "' must be ",
                             TypeName(parameter.type), ", but holds ", KindName(item.kind()));
    }
    items.push_back(*std::move(coerced));
  }
  return Argument::List(std::move(items));
}

absl::StatusOr<Argument> CoerceArgument(const Schema& schema, const SchemaArgument& parameter,
                                        const Argument& a) {
  if (a.is_none()) {
    if (parameter.optional || parameter.type == Type::kAny) return a;
    if (parameter.has_default) return parameter.default_value;
    return WrongKind(schema, parameter, a);
  }
  if (ElementType(parameter.type) != parameter.type) return CoerceList(schema, parameter, a);
  std::optional<Argument> coerced = Coerce(parameter.type, a);
  if (!coerced) return WrongKind(schema, parameter, a);
  return *std::move(coerced);
}

int FindArgument(const Schema& schema, const std::string& name) {
  for (size_t i = 0; i < schema.arguments.size(); ++i) {
    if (schema.arguments[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace

absl::StatusOr<std::vector<Argument>> BindArguments(const Schema& schema,
                                                    std::vector<Argument> arguments,
                                                    const std::vector<std::string>& names) {
  size_t count = schema.arguments.size();
  // A last argument "Any operands" takes all positional arguments that are left, as a list.
  if (count > 0 && arguments.size() > count && schema.arguments.back().type == Type::kAny &&
      schema.arguments.back().name == "operands") {
    std::vector<Argument> rest(arguments.begin() + static_cast<int64_t>(count) - 1,
                               arguments.end());
    arguments.resize(count - 1);
    arguments.push_back(Argument::List(std::move(rest)));
  }
  std::vector<const Argument*> given(count, nullptr);
  for (size_t k = 0; k < arguments.size(); ++k) {
    bool named = k < names.size() && !names[k].empty();
    int i = named ? FindArgument(schema, names[k]) : static_cast<int>(k);
    if (i < 0) return InvalidArgument(schema.name, ": no argument is named '", names[k], "'");
    if (i >= static_cast<int>(count)) {
      return InvalidArgument(schema.name, ": takes at most ", count, " arguments, got ",
                             arguments.size());
    }
    if (given[i] != nullptr) {
      return InvalidArgument(schema.name, ": argument '", schema.arguments[i].name,
                             "' is given twice");
    }
    given[i] = &arguments[k];
  }
  std::vector<Argument> bound;
  bound.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const SchemaArgument& parameter = schema.arguments[i];
    if (given[i] == nullptr) {
      if (!parameter.has_default) {
        return InvalidArgument(schema.name, ": argument '", parameter.name, "' is missing");
      }
      bound.push_back(parameter.default_value);
      continue;
    }
    LATHE_ASSIGN_OR_RETURN(Argument coerced, CoerceArgument(schema, parameter, *given[i]));
    bound.push_back(std::move(coerced));
  }
  return bound;
}

Value* OpArgs::Tensor(int i) const {
  LATHE_CHECK(arguments_[i].is_value()) << schema_->name << " argument " << i;
  return arguments_[i].value();
}

Value* OpArgs::OptionalTensor(int i) const {
  // A value of type none (an absent result of another op) counts as absent.
  if (!arguments_[i].is_value() || arguments_[i].value()->type.is_none()) return nullptr;
  return arguments_[i].value();
}

std::vector<Value*> OpArgs::Tensors(int i) const {
  std::vector<Value*> values;
  if (arguments_[i].is_none()) return values;
  for (const Argument& a : arguments_[i].list()) {
    values.push_back(a.is_value() && !a.value()->type.is_none() ? a.value() : nullptr);
  }
  return values;
}

Expr OpArgs::Int(int i) const {
  std::optional<Expr> e = ExprOf(arguments_[i]);
  LATHE_CHECK(e.has_value()) << schema_->name << " argument " << i;
  return *e;
}

std::optional<Expr> OpArgs::OptionalInt(int i) const {
  if (IsNone(i)) return std::nullopt;
  return Int(i);
}

std::vector<Expr> OpArgs::Ints(int i) const {
  std::vector<Expr> result;
  for (const Argument& a : arguments_[i].list()) {
    std::optional<Expr> e = ExprOf(a);
    LATHE_CHECK(e.has_value()) << schema_->name << " argument " << i;
    result.push_back(*e);
  }
  return result;
}

std::optional<std::vector<Expr>> OpArgs::OptionalInts(int i) const {
  if (IsNone(i)) return std::nullopt;
  return Ints(i);
}

absl::StatusOr<int64_t> OpArgs::ConstantInt(int i) const {
  Expr e = Int(i);
  if (std::optional<int64_t> v = e.AsInt()) return *v;
  return InvalidArgument(schema_->name, ": argument '", schema_->arguments[i].name,
                         "' must be a constant, not ", symbolic::ToString(e));
}

absl::StatusOr<std::vector<int64_t>> OpArgs::ConstantInts(int i) const {
  std::vector<int64_t> result;
  for (const Expr& e : Ints(i)) {
    std::optional<int64_t> v = e.AsInt();
    if (!v) {
      return InvalidArgument(schema_->name, ": argument '", schema_->arguments[i].name,
                             "' must be constants, but holds ", symbolic::ToString(e));
    }
    result.push_back(*v);
  }
  return result;
}

OpArgs OpArgs::Refusing(absl::Status* refusal) const {
  OpArgs args = *this;
  args.refusal_ = refusal;
  return args;
}

Scalar OpArgs::Constant(int i, const Argument& argument) const {
  if (std::optional<Scalar> s = ScalarOf(argument)) return *s;
  LATHE_CHECK(refusal_ != nullptr) << schema_->name << " argument " << i;
  const std::optional<Expr> e = ExprOf(argument);
  refusal_->Update(Unimplemented(schema_->name, ": argument '", schema_->arguments[i].name,
                                 "' must be known when the program is compiled",
                                 e ? absl::StrCat(", but is ", symbolic::ToString(*e)) : ""));
  return Scalar(1);
}

bool OpArgs::Bool(int i) const { return Constant(i, arguments_[i]).ToBool(); }

double OpArgs::Float(int i) const { return Constant(i, arguments_[i]).ToDouble(); }

std::optional<double> OpArgs::OptionalFloat(int i) const {
  if (IsNone(i)) return std::nullopt;
  return Float(i);
}

Scalar OpArgs::Number(int i) const { return Constant(i, arguments_[i]); }

std::vector<Scalar> OpArgs::Numbers(int i) const {
  std::vector<Scalar> result;
  if (IsNone(i)) return result;
  for (const Argument& a : arguments_[i].list()) result.push_back(Constant(i, a));
  return result;
}

std::optional<Expr> OpArgs::ScalarExpr(int i) const {
  if (ScalarOf(arguments_[i])) return std::nullopt;
  return ExprOf(arguments_[i]);
}

const std::string& OpArgs::String(int i) const {
  LATHE_CHECK(arguments_[i].kind() == Kind::kString) << schema_->name << " argument " << i;
  return arguments_[i].string();
}

std::optional<DType> OpArgs::OptionalDType(int i) const {
  if (IsNone(i)) return std::nullopt;
  return arguments_[i].dtype();
}

std::optional<Device> OpArgs::OptionalDevice(int i) const {
  if (IsNone(i)) return std::nullopt;
  return arguments_[i].device();
}

std::optional<MemoryFormat> OpArgs::OptionalMemoryFormat(int i) const {
  if (IsNone(i)) return std::nullopt;
  return arguments_[i].memory_format();
}

absl::StatusOr<int> WrapDim(int64_t dim, int rank) {
  int64_t count = std::max(rank, 1);
  if (dim < -count || dim >= count) {
    return OutOfRange("Dimension out of range (expected to be in range of [", -count, ", ",
                      count - 1, "], but got ", dim, ")");
  }
  return static_cast<int>(dim < 0 ? dim + count : dim);
}

}  // namespace lathe
