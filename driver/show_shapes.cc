#include "driver/show_shapes.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
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

// Nodes that only state a condition.
void CollectAssertions(const Graph& graph, std::vector<ConditionLine>& out) {
  for (const Node* node : graph.nodes()) {
    for (const Argument& a : node->arguments) {
      if (a.kind() == Argument::Kind::kGraph) CollectAssertions(*a.graph(), out);
    }
    if (!node->results.empty() || node->arguments.empty()) continue;
    const Argument& first = node->arguments[0];
    if (!first.is_value() || !first.value()->type.is_scalar()) continue;
    const ScalarType& condition = first.value()->type.scalar();
    if (condition.kind != symbolic::ExprType::kBool) continue;
    ConditionLine line;
    line.condition = symbolic::ToString(condition.value);
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
    s.symbols.push_back({symbolic::ToString(symbol), env.source(symbol).ToString(),
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
  for (const UserInput& input : UserInputsOf(program)) {
    s.inputs.push_back({input.name, ToString(input.type)});
  }
  for (size_t k = 0; k < program.main->outputs().size(); ++k) {
    const Argument& output = program.main->outputs()[k];
    s.outputs.push_back(
        {absl::StrCat(k), output.is_value() ? ToString(output.value()->type) : "a constant"});
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
