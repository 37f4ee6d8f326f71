#include "driver/show_shapes.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "codegen/plan/size_assumptions.h"
#include "driver/json_object.h"
#include "driver/user_inputs.h"
#include "symbolic/explain.h"

namespace lathe::driver {
namespace {

using symbolic::Range;

struct SymbolLine {
  std::string name, source;
  Range range;
  std::optional<int64_t> example;
  int64_t multiple_of = 1;
};

struct ConditionLine {
  std::string condition, asker, message;
  std::vector<std::string> reasons;
};

struct Shapes {
  std::vector<SymbolLine> symbols;
  std::vector<std::string> preconditions;
  std::vector<ConditionLine> constants, guards, assertions;
  std::vector<std::pair<std::string, std::string>> inputs, outputs;
};

std::vector<std::string> TextsOf(const symbolic::Proof& proof) {
  std::vector<std::string> texts;
  for (const symbolic::KnownFact& fact : proof.reasons) texts.push_back(fact.text);
  return texts;
}

// What an assertion checks: a condition on sizes, or a tensor by its name. Nothing where that holds
// by itself.
std::optional<std::string> ConditionOf(const Argument& checked) {
  if (checked.kind() == Argument::Kind::kBool) {
    return checked.boolean() ? std::nullopt : std::optional<std::string>("false");
  }
  if (checked.kind() == Argument::Kind::kInt) {
    const Expr& e = checked.expr();
    if (e.type() != symbolic::ExprType::kBool || e.AsBool() == true) return std::nullopt;
    return symbolic::ToString(e);
  }
  if (!checked.is_value()) return std::nullopt;
  const ValueType& type = checked.value()->type;
  if (type.is_tensor()) return absl::StrCat("%", checked.value()->name);
  if (!type.is_scalar() || type.scalar().kind != symbolic::ExprType::kBool) return std::nullopt;
  if (type.scalar().value.AsBool() == true) return std::nullopt;
  return symbolic::ToString(type.scalar().value);
}

// Where a symbol comes from, by the names of the program's inputs.
std::string SourceText(const Program& program, const symbolic::Source& source) {
  const auto& inputs = program.main->inputs();
  const bool has_name = source.input >= 0 && static_cast<size_t>(source.input) < inputs.size() &&
                        !inputs[static_cast<size_t>(source.input)]->name.empty();
  const std::string text = source.ToString();
  const std::string number = absl::StrCat("input ", source.input);
  if (!has_name || !absl::EndsWith(text, number)) return text;
  return absl::StrCat(text.substr(0, text.size() - number.size()), "input ",
                      inputs[static_cast<size_t>(source.input)]->name);
}

std::string OutputText(const Argument& output) {
  if (output.is_value()) return ToString(output.value()->type);
  if (output.kind() != Argument::Kind::kInt) return "a constant";
  const bool is_float = output.expr().type() == symbolic::ExprType::kFloat;
  return absl::StrCat(is_float ? "float(" : "int(", symbolic::ToString(output.expr()), ")");
}

// Nodes that only state a condition.
void CollectAssertions(const Graph& graph, std::vector<ConditionLine>& out) {
  for (const Node* node : graph.nodes()) {
    for (const Argument& a : node->arguments) {
      if (a.kind() == Argument::Kind::kGraph) CollectAssertions(*a.graph(), out);
    }
    if (!node->results.empty() || node->arguments.empty()) continue;
    const std::optional<std::string> condition = ConditionOf(node->arguments[0]);
    if (!condition) continue;
    ConditionLine line;
    line.condition = *condition;
    line.asker = symbolic::Asker{node->op, node->origin.source}.ToString();
    for (const Argument& a : node->arguments) {
      if (a.kind() == Argument::Kind::kString) line.message = a.string();
    }
    out.push_back(std::move(line));
  }
}

Shapes Collect(const Program& program) {
  Shapes s;
  const ShapeEnv& env = *program.shapes;
  for (const Expr& symbol : env.symbols()) {
    s.symbols.push_back({symbolic::ToString(symbol), SourceText(program, env.source(symbol)),
                         env.RangeOf(symbol), env.hint(symbol), env.KnownDivisor(symbol)});
  }
  for (const Expr& e : program.main->preconditions()) {
    s.preconditions.push_back(symbolic::ToString(e));
  }
  for (const symbolic::ConstantSymbol& c : symbolic::ExplainConstants(env)) {
    s.constants.push_back(
        {absl::StrCat(symbolic::ToString(c.symbol), " == ", c.value), "", "", TextsOf(c.proof)});
  }
  for (const symbolic::Guard& g : env.guards()) {
    s.guards.push_back({symbolic::ToString(g.condition), g.asker.ToString(), "",
                        TextsOf(symbolic::ExplainGuard(env, g))});
  }
  for (const symbolic::Assertion& a : env.assertions()) {
    s.assertions.push_back({symbolic::ToString(a.condition), a.asker.ToString(), a.message, {}});
  }
  CollectAssertions(*program.main, s.assertions);
  // What types were made for; the program checks it before it runs.
  for (const SizeAssumption& a : SizeAssumptions(*program.main, *program.shapes)) {
    const symbolic::Asker asker{a.node->op, a.node->origin.source};
    s.assertions.push_back({symbolic::ToString(a.condition), asker.ToString(), "", {}});
  }
  for (const UserInput& input : UserInputsOf(program)) {
    s.inputs.push_back({input.name, ToString(input.type)});
  }
  for (size_t k = 0; k < program.main->outputs().size(); ++k) {
    const Argument& output = program.main->outputs()[k];
    s.outputs.push_back({absl::StrCat(k), OutputText(output)});
  }
  return s;
}

void AppendConditions(absl::string_view word, const std::vector<ConditionLine>& lines,
                      std::string& text) {
  for (const ConditionLine& line : lines) {
    absl::StrAppend(&text, word, " ", line.condition, line.asker,
                    line.message.empty() ? "" : absl::StrCat(": ", line.message), "\n");
    for (const std::string& reason : line.reasons) absl::StrAppend(&text, "  ", reason, "\n");
  }
}

std::string StringsJson(const std::vector<std::string>& texts) {
  std::vector<std::string> items;
  for (const std::string& text : texts) items.push_back(JsonString(text));
  return JsonArray(items);
}

std::string ConditionsJson(const std::vector<ConditionLine>& lines) {
  std::vector<std::string> items;
  for (const ConditionLine& line : lines) {
    JsonObject o;
    o.Add("condition", line.condition);
    if (!line.asker.empty()) o.Add("asked", line.asker.substr(2, line.asker.size() - 3));
    if (!line.message.empty()) o.Add("message", line.message);
    o.AddRaw("reasons", StringsJson(line.reasons));
    items.push_back(o.Text());
  }
  return JsonArray(items);
}

std::string TypesJson(const std::vector<std::pair<std::string, std::string>>& types) {
  std::vector<std::string> items;
  for (const auto& [name, type] : types) {
    items.push_back(JsonObject().Add("name", name).Add("type", type).Text());
  }
  return JsonArray(items);
}

}  // namespace

std::string ShapesText(const Program& program) {
  const Shapes s = Collect(program);
  std::string text;
  for (const SymbolLine& line : s.symbols) {
    const Range& r = line.range;
    absl::StrAppend(&text, line.name, ": ", line.source, ", range [",
                    r.lower == Range::kMin ? "-inf" : absl::StrCat(r.lower), ", ",
                    r.upper == Range::kMax ? "inf" : absl::StrCat(r.upper), "]");
    if (line.example) absl::StrAppend(&text, ", example ", *line.example);
    if (line.multiple_of > 1) absl::StrAppend(&text, ", a multiple of ", line.multiple_of);
    text += "\n";
  }
  for (const std::string& condition : s.preconditions) {
    absl::StrAppend(&text, "where ", condition, "\n");
  }
  AppendConditions("constant", s.constants, text);
  AppendConditions("guard", s.guards, text);
  AppendConditions("assert", s.assertions, text);
  for (const auto& [name, type] : s.inputs) {
    absl::StrAppend(&text, "input ", name, ": ", type, "\n");
  }
  for (const auto& [name, type] : s.outputs) {
    absl::StrAppend(&text, "output ", name, ": ", type, "\n");
  }
  return text;
}

std::string ShapesJson(const Program& program) {
  const Shapes s = Collect(program);
  std::vector<std::string> symbols;
  for (const SymbolLine& line : s.symbols) {
    JsonObject o;
    o.Add("name", line.name).Add("source", line.source);
    if (line.range.lower != Range::kMin) o.Add("lower", line.range.lower);
    if (line.range.upper != Range::kMax) o.Add("upper", line.range.upper);
    if (line.example) o.Add("example", *line.example);
    if (line.multiple_of > 1) o.Add("multiple_of", line.multiple_of);
    symbols.push_back(o.Text());
  }
  return JsonObject()
      .Add("stage", "shapes")
      .AddRaw("symbols", JsonArray(symbols))
      .AddRaw("preconditions", StringsJson(s.preconditions))
      .AddRaw("constants", ConditionsJson(s.constants))
      .AddRaw("guards", ConditionsJson(s.guards))
      .AddRaw("assertions", ConditionsJson(s.assertions))
      .AddRaw("inputs", TypesJson(s.inputs))
      .AddRaw("outputs", TypesJson(s.outputs))
      .Text();
}

}  // namespace lathe::driver
