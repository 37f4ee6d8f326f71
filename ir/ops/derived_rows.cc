#include "ir/ops/derived_rows.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "dtypes/base/status.h"
#include "ir/ops/builder.h"
#include "ir/ops/host_call.h"
#include "symbolic/assumed.h"

namespace lathe {
namespace {

// The call's arguments with every value replaced by an input of `graph`.
Argument MapToInputs(const Argument& a, Graph& graph, std::vector<Value*>& originals) {
  if (a.is_value()) {
    originals.push_back(a.value());
    return Argument::Of(graph.AddInput("x", a.value()->type, InputSpec::User()));
  }
  if (!a.is_list()) return a;
  std::vector<Argument> items;
  for (const Argument& item : a.list()) items.push_back(MapToInputs(item, graph, originals));
  return Argument::List(std::move(items));
}

ValueType TypeOfArgument(const Argument& a) {
  switch (a.kind()) {
    case Argument::Kind::kValue:
      return a.value()->type;
    case Argument::Kind::kInt:
      return ScalarType{a.expr().type(), a.expr()};
    case Argument::Kind::kBool:
      return ScalarType{symbolic::ExprType::kBool, Expr::Bool(a.boolean())};
    default:
      return NoneType{};
  }
}

absl::StatusOr<std::vector<ValueType>> InferByDecomposition(const DecomposeFunction& decompose,
                                                            const OpRegistry& registry,
                                                            const InferContext& c) {
  Graph graph("decomposition", c.shapes.shared_context());
  std::vector<Argument> mapped;
  std::vector<Value*> originals;
  for (int i = 0; i < c.args.size(); ++i) {
    mapped.push_back(MapToInputs(c.args[i], graph, originals));
  }
  Builder builder(graph, registry, c.shapes);
  absl::StatusOr<std::vector<Argument>> results =
      decompose(builder, OpArgs(c.args.schema(), mapped));
  LATHE_RETURN_IF_ERROR(builder.status());
  if (!results.ok()) return results.status();
  std::vector<ValueType> types;
  for (const Argument& a : *results) types.push_back(TypeOfArgument(a));
  return types;
}

absl::StatusOr<std::vector<HostValue>> EvaluateByDecomposition(const DecomposeFunction& decompose,
                                                               const OpRegistry& registry,
                                                               const EvaluateContext& c) {
  auto context = std::make_shared<ExprContext>();
  ShapeEnv shapes(context);
  Graph graph("decomposition", context);
  HostEnvironment environment;
  LATHE_ASSIGN_OR_RETURN(std::vector<Argument> arguments,
                         ToGraphArguments(c.args.schema(), c.args, graph, &environment));
  Builder builder(graph, registry, shapes);
  absl::StatusOr<std::vector<Argument>> results =
      decompose(builder, OpArgs(c.args.schema(), arguments));
  LATHE_RETURN_IF_ERROR(builder.status());
  if (!results.ok()) return results.status();
  for (Node* node : graph.nodes()) {
    LATHE_RETURN_IF_ERROR(RunNode(*node, environment, c.run_graph));
  }
  std::vector<HostValue> values;
  for (const Argument& a : *results) {
    LATHE_ASSIGN_OR_RETURN(HostValue value, ReadArgument(a, environment));
    values.push_back(std::move(value));
  }
  return values;
}

// Eager's rule for writing a result of one dtype into a tensor of another.
bool CanCast(DType from, DType to) {
  if (IsComplex(from) && !IsComplex(to)) return false;
  if (IsFloat(from) && IsIntegral(to)) return false;
  return IsBool(from) || !IsBool(to);
}

absl::StatusOr<std::vector<ValueType>> InferInPlace(const OpRow& functional,
                                                    const InferContext& c) {
  LATHE_ASSIGN_OR_RETURN(std::vector<ValueType> types, functional.infer(c));
  const TensorType& self = c.args.Type(0);
  LATHE_RETURN_IF_ERROR(CheckWritable(c.args.schema().name, types[0].tensor(), self, c.shapes));
  return std::vector<ValueType>{self};
}

absl::StatusOr<std::vector<HostValue>> EvaluateInPlace(const OpRow& functional,
                                                       const EvaluateContext& c) {
  LATHE_ASSIGN_OR_RETURN(std::vector<HostValue> results,
                         EvaluateCall(functional, c.args, c.run_graph));
  const Tensor& self = c.args.Tensor(0);
  self.CopyFrom(results[0].tensor().To(self.dtype()));
  return std::vector<HostValue>{self};
}

// ATen's name of the in-place form: an underscore after the base name, or a name of its own.
std::string InPlaceName(const std::string& functional, size_t base_end) {
  static constexpr const char* kIrregular[][2] = {
      {"aten.pow.Tensor_Tensor", "aten.pow_.Tensor"},
      {"aten.pow.Tensor_Scalar", "aten.pow_.Scalar"},
      {"aten.float_power.Tensor_Tensor", "aten.float_power_.Tensor"},
      {"aten.float_power.Tensor_Scalar", "aten.float_power_.Scalar"},
      {"aten.floor_divide", "aten.floor_divide_.Tensor"},
      {"aten.ldexp.Tensor", "aten.ldexp_"},
      {"aten.__and__.Tensor", "aten.__iand__.Tensor"},
      {"aten.__and__.Scalar", "aten.__iand__.Scalar"},
      {"aten.__or__.Tensor", "aten.__ior__.Tensor"},
      {"aten.__or__.Scalar", "aten.__ior__.Scalar"},
      {"aten.__xor__.Tensor", "aten.__ixor__.Tensor"},
      {"aten.__xor__.Scalar", "aten.__ixor__.Scalar"},
      {"aten.__lshift__.Tensor", "aten.__ilshift__.Tensor"},
      {"aten.__lshift__.Scalar", "aten.__ilshift__.Scalar"},
      {"aten.__rshift__.Tensor", "aten.__irshift__.Tensor"},
      {"aten.__rshift__.Scalar", "aten.__irshift__.Scalar"}};
  for (const auto& [name, in_place] : kIrregular) {
    if (functional == name) return in_place;
  }
  return std::string(functional).insert(base_end, "_");
}

}  // namespace

absl::Status CheckWritable(const std::string& op, const TensorType& result, const TensorType& out,
                           ShapeEnv& shapes) {
  if (!CanCast(result.dtype, out.dtype)) {
    return InvalidArgument(op, ": result type ", Name(result.dtype), " can't be cast to ",
                           Name(out.dtype), ", the type of what is written");
  }
  bool same = result.rank() == out.rank();
  for (int d = 0; same && d < out.rank(); ++d) {
    same = !symbolic::IsRefused(shapes, symbolic::Ne(result.sizes[d], out.sizes[d]));
  }
  if (!same) {
    return InvalidArgument(op, ": ", ToString(out), " doesn't match the result's shape ",
                           ToString(result));
  }
  return absl::OkStatus();
}

void DeriveFromDecomposition(OpRow& row, const RegistryFunction& registry) {
  if (!row.decompose) return;
  if (!row.infer) {
    row.infers_by_decomposition = true;
    row.infer = [decompose = row.decompose, registry](const InferContext& c) {
      return InferByDecomposition(decompose, registry(), c);
    };
  }
  if (!row.evaluate) {
    row.evaluate = [decompose = row.decompose, registry](const EvaluateContext& c) {
      return EvaluateByDecomposition(decompose, registry(), c);
    };
  }
}

std::optional<OpRow> InPlaceRow(const std::shared_ptr<const OpRow>& functional) {
  const Schema& schema = functional->parsed;
  bool fits = functional->effect == Effect::kPure && !functional->is_view() && functional->infer &&
              functional->evaluate && !schema.arguments.empty() && schema.returns.size() == 1 &&
              schema.arguments[0].type == SchemaArgument::Type::kTensor &&
              schema.arguments[0].name == "self" && !schema.arguments[0].optional &&
              schema.returns[0].type == SchemaArgument::Type::kTensor &&
              schema.alias_marks[0].empty();
  size_t first_dot = schema.name.find('.');
  if (!fits || first_dot == std::string::npos) return std::nullopt;
  size_t base_end = std::min(schema.name.find('.', first_dot + 1), schema.name.size());

  OpRow row;
  row.parsed = schema;
  row.parsed.name = InPlaceName(schema.name, base_end);
  row.parsed.alias_marks[0] = "a";
  row.parsed.arguments[0].is_written = true;
  row.parsed.returns[0].alias = "a";
  row.parsed.returns[0].is_written = true;
  const size_t domain_end = row.parsed.name.find('.');
  row.schema = absl::StrCat(
      row.parsed.name.substr(0, domain_end), "::", row.parsed.name.substr(domain_end + 1),
      absl::StrReplaceAll(functional->schema.substr(functional->schema.find('(')),
                          {{"(Tensor self", "(Tensor(a!) self"}, {"-> Tensor", "-> Tensor(a!)"}}));
  row.doc = absl::StrCat("In place: self becomes ", schema.name, " of the arguments.");
  row.effect = Effect::kMutates;
  row.functional = schema.name;
  row.batch = functional->batch;
  row.infer = [functional](const InferContext& c) { return InferInPlace(*functional, c); };
  row.evaluate = [functional](const EvaluateContext& c) { return EvaluateInPlace(*functional, c); };
  return row;
}

}  // namespace lathe
