#include "capture/pt2/read_argument.h"

#include <complex>

#include "absl/container/flat_hash_map.h"
#include "capture/pt2/read_types.h"
#include "dtypes/base/status.h"

namespace lathe::pt2 {
namespace {

struct Context {
  const GraphBuilder* builder = nullptr;  // nullptr: no names, constants alone
  const SubgraphReader* read_subgraph = nullptr;
};
using Reader = absl::StatusOr<Argument> (*)(const JsonValue& json, const Context& context);
using Result = absl::StatusOr<Argument>;

Result ReadNone(const JsonValue&, const Context&) { return Argument::None(); }

Result ReadInt(const JsonValue& json, const Context&) {
  LATHE_ASSIGN_OR_RETURN(int64_t v, json.Integer());
  return Argument::Int(v);
}
Result ReadFloat(const JsonValue& json, const Context&) {
  LATHE_ASSIGN_OR_RETURN(double v, json.Float());
  return Argument::Float(v);
}
Result ReadBool(const JsonValue& json, const Context&) {
  LATHE_ASSIGN_OR_RETURN(bool v, json.Bool());
  return Argument::Bool(v);
}
Result ReadString(const JsonValue& json, const Context&) {
  LATHE_ASSIGN_OR_RETURN(absl::string_view v, json.String());
  return Argument::String(std::string(v));
}
Result ReadComplex(const JsonValue& json, const Context&) {
  LATHE_RETURN_IF_ERROR(json.CheckFields({"real", "imag"}));
  LATHE_ASSIGN_OR_RETURN(JsonValue real_json, json.Field("real"));
  LATHE_ASSIGN_OR_RETURN(JsonValue imag_json, json.Field("imag"));
  LATHE_ASSIGN_OR_RETURN(double real, real_json.Float());
  LATHE_ASSIGN_OR_RETURN(double imag, imag_json.Float());
  return Argument::Number(Scalar(std::complex<double>(real, imag)));
}

template <auto read>
Result ReadEnum(const JsonValue& json, const Context&) {
  auto v = read(json);
  if (!v.ok()) return v.status();
  return Argument::Of(*v);
}

Result UseName(const JsonValue& json, absl::string_view name, const Context& context) {
  if (context.builder == nullptr) return json.Invalid("a name is not possible here");
  Result used = context.builder->Use(name);
  if (!used.ok()) return json.Annotated(used.status());
  return used;
}

Result ReadTensor(const JsonValue& json, const Context& context) {
  LATHE_RETURN_IF_ERROR(json.CheckFields({"name"}));
  LATHE_ASSIGN_OR_RETURN(absl::string_view name, json.StringField("name"));
  return UseName(json, name, context);
}

// as_tensor or as_none.
Result ReadOptionalTensor(const JsonValue& json, const Context& context) {
  LATHE_ASSIGN_OR_RETURN(auto member, json.Union());
  if (member.first == "as_none") return Argument::None();
  if (member.first == "as_tensor") return ReadTensor(member.second, context);
  return member.second.Unsupported("unknown kind of optional tensor");
}

// as_name or a literal.
Result ReadSymbolicArgument(const JsonValue& json, const Context& context) {
  LATHE_ASSIGN_OR_RETURN(auto member, json.Union());
  auto& [tag, value] = member;
  if (tag == "as_int") return ReadInt(value, context);
  if (tag == "as_float") return ReadFloat(value, context);
  if (tag == "as_bool") return ReadBool(value, context);
  if (tag != "as_name") return value.Unsupported("unknown kind of symbolic argument");
  LATHE_ASSIGN_OR_RETURN(absl::string_view name, value.String());
  return UseName(value, name, context);
}

template <Reader read>
Result ReadList(const JsonValue& json, const Context& context) {
  if (!json.is_array()) return json.Invalid("expected an array");
  std::vector<Argument> items;
  items.reserve(json.size());
  for (size_t k = 0; k < json.size(); ++k) {
    LATHE_ASSIGN_OR_RETURN(Argument item, read(json[k], context));
    items.push_back(std::move(item));
  }
  return Argument::List(std::move(items));
}

// The name of an operator that another one applies.
Result ReadOperator(const JsonValue& json, const Context&) {
  LATHE_ASSIGN_OR_RETURN(absl::string_view target, json.String());
  return Argument::String(OpName(target));
}

Result Read(const JsonValue& json, const Context& context);

// Arguments by name, as pairs.
Result ReadNamed(const JsonValue& json, const Context& context) {
  if (!json.is_object()) return json.Invalid("expected an object");
  std::vector<Argument> pairs;
  for (auto& [name, value] : json.Members()) {
    LATHE_ASSIGN_OR_RETURN(Argument item, Read(value, context));
    pairs.push_back(Argument::List({Argument::String(std::string(name)), std::move(item)}));
  }
  return Argument::List(std::move(pairs));
}

Result ReadGraph(const JsonValue& json, const Context& context) {
  if (context.read_subgraph == nullptr) return json.Invalid("a graph is not possible here");
  return (*context.read_subgraph)(json);
}

const absl::flat_hash_map<absl::string_view, Reader>& Readers() {
  static const auto& readers = *new absl::flat_hash_map<absl::string_view, Reader>{
      {"as_none", ReadNone},
      {"as_int", ReadInt},
      {"as_ints", ReadList<ReadInt>},
      {"as_int_lists", ReadList<ReadList<ReadInt>>},
      {"as_float", ReadFloat},
      {"as_floats", ReadList<ReadFloat>},
      {"as_bool", ReadBool},
      {"as_bools", ReadList<ReadBool>},
      {"as_string", ReadString},
      {"as_strings", ReadList<ReadString>},
      {"as_complex", ReadComplex},
      {"as_scalar_type", ReadEnum<ReadDType>},
      {"as_memory_format", ReadEnum<ReadMemoryFormat>},
      {"as_layout", ReadEnum<ReadLayout>},
      {"as_device", ReadEnum<ReadDevice>},
      {"as_tensor", ReadTensor},
      {"as_tensors", ReadList<ReadTensor>},
      {"as_nested_tensors", ReadList<ReadList<ReadTensor>>},
      {"as_optional_tensor", ReadOptionalTensor},
      {"as_optional_tensors", ReadList<ReadOptionalTensor>},
      {"as_sym_int", ReadSymbolicArgument},
      {"as_sym_ints", ReadList<ReadSymbolicArgument>},
      {"as_sym_float", ReadSymbolicArgument},
      {"as_sym_floats", ReadList<ReadSymbolicArgument>},
      {"as_sym_bool", ReadSymbolicArgument},
      {"as_sym_bools", ReadList<ReadSymbolicArgument>},
      {"as_graph", ReadGraph},
      {"as_operator", ReadOperator},
      {"as_string_to_argument", ReadNamed},
  };
  return readers;
}

Result Read(const JsonValue& json, const Context& context) {
  LATHE_ASSIGN_OR_RETURN(auto member, json.Union());
  auto it = Readers().find(member.first);
  if (it == Readers().end()) {
    return member.second.Unsupported("this kind of argument is not supported");
  }
  return it->second(member.second, context);
}

}  // namespace

absl::StatusOr<Argument> ReadArgument(const JsonValue& json, const GraphBuilder& builder,
                                      const SubgraphReader& read_subgraph) {
  return Read(json, {&builder, &read_subgraph});
}

absl::StatusOr<Argument> ReadConstant(const JsonValue& json) { return Read(json, {}); }

}  // namespace lathe::pt2
