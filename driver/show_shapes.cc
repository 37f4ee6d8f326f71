#include "driver/show_shapes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "codegen/plan/size_assumptions.h"
#include "driver/json_object.h"
#include "driver/user_inputs.h"
#include "symbolic/evaluate.h"
#include "symbolic/explain.h"

namespace lathe::driver {
namespace {

using symbolic::Range;

constexpr size_t kMostNodesThatNeed = 3;   // of one precondition that are shown
constexpr size_t kMostNodesToAsk = 20000;  // of a larger program only what was recorded is shown

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
  std::vector<ConditionLine> preconditions, constants, guards, assertions, assumptions;
  std::vector<std::pair<std::string, std::string>> inputs, fixed, outputs;
};

// The names of the graph's inputs as the caller knows them.
std::vector<std::string> InputNames(const Program& program) {
  std::vector<std::string> names;
  const std::vector<UserInput> user_inputs = UserInputsOf(program);
  size_t next = 0;
  for (size_t k = 0; k < program.main->inputs().size(); ++k) {
    const bool is_user = program.main->input_specs()[k].kind == InputSpec::Kind::kUser;
    names.push_back(is_user ? user_inputs[next++].name : program.main->inputs()[k]->name);
  }
  return names;
}

// "size 0 of input 41" -> "size 0 of input ids".
std::string WithNames(absl::string_view text, const std::vector<std::string>& names) {
  constexpr absl::string_view kBefore = "input ";
  std::string result;
  while (true) {
    const size_t at = text.find(kBefore);
    if (at == absl::string_view::npos) break;
    absl::StrAppend(&result, text.substr(0, at + kBefore.size()));
    text.remove_prefix(at + kBefore.size());
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    size_t k = 0;
    if (absl::SimpleAtoi(text.substr(0, digits), &k) && k < names.size()) {
      absl::StrAppend(&result, names[k]);
      text.remove_prefix(digits);
    }
  }
  return absl::StrCat(result, text);
}

bool Contains(const Expr& e, const Expr& symbol) {
  const std::vector<Expr> symbols = symbolic::FreeSymbols(e);
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

// Where the value of a symbol comes from that no input is by itself.
std::string DerivedSource(const Graph& graph, const Expr& symbol,
                          const std::vector<std::string>& names) {
  for (size_t k = 0; k < graph.inputs().size(); ++k) {
    const ValueType& type = graph.inputs()[k]->type;
    if (!type.is_tensor()) continue;
    for (const auto& [word, items] :
         {std::pair("size ", &type.tensor().sizes), std::pair("stride ", &type.tensor().strides)}) {
      for (size_t d = 0; d < items->size(); ++d) {
        if (!Contains((*items)[d], symbol)) continue;
        return absl::StrCat("from ", word, d, " of input ", names[k], ", which is ",
                            symbolic::ToString((*items)[d]));
      }
    }
  }
  return "unknown source";
}

std::string SourceOf(const Program& program, const Expr& symbol,
                     const std::vector<std::string>& names) {
  const symbolic::Source& source = program.shapes->source(symbol);
  using Kind = symbolic::Source::Kind;
  if (source.kind == Kind::kNone) return DerivedSource(*program.main, symbol, names);
  if (source.kind == Kind::kItem && !absl::StartsWith(source.node, "%")) {
    return absl::StrCat("item of %", source.node);
  }
  return source.input >= 0 ? WithNames(source.ToString(), names) : source.ToString();
}

std::vector<std::string> TextsOf(const symbolic::Proof& proof,
                                 const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  for (const symbolic::KnownFact& fact : proof.reasons) {
    texts.push_back(WithNames(fact.text, names));
  }
  return texts;
}

std::string NameOf(const Node& node) {
  return node.results.empty() ? node.op : absl::StrCat("%", node.results[0]->name);
}

// The condition that a node without results states, if that is what it does.
std::optional<Expr> StatedCondition(const Node& node) {
  if (!node.results.empty() || node.arguments.empty()) return std::nullopt;
  const Argument& first = node.arguments[0];
  std::optional<Expr> e;
  if (first.kind() == Argument::Kind::kBool) e = Expr::Bool(first.boolean());
  if (first.kind() == Argument::Kind::kInt) e = first.expr();
  if (first.is_value() && first.value()->type.is_scalar()) e = first.value()->type.scalar().value;
  const bool states = e && e->type() == symbolic::ExprType::kBool && e->AsBool() != true;
  return states ? e : std::nullopt;
}

// Nodes that only state a condition: on sizes, or on what a tensor holds.
void CollectAssertions(const Graph& graph, std::vector<ConditionLine>& out,
                       std::vector<Expr>& conditions) {
  for (const Node* node : graph.nodes()) {
    for (const Argument& a : node->arguments) {
      if (a.kind() != Argument::Kind::kGraph) continue;
      std::vector<Expr> of_a_branch;
      CollectAssertions(*a.graph(), out, of_a_branch);
    }
    const std::optional<Expr> stated = StatedCondition(*node);
    const bool is_of_tensor =
        node->results.empty() && !node->arguments.empty() && node->arguments[0].is_value() &&
        node->arguments[0].value()->type.is_tensor() && absl::StrContains(node->op, "_assert");
    if (!stated && !is_of_tensor) continue;
    ConditionLine line;
    line.condition =
        stated ? symbolic::ToString(*stated) : absl::StrCat("%", node->arguments[0].value()->name);
    line.asker = symbolic::Asker{node->op, node->origin.source}.ToString();
    for (const Argument& a : node->arguments) {
      if (a.kind() == Argument::Kind::kString) line.message = a.string();
    }
    out.push_back(std::move(line));
    if (stated) conditions.push_back(*stated);
  }
}

// What the operators' type rules took for granted about sizes: a run checks it.
void CollectAssumptions(const Graph& graph, ShapeEnv& shapes, std::vector<ConditionLine>& out,
                        std::vector<Expr>& conditions) {
  for (const Node* node : graph.nodes()) {
    for (const Argument& a : node->arguments) {
      if (a.kind() != Argument::Kind::kGraph) continue;
      std::vector<Expr> of_a_branch;
      CollectAssumptions(*a.graph(), shapes, out, of_a_branch);
    }
  }
  for (const SizeAssumption& assumption : SizeAssumptions(graph, shapes)) {
    const Node& node = *assumption.node;
    out.push_back({symbolic::ToString(assumption.condition),
                   symbolic::Asker{NameOf(node), node.origin.source}.ToString(),
                   node.op,
                   {}});
    conditions.push_back(assumption.condition);
  }
}

// What was known before any condition, and all preconditions but one.
std::unique_ptr<ShapeEnv> WithoutPrecondition(const Program& program, const Expr& left_out) {
  const ShapeEnv& env = *program.shapes;
  auto others = std::make_unique<ShapeEnv>(program.context);
  for (const Expr& symbol : env.symbols()) {
    const symbolic::Source& source = env.source(symbol);
    Range range;
    if (source.kind == symbolic::Source::Kind::kInputSize) range.lower = 0;
    if (symbol.symbol_kind() == symbolic::SymbolKind::kUnbacked) {
      others->AddUnbacked(symbol.symbol_name(), source, range);
    } else {
      others->AddBacked(symbol.symbol_name(), source, env.hint(symbol), range);
    }
  }
  for (const symbolic::KnownFact& fact : env.history()) {
    const bool given = fact.origin == symbolic::Origin::kRange;
    if (given && fact.condition != left_out) others->AddFact(fact.condition).IgnoreError();
  }
  for (const Expr& condition : program.main->preconditions()) {
    if (condition != left_out) others->AddFact(condition).IgnoreError();
  }
  return others;
}

// The nodes whose type rules could not do without the precondition.
std::vector<std::string> NodesThatNeed(const Program& program, const Expr& condition) {
  std::vector<std::string> texts;
  const std::unique_ptr<ShapeEnv> others = WithoutPrecondition(program, condition);
  for (const SizeAssumption& needed : SizeAssumptions(*program.main, *others)) {
    if (texts.size() >= kMostNodesThatNeed) break;
    if (others->IsKnownTrue(needed.condition) || !program.shapes->IsKnownTrue(needed.condition)) {
      continue;
    }
    std::unique_ptr<ShapeEnv> with = WithoutPrecondition(program, condition);
    if (!with->AddFact(condition).ok() || !with->IsKnownTrue(needed.condition)) continue;
    const symbolic::Asker asker = {NameOf(*needed.node), needed.node->origin.source};
    texts.push_back(absl::StrCat(symbolic::ToString(needed.condition), ": ", needed.node->op,
                                 " needs it", asker.ToString()));
  }
  return texts;
}

// Who recorded the precondition, what the program says of it, and which nodes need it.
std::vector<ConditionLine> CollectPreconditions(const Program& program,
                                                const std::vector<std::string>& names,
                                                const std::vector<ConditionLine>& assertions) {
  const std::vector<symbolic::KnownFact> history = program.shapes->history();
  const std::vector<Expr>& conditions = program.main->preconditions();
  const size_t nodes = static_cast<size_t>(program.main->node_count());
  std::vector<ConditionLine> lines;
  for (const Expr& condition : conditions) {
    ConditionLine line;
    line.condition = symbolic::ToString(condition);
    for (const symbolic::KnownFact& fact : history) {
      if (fact.condition != condition) continue;
      absl::string_view text = fact.text;
      absl::ConsumePrefix(&text, absl::StrCat(line.condition, ": "));
      line.reasons.push_back(WithNames(text, names));
    }
    for (const ConditionLine& stated : assertions) {
      if (stated.condition != line.condition) continue;
      line.reasons.push_back(
          absl::StrCat("stated", stated.asker, stated.message.empty() ? "" : ": ", stated.message));
    }
    if (conditions.size() * nodes <= kMostNodesToAsk) {
      for (std::string& text : NodesThatNeed(program, condition)) {
        line.reasons.push_back(std::move(text));
      }
    }
    if (line.reasons.empty()) line.reasons.push_back("stated by the program");
    lines.push_back(std::move(line));
  }
  return lines;
}

// A size that is known to be one number is shown as that.
std::string KnownType(ValueType type, const ShapeEnv& shapes) {
  const auto known = [&](Expr& e) {
    if (e.type() != symbolic::ExprType::kInt || e.is_const()) return;
    const Range range = shapes.RangeOf(e);
    if (range.lower == range.upper) e = range.lower;
    const Expr simple = shapes.Simplify(e);
    if (simple.AsInt()) e = simple;
  };
  if (type.is_scalar()) {
    ScalarType scalar = type.scalar();
    known(scalar.value);
    type = scalar;
  } else if (type.is_tensor()) {
    TensorType tensor = type.tensor();
    for (Expr& e : tensor.sizes) known(e);
    for (Expr& e : tensor.strides) known(e);
    known(tensor.offset);
    type = tensor;
  }
  return ToString(type);
}

std::string OutputText(const Argument& output, const ShapeEnv& shapes) {
  switch (output.kind()) {
    case Argument::Kind::kValue:
      return KnownType(output.value()->type, shapes);
    case Argument::Kind::kInt:
      return KnownType(ScalarType{output.expr().type(), output.expr()}, shapes);
    case Argument::Kind::kBool:
      return output.boolean() ? "bool(true)" : "bool(false)";
    case Argument::Kind::kScalar:
      return absl::StrCat(output.number().is_float() ? "float(" : "int(",
                          output.number().ToString(), ")");
    case Argument::Kind::kString:
      return absl::StrCat("the text \"", output.string(), "\"");
    case Argument::Kind::kNone:
      return "none";
    default:
      return "a constant";
  }
}

Shapes Collect(const Program& program) {
  Shapes s;
  ShapeEnv& env = *program.shapes;
  const std::vector<std::string> names = InputNames(program);
  for (const symbolic::ConstantSymbol& c : symbolic::ExplainConstants(env)) {
    s.constants.push_back({absl::StrCat(symbolic::ToString(c.symbol), " == ", c.value), "", "",
                           TextsOf(c.proof, names)});
  }
  for (const symbolic::Guard& g : env.guards()) {
    s.guards.push_back({symbolic::ToString(g.condition), g.asker.ToString(), "",
                        TextsOf(symbolic::ExplainGuard(env, g), names)});
  }
  for (const symbolic::Assertion& a : env.assertions()) {
    s.assertions.push_back({symbolic::ToString(a.condition), a.asker.ToString(), a.message, {}});
  }
  std::vector<Expr> checked;
  CollectAssertions(*program.main, s.assertions, checked);
  CollectAssumptions(*program.main, env, s.assumptions, checked);
  s.preconditions = CollectPreconditions(program, names, s.assertions);
  // A call that does not end in an error meets these, so they narrow what the symbols can be.
  for (const Expr& condition : checked) env.AddFact(condition).IgnoreError();
  for (const Expr& symbol : env.symbols()) {
    s.symbols.push_back({symbolic::ToString(symbol), SourceOf(program, symbol, names),
                         env.RangeOf(symbol), env.hint(symbol), env.KnownDivisor(symbol)});
  }
  for (const UserInput& input : UserInputsOf(program)) {
    s.inputs.push_back({input.name, ToString(input.type)});
  }
  for (const Program::FixedInput& input : program.fixed_inputs) {
    s.fixed.push_back({input.name, input.value});
  }
  for (size_t k = 0; k < program.main->outputs().size(); ++k) {
    s.outputs.push_back({absl::StrCat(k), OutputText(program.main->outputs()[k], env)});
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

std::string TypesJson(const std::vector<std::pair<std::string, std::string>>& types,
                      absl::string_view word = "type") {
  std::vector<std::string> items;
  for (const auto& [name, type] : types) {
    items.push_back(JsonObject().Add("name", name).Add(word, type).Text());
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
  AppendConditions("where", s.preconditions, text);
  AppendConditions("constant", s.constants, text);
  AppendConditions("guard", s.guards, text);
  AppendConditions("assert", s.assertions, text);
  AppendConditions("assume", s.assumptions, text);
  for (const auto& [name, type] : s.inputs) {
    absl::StrAppend(&text, "input ", name, ": ", type, "\n");
  }
  for (const auto& [name, value] : s.fixed) {
    absl::StrAppend(&text, "input ", name, ": fixed at ", value, "\n");
  }
  for (const auto& [name, type] : s.outputs) {
    absl::StrAppend(&text, "output ", name, ": ", type, "\n");
  }
  for (const std::string& note : program.notes) absl::StrAppend(&text, "note: ", note, "\n");
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
      .AddRaw("preconditions", ConditionsJson(s.preconditions))
      .AddRaw("constants", ConditionsJson(s.constants))
      .AddRaw("guards", ConditionsJson(s.guards))
      .AddRaw("assertions", ConditionsJson(s.assertions))
      .AddRaw("assumptions", ConditionsJson(s.assumptions))
      .AddRaw("inputs", TypesJson(s.inputs))
      .AddRaw("fixed_inputs", TypesJson(s.fixed, "value"))
      .AddRaw("outputs", TypesJson(s.outputs))
      .AddRaw("notes", StringsJson(program.notes))
      .Text();
}

}  // namespace lathe::driver
