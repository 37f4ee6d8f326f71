#include "capture/pt2/read_program.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "capture/pt2/guard_sources.h"
#include "capture/pt2/read_signature.h"
#include "dtypes/base/status.h"
#include "symbolic/evaluate.h"
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

// A bound on more than one symbol: "2*s0 + 1" lies in [3, 9].
struct ExpressionRange {
  std::string text;
  Expr e;
  Range range;
};

bool IsName(absl::string_view text) {
  return !text.empty() && !absl::ascii_isdigit(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

absl::StatusOr<std::vector<ExpressionRange>> ReadRanges(const JsonValue& root, Symbols& symbols,
                                                        ExprContext& context) {
  std::vector<ExpressionRange> others;
  LATHE_ASSIGN_OR_RETURN(JsonValue ranges, root.ObjectField("range_constraints"));
  for (auto& [name, range] : ranges.Members()) {
    LATHE_RETURN_IF_ERROR(range.CheckFields({"min_val", "max_val"}));
    Range bounds;
    LATHE_ASSIGN_OR_RETURN(bounds.lower, ReadBound(range, "min_val", true));
    LATHE_ASSIGN_OR_RETURN(bounds.upper, ReadBound(range, "max_val", false));
    if (bounds.empty()) return range.Invalid("the range of ", name, " is empty");
    if (IsName(name)) {
      symbols.SetRange(std::string(name), bounds);
      continue;
    }
    absl::StatusOr<Expr> e = symbolic::ParseSympy(name, context);
    if (!e.ok()) return range.Annotated(e.status());
    if (e->type() != symbolic::ExprType::kInt) return range.Invalid(name, " is not an integer");
    others.push_back({std::string(name), *e, bounds});
  }
  return others;
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

// Cuts off the ends of the range of the condition's only symbol at which it does not hold: a range
// says more to those who read it than abs(s0 - 4) == 2 does.
void NarrowEnds(const Expr& condition, ShapeEnv& shapes) {
  constexpr int kMostSteps = 1000;
  const std::vector<Expr> symbols = symbolic::FreeSymbols(condition);
  if (symbols.size() != 1) return;
  const Range range = shapes.RangeOf(symbols[0]);
  const auto fails_at = [&](int64_t value) {
    const absl::StatusOr<int64_t> holds =
        symbolic::Evaluate(condition, [&](const Expr&) { return std::optional(value); });
    return holds.ok() && *holds == 0;
  };
  Range rest = range;
  for (int k = 0; k < kMostSteps && range.lower != Range::kMin; ++k) {
    if (rest.lower == rest.upper || !fails_at(rest.lower)) break;
    ++rest.lower;
  }
  for (int k = 0; k < kMostSteps && range.upper != Range::kMax; ++k) {
    if (rest.lower == rest.upper || !fails_at(rest.upper)) break;
    --rest.upper;
  }
  // Both follow from a fact that is known already.
  if (rest.lower > range.lower) shapes.AddFact(symbolic::Le(rest.lower, symbols[0])).IgnoreError();
  if (rest.upper < range.upper) shapes.AddFact(symbolic::Le(symbols[0], rest.upper)).IgnoreError();
}

// `where` is the condition's place in the file.
absl::Status AddPrecondition(const Expr& condition, const JsonValue& where, absl::string_view text,
                             absl::string_view recorded_in, Program& program) {
  // Ranges are preconditions already, so what follows from them needs no check of its own.
  if (program.shapes->IsKnownTrue(condition)) return absl::OkStatus();
  if (program.shapes->IsKnownFalse(condition)) {
    return where.Invalid("no input can meet the guard ", text);
  }
  const symbolic::Asker asker = {"torch.export", std::string(recorded_in)};
  absl::Status added = program.shapes->AddFact(condition, asker);
  if (!added.ok()) return where.Annotated(added);
  program.main->preconditions().push_back(condition);
  NarrowEnds(condition, *program.shapes);
  return absl::OkStatus();
}

// Bounds of expressions hold for the caller's sizes; what the program computes it checks itself.
absl::Status AddExpressionRanges(const JsonValue& root, const std::vector<ExpressionRange>& ranges,
                                 Program& program) {
  const std::vector<Expr>& known = program.shapes->symbols();
  for (const ExpressionRange& r : ranges) {
    const std::vector<Expr> symbols = symbolic::FreeSymbols(r.e);
    const bool from_inputs = std::all_of(symbols.begin(), symbols.end(), [&](const Expr& symbol) {
      return std::find(known.begin(), known.end(), symbol) != known.end();
    });
    if (!from_inputs) {
      program.notes.push_back(absl::StrCat("range_constraints: the range of ", r.text,
                                           " is left out: not all of it comes from inputs"));
      continue;
    }
    std::vector<Expr> bounds;
    if (r.range.lower != Range::kMin) bounds.push_back(symbolic::Le(r.range.lower, r.e));
    if (r.range.upper != Range::kMax) bounds.push_back(symbolic::Le(r.e, r.range.upper));
    for (const Expr& bound : bounds) {
      LATHE_RETURN_IF_ERROR(AddPrecondition(bound, *root.Find("range_constraints"), r.text,
                                            "range_constraints", program));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadGuards(const JsonValue& root, const GuardSources& sources, Program& program) {
  std::optional<JsonValue> guards = root.Find("guards_code");
  for (size_t k = 0; guards && k < guards->size(); ++k) {
    LATHE_ASSIGN_OR_RETURN(absl::string_view text, (*guards)[k].String());
    std::string beside;
    absl::StatusOr<Expr> condition = symbolic::ParseGuard(
        text, *program.context, [&](absl::string_view source) -> absl::StatusOr<Expr> {
          if (sources.IsBesidesInputs(source)) beside = std::string(source);
          return sources.Resolve(source);
        });
    if (!condition.ok() && !beside.empty()) {
      program.notes.push_back(absl::StrCat("guards_code[", k, "] is left out: ", beside,
                                           " is no input of the call (", text, ")"));
      continue;
    }
    if (!condition.ok()) return (*guards)[k].Annotated(condition.status());
    if (condition->type() != symbolic::ExprType::kBool) {
      return (*guards)[k].Invalid("the guard is not a condition");
    }
    const std::string place = absl::StrCat("guards_code[", k, "], ", text);
    LATHE_RETURN_IF_ERROR(AddPrecondition(*condition, (*guards)[k], text, place, program));
  }
  return absl::OkStatus();
}

// Takes out the guards from the `first` on that follow from the others: exporters write the steps
// on the way to a condition beside it. `ranges` are those of the symbols before any guard was
// known.
void DropImplied(size_t first, const std::vector<Range>& ranges, Program& program) {
  constexpr size_t kMost = 10;  // each is tried against all others
  std::vector<Expr>& conditions = program.main->preconditions();
  if (conditions.size() - first > kMost) return;
  for (size_t k = first; k < conditions.size();) {
    ShapeEnv others(program.context);
    for (size_t i = 0; i < ranges.size(); ++i) {
      const Expr& symbol = program.shapes->symbols()[i];
      const symbolic::Source& source = program.shapes->source(symbol);
      if (symbol.symbol_kind() == symbolic::SymbolKind::kUnbacked) {
        others.AddUnbacked(symbol.symbol_name(), source, ranges[i]);
      } else {
        others.AddBacked(symbol.symbol_name(), source, std::nullopt, ranges[i]);
      }
    }
    bool fits = true;
    for (size_t i = first; i < conditions.size(); ++i) {
      fits = fits && (i == k || others.AddFact(conditions[i]).ok());
    }
    if (fits && others.IsKnownTrue(conditions[k])) {
      conditions.erase(conditions.begin() + static_cast<ptrdiff_t>(k));
    } else {
      ++k;
    }
  }
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
  LATHE_ASSIGN_OR_RETURN(std::vector<ExpressionRange> ranges,
                         ReadRanges(root, symbols, *program.context));
  LATHE_ASSIGN_OR_RETURN(ValueTypes types, ValueTypes::Of(graph));
  GraphReader graphs(&program);
  GraphBuilder builder(program.main, &symbols);
  SignatureReader reader(&program, &graphs, &builder, &types, &weights);
  LATHE_RETURN_IF_ERROR(reader.ReadInputs(input_specs));
  for (const Value* input : program.main->inputs()) symbols.BindRest(input->type);
  AddRangePreconditions(program);
  std::vector<Range> given;
  for (const Expr& symbol : program.shapes->symbols()) {
    given.push_back(program.shapes->RangeOf(symbol));
  }
  const size_t first_guard = program.main->preconditions().size();
  LATHE_RETURN_IF_ERROR(AddExpressionRanges(root, ranges, program));
  LATHE_RETURN_IF_ERROR(
      ReadGuards(root, SourcesOf(graph_module, reader.user_arguments()), program));
  DropImplied(first_guard, given, program);
  LATHE_RETURN_IF_ERROR(graphs.ReadNodes(graph, types, builder));
  LATHE_RETURN_IF_ERROR(reader.ReadOutputs(output_specs));
  return program;
}

}  // namespace lathe::pt2
