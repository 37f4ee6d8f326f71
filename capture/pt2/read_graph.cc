#include "capture/pt2/read_graph.h"

#include "absl/strings/str_cat.h"
#include "capture/pt2/read_argument.h"
#include "capture/pt2/read_types.h"
#include "dtypes/base/status.h"

namespace lathe::pt2 {

using symbolic::ExprType;

absl::Status CheckGraphFields(const JsonValue& graph) {
  return graph.CheckFields({"inputs", "outputs", "nodes", "tensor_values", "sym_int_values",
                            "sym_bool_values", "sym_float_values", "is_single_tensor_return",
                            "custom_obj_values"});
}

absl::StatusOr<ValueTypes> ValueTypes::Of(const JsonValue& graph) {
  ValueTypes types;
  std::pair<absl::string_view, Table*> tables[] = {
      {"tensor_values", &types.tensors_},
      {"sym_int_values", &types.numbers_[static_cast<int>(ExprType::kInt)]},
      {"sym_bool_values", &types.numbers_[static_cast<int>(ExprType::kBool)]},
      {"sym_float_values", &types.numbers_[static_cast<int>(ExprType::kFloat)]}};
  for (auto [name, table] : tables) {
    std::optional<JsonValue> values = graph.Find(name);
    if (!values) continue;  // older minors lack some
    if (!values->is_object()) return values->Invalid("expected an object");
    for (auto& [key, value] : values->Members()) {
      if (!table->emplace(key, value).second) {
        return values->Invalid("the name '", key, "' occurs twice");
      }
    }
  }
  return types;
}

absl::StatusOr<ValueType> ValueTypes::Tensor(const JsonValue& place, absl::string_view name,
                                             Symbols& symbols) const {
  auto it = tensors_.find(name);
  if (it == tensors_.end()) return place.Invalid("'", name, "' has no entry in tensor_values");
  LATHE_ASSIGN_OR_RETURN(TensorType type, ReadTensorType(it->second, symbols));
  return ValueType(std::move(type));
}

absl::StatusOr<ValueType> ValueTypes::Scalar(const JsonValue& place, absl::string_view name,
                                             ExprType kind, Symbols& symbols) const {
  const Table& table = numbers_[static_cast<int>(kind)];
  auto it = table.find(name);
  if (it == table.end()) return place.Invalid("'", name, "' has no entry in sym_*_values");
  LATHE_ASSIGN_OR_RETURN(Expr e, ReadSymbolic(it->second, kind, symbols));
  return ValueType(ScalarType{kind, e});
}

absl::Status ValueTypes::AppendDefined(
    const JsonValue& argument, Symbols& symbols,
    std::vector<std::pair<std::string, ValueType>>& defined) const {
  LATHE_ASSIGN_OR_RETURN(auto member, argument.Union());
  auto& [tag, value] = member;
  auto append_tensor = [&](const JsonValue& tensor) -> absl::Status {
    LATHE_ASSIGN_OR_RETURN(absl::string_view name, tensor.StringField("name"));
    LATHE_ASSIGN_OR_RETURN(ValueType type, Tensor(tensor, name, symbols));
    defined.emplace_back(std::string(name), std::move(type));
    return absl::OkStatus();
  };
  if (tag == "as_tensor") return append_tensor(value);
  if (tag == "as_tensors") {
    if (!value.is_array()) return value.Invalid("expected an array");
    for (size_t k = 0; k < value.size(); ++k) LATHE_RETURN_IF_ERROR(append_tensor(value[k]));
    return absl::OkStatus();
  }
  if (tag == "as_optional_tensor") return AppendDefined(value, symbols, defined);
  if (tag == "as_optional_tensors") {
    if (!value.is_array()) return value.Invalid("expected an array");
    for (size_t k = 0; k < value.size(); ++k) {
      LATHE_RETURN_IF_ERROR(AppendDefined(value[k], symbols, defined));
    }
    return absl::OkStatus();
  }
  if (tag == "as_none") {
    defined.emplace_back("", NoneType());
    return absl::OkStatus();
  }
  for (auto [number_tag, kind] : {std::pair("as_sym_int", ExprType::kInt),
                                  {"as_sym_bool", ExprType::kBool},
                                  {"as_sym_float", ExprType::kFloat}}) {
    if (tag != number_tag) continue;
    LATHE_ASSIGN_OR_RETURN(absl::string_view name, value.StringField("as_name"));
    LATHE_ASSIGN_OR_RETURN(ValueType type, Scalar(value, name, kind, symbols));
    defined.emplace_back(std::string(name), std::move(type));
    return absl::OkStatus();
  }
  return value.Unsupported("a value of this kind is not supported");
}

GraphReader::GraphReader(Program* program) : program_(program) {
  graph_names_.insert(program->main->name());
}

std::string GraphReader::UniqueGraphName(absl::string_view wanted) {
  std::string name(wanted.empty() ? "graph" : wanted);
  for (int k = 1; !graph_names_.insert(name).second; ++k) name = absl::StrCat(wanted, "_", k);
  return name;
}

absl::StatusOr<Argument> GraphReader::ReadValue(const JsonValue& argument, GraphBuilder& builder) {
  return ReadArgument(argument, builder,
                      [&](const JsonValue& json) { return ReadSubgraph(json, builder.symbols()); });
}

absl::StatusOr<Argument> GraphReader::ReadSubgraph(const JsonValue& json, Symbols& symbols) {
  LATHE_RETURN_IF_ERROR(json.CheckFields({"name", "graph"}));
  LATHE_ASSIGN_OR_RETURN(absl::string_view name, json.StringField("name"));
  LATHE_ASSIGN_OR_RETURN(JsonValue body, json.ObjectField("graph"));
  LATHE_RETURN_IF_ERROR(CheckGraphFields(body));
  LATHE_ASSIGN_OR_RETURN(ValueTypes types, ValueTypes::Of(body));
  GraphBuilder builder(std::make_shared<Graph>(UniqueGraphName(name), program_->context), &symbols);
  LATHE_ASSIGN_OR_RETURN(JsonValue inputs, body.ArrayField("inputs"));
  for (size_t k = 0; k < inputs.size(); ++k) {
    std::vector<std::pair<std::string, ValueType>> defined;
    LATHE_RETURN_IF_ERROR(types.AppendDefined(inputs[k], symbols, defined));
    for (auto& [input, type] : defined) {
      absl::Status added = builder.AddSubgraphInput(input, std::move(type));
      if (!added.ok()) return inputs[k].Annotated(added);
    }
  }
  LATHE_RETURN_IF_ERROR(ReadNodes(body, types, builder));
  LATHE_ASSIGN_OR_RETURN(JsonValue outputs, body.ArrayField("outputs"));
  for (size_t k = 0; k < outputs.size(); ++k) {
    LATHE_ASSIGN_OR_RETURN(Argument output, ReadValue(outputs[k], builder));
    if (!output.is_list()) {
      builder.AddOutput(std::move(output), OutputSpec::User());
      continue;
    }
    for (const Argument& item : output.list()) builder.AddOutput(item, OutputSpec::User());
  }
  program_->subgraphs.push_back(builder.graph());
  return Argument::Of(builder.graph());
}

absl::Status GraphReader::ReadNodes(const JsonValue& graph, const ValueTypes& types,
                                    GraphBuilder& builder) {
  LATHE_ASSIGN_OR_RETURN(JsonValue nodes, graph.ArrayField("nodes"));
  for (size_t k = 0; k < nodes.size(); ++k) {
    LATHE_RETURN_IF_ERROR(ReadNode(nodes[k], types, builder));
  }
  return absl::OkStatus();
}

namespace {

// Metadata explains and never changes what is computed, so unknown keys are fine.
Origin ReadOrigin(const JsonValue& node) {
  Origin origin;
  std::optional<JsonValue> metadata = node.Find("metadata");
  if (!metadata) return origin;
  if (auto trace = metadata->Find("stack_trace"); trace && trace->is_string()) {
    origin.source = SourceLine(*trace->String());
  }
  if (auto stack = metadata->Find("nn_module_stack"); stack && stack->is_string()) {
    origin.module_path = ModulePath(*stack->String());
  }
  return origin;
}

}  // namespace

absl::Status GraphReader::ReadNode(const JsonValue& node, const ValueTypes& types,
                                   GraphBuilder& builder) {
  LATHE_RETURN_IF_ERROR(node.CheckFields(
      {"target", "inputs", "outputs", "metadata", "is_hop_single_tensor_return", "name"}));
  Call call;
  LATHE_ASSIGN_OR_RETURN(absl::string_view target, node.StringField("target"));
  call.target = std::string(target);
  LATHE_ASSIGN_OR_RETURN(JsonValue inputs, node.ArrayField("inputs"));
  for (size_t k = 0; k < inputs.size(); ++k) {
    LATHE_RETURN_IF_ERROR(inputs[k].CheckFields({"name", "arg", "kind"}));
    LATHE_ASSIGN_OR_RETURN(absl::string_view name, inputs[k].StringField("name"));
    LATHE_ASSIGN_OR_RETURN(JsonValue arg, inputs[k].ObjectField("arg"));
    LATHE_ASSIGN_OR_RETURN(Argument argument, ReadValue(arg, builder));
    call.arguments.push_back(std::move(argument));
    call.names.emplace_back(name);
  }
  LATHE_ASSIGN_OR_RETURN(JsonValue outputs, node.ArrayField("outputs"));
  for (size_t k = 0; k < outputs.size(); ++k) {
    LATHE_RETURN_IF_ERROR(types.AppendDefined(outputs[k], builder.symbols(), call.results));
  }
  call.origin = ReadOrigin(node);
  absl::Status added = builder.AddCall(std::move(call));
  return added.ok() ? added : node.Annotated(added);
}

}  // namespace lathe::pt2
