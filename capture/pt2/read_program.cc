#include "capture/pt2/read_program.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "capture/pt2/guard_sources.h"
#include "capture/pt2/read_signature.h"
#include "dtypes/base/status.h"
#include "symbolic/parser.h"

namespace lathe::pt2 {
namespace {

using symbolic::Range;

absl::Status CheckVersion(const JsonValue& root) {
  LATHE_ASSIGN_OR_RETURN(JsonValue version, root.ObjectField("schema_version"));
  LATHE_ASSIGN_OR_RETURN(JsonValue major_json, version.Field("major"));
  LATHE_ASSIGN_OR_RETURN(int64_t major, major_json.Integer());
  if (major == 8) return absl::OkStatus();
  return major_json.Unsupported("the export schema has major version ", major,
                                "; lathe reads version 8");
}

// null is infinite; so are the largest numbers, which older versions wrote for it. Other numbers
// than integers are rounded inward.
absl::StatusOr<int64_t> ReadBound(const JsonValue& range, absl::string_view field, bool lower) {
  std::optional<JsonValue> json = range.Find(field);
  if (!json) return lower ? Range::kMin : Range::kMax;
  int64_t bound = 0;
  if (json->is_integer()) {
    bound = *json->Integer();
  } else {
    LATHE_ASSIGN_OR_RETURN(double number, json->Float());
    number = lower ? std::ceil(number) : std::floor(number);
    if (std::isnan(number)) return json->Invalid("the bound is not a number");
    bound = number >= 9.2e18    ? Range::kMax
            : number <= -9.2e18 ? Range::kMin
                                : static_cast<int64_t>(number);
  }
  if (bound >= Range::kMax - 1) return Range::kMax;
  return bound <= Range::kMin + 1 ? Range::kMin : bound;
}

absl::Status ReadRanges(const JsonValue& root, Symbols& symbols) {
  LATHE_ASSIGN_OR_RETURN(JsonValue ranges, root.ObjectField("range_constraints"));
  for (auto& [name, range] : ranges.Members()) {
    LATHE_RETURN_IF_ERROR(range.CheckFields({"min_val", "max_val"}));
    Range bounds;
    LATHE_ASSIGN_OR_RETURN(bounds.lower, ReadBound(range, "min_val", true));
    LATHE_ASSIGN_OR_RETURN(bounds.upper, ReadBound(range, "max_val", false));
    if (bounds.empty()) return range.Invalid("the range of ", name, " is empty");
    symbols.SetRange(std::string(name), bounds);
  }
  return absl::OkStatus();
}

// What the caller must meet: the range of every symbol that comes from outside.
void AddRangePreconditions(Program& program) {
  for (const Expr& symbol : program.shapes->symbols()) {
    if (symbol.symbol_kind() != symbolic::SymbolKind::kBacked) continue;
    Range range = program.shapes->RangeOf(symbol);
    bool is_scalar = program.shapes->source(symbol).kind == symbolic::Source::Kind::kInputScalar;
    int64_t always = is_scalar ? Range::kMin : 0;
    std::vector<Expr>& conditions = program.main->preconditions();
    if (range.lower > always) conditions.push_back(symbolic::Le(range.lower, symbol));
    if (range.upper < Range::kMax) conditions.push_back(symbolic::Le(symbol, range.upper));
  }
}

// {"pkg.Point": {"field_names": ["x", "y"]}}
NamedtupleFields ReadNamedtuples(const JsonValue& graph_module) {
  NamedtupleFields fields;
  std::optional<JsonValue> types = graph_module.Find("treespec_namedtuple_fields");
  if (!types) return fields;
  for (auto& [name, definition] : types->Members()) {
    std::optional<JsonValue> names = definition.Find("field_names");
    std::vector<std::string>& list = fields[std::string(name)];
    for (size_t k = 0; names && k < names->size(); ++k) {
      list.emplace_back((*names)[k].is_string() ? *(*names)[k].String() : "");
    }
  }
  return fields;
}

// The signature of the program's own call; nullopt when it was not kept.
std::optional<JsonValue> CallSignature(const JsonValue& graph_module) {
  std::optional<JsonValue> calls = graph_module.Find("module_call_graph");
  for (size_t k = 0; calls && k < calls->size(); ++k) {
    absl::StatusOr<absl::string_view> fqn = (*calls)[k].StringField("fqn");
    if (fqn.ok() && fqn->empty()) return (*calls)[k].Find("signature");
  }
  return std::nullopt;
}

std::vector<std::vector<std::string>> CallSources(const JsonValue& graph_module) {
  std::optional<JsonValue> signature = CallSignature(graph_module);
  if (!signature) return {};
  std::vector<std::string> names;
  std::optional<JsonValue> list = signature->Find("forward_arg_names");
  for (size_t k = 0; list && k < list->size(); ++k) {
    names.emplace_back((*list)[k].is_string() ? *(*list)[k].String() : "");
  }
  absl::StatusOr<absl::string_view> in_spec = signature->StringField("in_spec");
  if (!in_spec.ok()) return {};
  return LeafSources(*in_spec, names, ReadNamedtuples(graph_module));
}

// Names as the caller's tree has them, then as the graph has them, then by position.
GuardSources SourcesOf(const JsonValue& graph_module, const std::vector<UserArgument>& arguments) {
  GuardSources sources;
  std::vector<std::vector<std::string>> leaves = CallSources(graph_module);
  for (size_t k = 0; k < leaves.size() && leaves.size() == arguments.size(); ++k) {
    for (const std::string& source : leaves[k]) sources.Add(source, arguments[k]);
  }
  for (size_t k = 0; k < arguments.size(); ++k) {
    if (arguments[k].input != nullptr) {
      sources.Add(absl::StrCat("L['", arguments[k].input->name, "']"), arguments[k]);
    }
    sources.Add(absl::StrCat("L['flat_args'][", k, "]"), arguments[k]);
  }
  return sources;
}

absl::Status ReadGuards(const JsonValue& root, const GuardSources& sources, Program& program) {
  std::optional<JsonValue> guards = root.Find("guards_code");
  for (size_t k = 0; guards && k < guards->size(); ++k) {
    LATHE_ASSIGN_OR_RETURN(absl::string_view text, (*guards)[k].String());
    absl::StatusOr<Expr> condition = symbolic::ParseGuard(
        text, *program.context, [&](absl::string_view source) { return sources.Resolve(source); });
    if (!condition.ok()) return (*guards)[k].Annotated(condition.status());
    if (condition->type() != symbolic::ExprType::kBool) {
      return (*guards)[k].Invalid("the guard is not a condition");
    }
    // Ranges are preconditions already, so what follows from them needs no check of its own.
    if (program.shapes->IsKnownTrue(*condition)) continue;
    if (program.shapes->IsKnownFalse(*condition)) {
      return (*guards)[k].Invalid("no input can meet the guard ", text);
    }
    absl::Status added = program.shapes->AddFact(*condition);
    if (!added.ok()) return (*guards)[k].Annotated(added);
    program.main->preconditions().push_back(*condition);
  }
  return absl::OkStatus();
}

absl::Status CheckFields(const JsonValue& root, const JsonValue& graph_module,
                         const JsonValue& signature) {
  LATHE_RETURN_IF_ERROR(
      root.CheckFields({"graph_module", "opset_version", "range_constraints", "schema_version",
                        "verifiers", "torch_version", "guards_code", "dialect"}));
  LATHE_RETURN_IF_ERROR(graph_module.CheckFields(
      {"graph", "signature", "module_call_graph", "metadata", "treespec_namedtuple_fields"}));
  return signature.CheckFields({"input_specs", "output_specs"});
}

absl::Status CheckCount(const JsonValue& graph, absl::string_view field, const JsonValue& specs) {
  LATHE_ASSIGN_OR_RETURN(JsonValue list, graph.ArrayField(field));
  if (list.size() == specs.size()) return absl::OkStatus();
  return specs.Invalid(specs.size(), " specs, but the graph has ", list.size(), " ", field);
}

}  // namespace

absl::StatusOr<Program> ReadProgram(std::string record, absl::string_view json,
                                    const std::map<std::string, Tensor>& weights) {
  LATHE_ASSIGN_OR_RETURN(std::unique_ptr<JsonDocument> document,
                         JsonDocument::Parse(std::move(record), json));
  JsonValue root = document->root();
  LATHE_RETURN_IF_ERROR(CheckVersion(root));
  LATHE_ASSIGN_OR_RETURN(JsonValue graph_module, root.ObjectField("graph_module"));
  LATHE_ASSIGN_OR_RETURN(JsonValue graph, graph_module.ObjectField("graph"));
  LATHE_ASSIGN_OR_RETURN(JsonValue signature, graph_module.ObjectField("signature"));
  LATHE_RETURN_IF_ERROR(CheckFields(root, graph_module, signature));
  LATHE_RETURN_IF_ERROR(CheckGraphFields(graph));
  LATHE_ASSIGN_OR_RETURN(JsonValue input_specs, signature.ArrayField("input_specs"));
  LATHE_ASSIGN_OR_RETURN(JsonValue output_specs, signature.ArrayField("output_specs"));
  LATHE_RETURN_IF_ERROR(CheckCount(graph, "inputs", input_specs));
  LATHE_RETURN_IF_ERROR(CheckCount(graph, "outputs", output_specs));

  Program program = NewProgram("main");
  Symbols symbols(program.shapes.get());
  LATHE_RETURN_IF_ERROR(ReadRanges(root, symbols));
  LATHE_ASSIGN_OR_RETURN(ValueTypes types, ValueTypes::Of(graph));
  GraphReader graphs(&program);
  GraphBuilder builder(program.main, &symbols);
  SignatureReader reader(&program, &graphs, &builder, &types, &weights);
  LATHE_RETURN_IF_ERROR(reader.ReadInputs(input_specs));
  for (const Value* input : program.main->inputs()) symbols.BindRest(input->type);
  AddRangePreconditions(program);
  LATHE_RETURN_IF_ERROR(
      ReadGuards(root, SourcesOf(graph_module, reader.user_arguments()), program));
  LATHE_RETURN_IF_ERROR(graphs.ReadNodes(graph, types, builder));
  LATHE_RETURN_IF_ERROR(reader.ReadOutputs(output_specs));
  return program;
}

}  // namespace lathe::pt2
