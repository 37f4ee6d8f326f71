#include "capture/pt2/read_signature.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "capture/pt2/read_argument.h"
#include "dtypes/base/status.h"

namespace lathe::pt2 {
namespace {

absl::Status At(const JsonValue& place, absl::Status status) {
  return status.ok() ? status : place.Annotated(status);
}

// A weight has one place in memory, so its type is that of the tensor itself: older files recorded
// no offset.
absl::StatusOr<ValueType> WeightType(const TensorType& recorded, const Tensor& weight,
                                     const std::string& target) {
  bool same = recorded.dtype == weight.dtype() && recorded.rank() == weight.rank();
  for (int d = 0; same && d < weight.rank(); ++d) {
    same = recorded.sizes[d] == Expr(weight.sizes()[d]);
  }
  if (!same) {
    return DataLoss("the graph takes '", target, "' as ", ToString(recorded),
                    ", but the archive holds ", TypeString(weight));
  }
  TensorType type = recorded;
  for (int d = 0; d < weight.rank(); ++d) type.strides[d] = weight.strides()[d];
  type.offset = weight.offset();
  return ValueType(std::move(type));
}

// As the command line writes it.
std::string LiteralText(const Argument& value) {
  switch (value.kind()) {
    case Argument::Kind::kInt:
      return symbolic::ToString(value.expr());
    case Argument::Kind::kBool:
      return value.boolean() ? "true" : "false";
    case Argument::Kind::kScalar:
      return value.number().ToString();
    case Argument::Kind::kString:
      return value.string();
    default:
      return "none";
  }
}

}  // namespace

absl::Status SignatureReader::ReadInputs(const JsonValue& specs) {
  for (size_t k = 0; k < specs.size(); ++k) LATHE_RETURN_IF_ERROR(ReadInput(specs[k]));
  return absl::OkStatus();
}

absl::Status SignatureReader::ReadInput(const JsonValue& spec) {
  LATHE_ASSIGN_OR_RETURN(auto member, spec.Union());
  auto& [tag, value] = member;
  if (tag == "user_input") return ReadUserInput(value);
  if (tag == "constant_input") return ReadConstantInput(value);
  if (tag == "parameter") return ReadWeight(value, InputSpec::Kind::kParameter, "parameter_name");
  if (tag == "buffer") return ReadWeight(value, InputSpec::Kind::kBuffer, "buffer_name");
  if (tag == "tensor_constant") {
    return ReadWeight(value, InputSpec::Kind::kConstant, "tensor_constant_name");
  }
  if (tag == "token") {
    LATHE_ASSIGN_OR_RETURN(JsonValue arg, value.ObjectField("arg"));
    LATHE_ASSIGN_OR_RETURN(absl::string_view name, arg.StringField("name"));
    // It orders effects and carries nothing; the order of the nodes does that here.
    return At(value, builder_->AddConstant(name, Argument::None()));
  }
  if (tag == "custom_obj") {
    std::string name = value.Find("custom_obj_name") && value.StringField("custom_obj_name").ok()
                           ? std::string(*value.StringField("custom_obj_name"))
                           : "?";
    return value.Unsupported("the program needs the custom object '", name,
                             "'; custom objects are not supported");
  }
  return value.Unsupported("unknown kind of input");
}

absl::Status SignatureReader::ReadUserInput(const JsonValue& spec) {
  LATHE_RETURN_IF_ERROR(spec.CheckFields({"arg"}));
  LATHE_ASSIGN_OR_RETURN(JsonValue arg, spec.ObjectField("arg"));
  LATHE_ASSIGN_OR_RETURN(auto member, arg.Union());
  auto& [tag, value] = member;
  bool is_named = tag == "as_tensor" || (value.is_object() && value.Find("as_name"));
  if (!is_named) {
    // None or a number that the program was specialised on; it has no name, so nothing uses it.
    LATHE_ASSIGN_OR_RETURN(Argument constant, ReadConstant(arg));
    AddConstantArgument(constant);
    return absl::OkStatus();
  }
  std::vector<std::pair<std::string, ValueType>> defined;
  LATHE_RETURN_IF_ERROR(types_->AppendDefined(arg, builder_->symbols(), defined));
  for (auto& [name, type] : defined) {
    program_->user_input_names.push_back(name);
    LATHE_RETURN_IF_ERROR(At(value, builder_->AddInput(name, std::move(type), InputSpec::User())));
    user_arguments_.push_back({builder_->graph()->inputs().back(), std::nullopt});
  }
  return absl::OkStatus();
}

void SignatureReader::AddConstantArgument(const Argument& value) {
  UserArgument argument;
  if (value.kind() == Argument::Kind::kInt) argument.constant = value.expr();
  if (value.kind() == Argument::Kind::kBool) argument.constant = Expr::Bool(value.boolean());
  user_arguments_.push_back(std::move(argument));
}

absl::Status SignatureReader::ReadConstantInput(const JsonValue& spec) {
  LATHE_RETURN_IF_ERROR(spec.CheckFields({"name", "value"}));
  LATHE_ASSIGN_OR_RETURN(absl::string_view name, spec.StringField("name"));
  LATHE_ASSIGN_OR_RETURN(JsonValue json, spec.ObjectField("value"));
  LATHE_ASSIGN_OR_RETURN(Argument value, ReadConstant(json));
  AddConstantArgument(value);
  program_->fixed_inputs.push_back({std::string(name), LiteralText(value)});
  return At(spec, builder_->AddConstant(name, std::move(value)));
}

absl::Status SignatureReader::ReadWeight(const JsonValue& spec, InputSpec::Kind kind,
                                         absl::string_view target_field) {
  LATHE_RETURN_IF_ERROR(spec.CheckFields({"arg", target_field, "persistent"}));
  LATHE_ASSIGN_OR_RETURN(JsonValue arg, spec.ObjectField("arg"));
  LATHE_ASSIGN_OR_RETURN(absl::string_view name, arg.StringField("name"));
  LATHE_ASSIGN_OR_RETURN(absl::string_view target_text, spec.StringField(target_field));
  std::string target(target_text);
  InputSpec input = InputSpec::Weight(kind, target);
  if (std::optional<JsonValue> persistent = spec.Find("persistent")) {
    LATHE_ASSIGN_OR_RETURN(input.persistent, persistent->Bool());
  }
  auto weight = weights_->find(target);
  if (weight == weights_->end()) {
    return At(spec, DataLoss("the archive holds no data for '", target, "'"));
  }
  LATHE_ASSIGN_OR_RETURN(ValueType recorded, types_->Tensor(arg, name, builder_->symbols()));
  absl::StatusOr<ValueType> type = WeightType(recorded.tensor(), weight->second, target);
  if (!type.ok()) return At(spec, type.status());
  program_->weights.emplace(target, weight->second);
  return At(spec, builder_->AddInput(name, *std::move(type), std::move(input)));
}

absl::Status SignatureReader::ReadOutputs(const JsonValue& specs) {
  for (size_t k = 0; k < specs.size(); ++k) LATHE_RETURN_IF_ERROR(ReadOutput(specs[k]));
  return absl::OkStatus();
}

absl::Status SignatureReader::ReadOutput(const JsonValue& spec) {
  LATHE_ASSIGN_OR_RETURN(auto member, spec.Union());
  auto& [tag, value] = member;
  using Kind = OutputSpec::Kind;
  if (tag == "user_output" || tag == "loss_output") {
    LATHE_RETURN_IF_ERROR(value.CheckFields({"arg"}));
    LATHE_ASSIGN_OR_RETURN(JsonValue arg, value.ObjectField("arg"));
    if (tag == "loss_output") {  // a bare tensor, not a union
      LATHE_ASSIGN_OR_RETURN(absl::string_view name, arg.StringField("name"));
      absl::StatusOr<Argument> loss = builder_->Use(name);
      if (!loss.ok()) return value.Annotated(loss.status());
      builder_->AddOutput(*std::move(loss), OutputSpec::User());
      return absl::OkStatus();
    }
    LATHE_ASSIGN_OR_RETURN(Argument output, graphs_->ReadValue(arg, *builder_));
    if (output.is_list()) return arg.Unsupported("a list as one output is not supported");
    builder_->AddOutput(std::move(output), OutputSpec::User());
    return absl::OkStatus();
  }
  if (tag == "buffer_mutation") return ReadInputOutput(value, Kind::kMutation, "buffer_name");
  if (tag == "parameter_mutation") {
    return ReadInputOutput(value, Kind::kMutation, "parameter_name");
  }
  if (tag == "user_input_mutation") {
    return ReadInputOutput(value, Kind::kMutation, "user_input_name");
  }
  if (tag == "gradient_to_parameter") {
    return ReadInputOutput(value, Kind::kGradient, "parameter_name");
  }
  if (tag == "gradient_to_user_input") {
    return ReadInputOutput(value, Kind::kGradient, "user_input_name");
  }
  if (tag == "token") return absl::OkStatus();
  return value.Unsupported("unknown kind of output");
}

absl::Status SignatureReader::CheckMutation(const Argument& value, int input) const {
  const Graph& graph = *builder_->graph();
  const ValueType& target = graph.inputs()[input]->type;
  for (const OutputSpec& other : graph.output_specs()) {
    if (other.kind == OutputSpec::Kind::kMutation && other.input == input) {
      return InvalidArgument("an input is written back twice");
    }
  }
  if (!value.is_value() || !value.value()->type.is_tensor() || !target.is_tensor()) {
    return InvalidArgument("a tensor is written back into a tensor, and nothing else");
  }
  const TensorType &from = value.value()->type.tensor(), &to = target.tensor();
  bool same = from.dtype == to.dtype && from.rank() == to.rank() && from.device == to.device;
  for (int d = 0; same && d < to.rank(); ++d) {
    same = program_->shapes->IsKnownEqual(from.sizes[d], to.sizes[d]);
  }
  if (same) return absl::OkStatus();
  return InvalidArgument("the input is ", ToString(to), ", what is written back ", ToString(from));
}

absl::Status SignatureReader::ReadInputOutput(const JsonValue& spec, OutputSpec::Kind kind,
                                              absl::string_view target_field) {
  LATHE_RETURN_IF_ERROR(spec.CheckFields({"arg", target_field}));
  LATHE_ASSIGN_OR_RETURN(JsonValue arg, spec.ObjectField("arg"));
  LATHE_ASSIGN_OR_RETURN(absl::string_view name, arg.StringField("name"));
  LATHE_ASSIGN_OR_RETURN(absl::string_view target, spec.StringField(target_field));
  absl::StatusOr<Argument> value = builder_->Use(name);
  if (!value.ok()) return arg.Annotated(value.status());
  OutputSpec output;
  output.kind = kind;
  if (target_field == "user_input_name") {
    output.input = builder_->InputIndex(target);
  } else {
    const std::vector<InputSpec>& specs = builder_->graph()->input_specs();
    auto it = std::find_if(specs.begin(), specs.end(),
                           [&](const InputSpec& s) { return s.target == target; });
    output.input = it == specs.end() ? -1 : static_cast<int>(it - specs.begin());
  }
  if (output.input < 0) return spec.Invalid("no input is '", target, "'");
  if (kind == OutputSpec::Kind::kMutation) {
    absl::Status fits = CheckMutation(*value, output.input);
    if (!fits.ok()) return spec.Annotated(fits);
  }
  builder_->AddOutput(*std::move(value), output);
  return absl::OkStatus();
}

}  // namespace lathe::pt2
