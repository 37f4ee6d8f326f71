// What the schema can say, in small programs written as torch.export writes them, and what lathe
// makes of it, as text.

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "capture/pt2/load_pt2.h"
#include "capture/pt2/program_writer.h"
#include "capture/pt2/read_program.h"
#include "gtest/gtest.h"
#include "ir/graph/verifier.h"
#include "ir/text/printer.h"

namespace lathe::pt2 {
namespace {

absl::StatusOr<Program> Import(const ProgramWriter& writer) {
  absl::StatusOr<Program> program = ReadProgram("p", writer.Json(), {});
  if (program.ok()) {
    EXPECT_TRUE(Verify(*program).ok()) << Verify(*program);
  }
  return program;
}

std::string Error(const ProgramWriter& writer) {
  absl::StatusOr<Program> program = ReadProgram("p", writer.Json(), {});
  EXPECT_FALSE(program.ok());
  return std::string(program.status().message());
}

std::vector<std::string> Conditions(const absl::StatusOr<Program>& program) {
  EXPECT_TRUE(program.ok()) << program.status();
  std::vector<std::string> texts;
  if (!program.ok()) return texts;
  for (const Expr& e : program->main->preconditions()) texts.push_back(symbolic::ToString(e));
  return texts;
}

constexpr char kN[] = R"({"as_sym_int": {"as_name": "n"}})";

void AddNumberInput(ProgramWriter& writer, const std::string& name, const std::string& expression) {
  writer.Number("sym_int_values", name, Size("Symbol('" + expression + "', integer=True)"));
  const std::string argument = "{\"as_sym_int\": {\"as_name\": \"" + name + "\"}}";
  writer.Input(argument, "{\"user_input\": {\"arg\": " + argument + "}}");
}

// The call my.op(ARGUMENT) as lathe prints it; or the error.
std::string ImportArgument(const std::string& argument) {
  ProgramWriter p;
  p.Input("x", F32({"s0", "4"}));
  AddNumberInput(p, "n", "s1");
  p.Number("sym_bool_values", "b", Size("Symbol('s1') < 4"));
  p.NodeWithOutputs("_operator.lt", {{"a", kN}, {"b", R"({"as_int": 4})"}},
                    R"({"as_sym_bool": {"as_name": "b"}})");
  p.Number("sym_float_values", "f", Size("ToFloat(Symbol('s1'))"));
  p.NodeWithOutputs("torch.sym_float", {{"a", kN}}, R"({"as_sym_float": {"as_name": "f"}})");
  p.Node("torch.ops.my.op.default", {{"", argument}}, {{"y", F32({"4"})}});
  p.Output(Named("y"));
  absl::StatusOr<Program> program = Import(p);
  if (!program.ok()) return std::string(program.status().message());
  std::string text = PrintNode(*program->main->last());
  const size_t open = text.find('('), close = text.rfind(") : ");
  return text.substr(open + 1, close - open - 1);
}

TEST(Import, EveryFormOfArgument) {
  const struct {
    const char *json, *text;
  } cases[] = {
      {R"({"as_none": true})", "none"},
      {R"({"as_int": -3})", "-3"},
      {R"({"as_int": 9223372036854775807})", "9223372036854775807"},
      {R"({"as_ints": [1, -2]})", "[1, -2]"},
      {R"({"as_int_lists": [[1], [2, 3], []]})", "[[1], [2, 3], []]"},
      {R"({"as_float": 0.5})", "0.5"},
      {R"({"as_float": 3})", "3.0"},
      {R"({"as_float": "Infinity"})", "inf"},
      {R"({"as_floats": [1.0, "NaN", "-Infinity"]})", "[1.0, nan, -inf]"},
      {R"({"as_bool": true})", "true"},
      {R"({"as_bools": [true, false]})", "[true, false]"},
      {R"({"as_string": "a\"b\n"})", R"("a\"b\n")"},
      {R"({"as_strings": ["sum", ""]})", R"(["sum", ""])"},
      {R"({"as_complex": {"real": 1.0, "imag": -2.0}})", "1-2j"},
      {R"({"as_scalar_type": 13})", "bf16"},
      {R"({"as_memory_format": 2})", "channels_last"},
      {R"({"as_layout": 7})", "strided"},
      {R"({"as_device": {"type": "cpu", "index": null}})", "cpu"},
      {R"({"as_device": {"type": "cuda", "index": 1}})", "cuda:1"},
      {R"({"as_tensor": {"name": "x"}})", "%x"},
      {R"({"as_tensors": [{"name": "x"}, {"name": "x"}]})", "[%x, %x]"},
      {R"({"as_tensors": []})", "[]"},
      {R"({"as_nested_tensors": [[{"name": "x"}], []]})", "[[%x], []]"},
      {R"({"as_optional_tensor": {"as_none": true}})", "none"},
      {R"({"as_optional_tensor": {"as_tensor": {"name": "x"}}})", "%x"},
      {R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x"}}]})",
       "[none, %x]"},
      {R"({"as_sym_int": {"as_name": "n"}})", "s1"},
      {R"({"as_sym_int": {"as_int": 4}})", "4"},
      {R"({"as_sym_ints": [{"as_name": "n"}, {"as_int": 4}]})", "[s1, 4]"},
      {R"({"as_sym_float": {"as_name": "f"}})", "float(s1)"},
      {R"({"as_sym_float": {"as_float": 0.25}})", "0.25"},
      {R"({"as_sym_floats": [{"as_float": 0.25}, {"as_name": "f"}]})", "[0.25, float(s1)]"},
      {R"({"as_sym_bool": {"as_name": "b"}})", "s1 <= 3"},
      {R"({"as_sym_bool": {"as_bool": false}})", "false"},
      {R"({"as_sym_bools": [{"as_bool": true}, {"as_name": "b"}]})", "[true, s1 <= 3]"},
      {R"({"as_operator": "torch.ops.aten.relu.default"})", R"("aten.relu")"},
      {R"({"as_string_to_argument": {"k": {"as_int": 1}}})", R"([["k", 1]])"},
  };
  for (const auto& c : cases) EXPECT_EQ(ImportArgument(c.json), c.text) << c.json;
}

TEST(Import, FormsThatAreRefusedByPath) {
  const struct {
    const char *json, *phrase;
  } cases[] = {
      {R"({"as_int": 9223372036854775808})", "as_int: expected an integer of 64 bits"},
      {R"({"as_int": -9223372036854775809})", "as_int: expected an integer of 64 bits"},
      {R"({"as_int": true})", "as_int: expected an integer"},
      {R"({"as_bool": 1})", "as_bool: expected true or false"},
      {R"({"as_float": "1"})", "as_float: expected a number"},
      {R"({"as_ints": 3})", "as_ints: expected an array"},
      {R"({"as_ints": [1, null]})", "as_ints[1]: expected an integer"},
      {R"({"as_tensor": {"name": "z"}})", "as_tensor: 'z' is not defined before its use"},
      {R"({"as_tensor": {"name": "y"}})", "as_tensor: 'y' is not defined before its use"},
      {R"({"as_tensor": {"name": "x", "kind": 2}})", "as_tensor.kind: lathe does not know"},
      {R"({"as_tensor": {}})", "as_tensor: the field 'name' is missing"},
      {R"({"as_sym_int": {"as_name": "m"}})", "as_name: 'm' is not defined before its use"},
      {R"({"as_sym_int": {"as_name": "n", "as_int": 1}})", "expected exactly one member, got 2"},
      {R"({"as_optional_tensor": {"as_int": 1}})", "unknown kind of optional tensor"},
      {R"({"as_scalar_type": 99})", "unknown dtype number 99"},
      {R"({"as_layout": 3})", "layout number 3 is not supported"},
      {R"({"as_memory_format": 0})", "memory format number 0 is not supported"},
      {R"({"as_device": {"type": "xpu"}})", "the device 'xpu' is not supported"},
      {R"({"as_device": {"type": "cuda", "index": 999}})", "there is no cuda device 999"},
      {R"({"as_custom_obj": {"name": "o", "class_fqn": "C"}})",
       "as_custom_obj: this kind of argument is not supported"},
      {R"({"as_int": 1, "as_bool": true})", "expected exactly one member, got 2"},
      {R"({})", "expected exactly one member, got 0"},
      {R"([])", "expected an object"},
  };
  for (const auto& c : cases) {
    const std::string message = ImportArgument(c.json);
    EXPECT_TRUE(absl::StrContains(message, c.phrase)) << c.json << ": " << message;
    EXPECT_TRUE(absl::StartsWith(message, "p: graph_module.graph.nodes[2].inputs[0].arg"))
        << message;
  }
}

TEST(Import, NumbersAsInputs) {
  ProgramWriter p;
  AddNumberInput(p, "n", "s1");
  p.Input(R"({"as_int": 3})", R"({"constant_input": {"name": "k", "value": {"as_int": 3}}})");
  p.Input(R"({"as_none": true})", R"({"user_input": {"arg": {"as_none": true}}})");
  p.Input(R"({"as_string": "sum"})",
          R"({"constant_input": {"name": "mode", "value": {"as_string": "sum"}}})");
  p.Input("x", F32({"s0"}));
  p.Number("sym_int_values", "mul", Size("Mul(Integer(2), Symbol('s1', integer=True))"));
  p.NodeWithOutputs("_operator.mul", {{"a", kN}, {"b", R"({"as_int": 2})"}},
                    R"({"as_sym_int": {"as_name": "mul"}})");
  p.Node("torch.ops.aten.full.default",
         {{"size", R"({"as_sym_ints": [{"as_name": "mul"}]})"}, {"fill_value", R"({"as_int": 1})"}},
         {{"full", {{"Mul(Integer(2), Symbol('s1', integer=True))"}, {"1"}}}});
  p.Output(Named("full"));
  p.Output(R"({"as_sym_int": {"as_name": "mul"}})");
  p.Output(R"({"as_none": true})");
  p.Output(R"({"as_int": 7})");
  p.Output(R"({"as_bool": true})");
  absl::StatusOr<Program> program = Import(p);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->user_input_names, (std::vector<std::string>{"n", "x"}));
  EXPECT_EQ(PrintGraph(*program->main),
            "graph @main(%n: int(s1), %x: f32[s0]) {\n"
            "  %mul = operator.mul(a=s1, b=2) : int(2*s1)\n"
            "  %full = aten.full(size=[2*s1], fill_value=1) : f32[2*s1]\n"
            "  return %full, (2*s1), none, 7, true\n"
            "}\n");
}

TEST(Import, FloatsKnownOnlyAtRunTimeAreNotSupported) {
  ProgramWriter p;
  p.Number("sym_float_values", "f", Size("Symbol('zf0')"));
  const std::string argument = R"({"as_sym_float": {"as_name": "f"}})";
  p.Input(argument, "{\"user_input\": {\"arg\": " + argument + "}}");
  p.Output(R"({"as_none": true})");
  EXPECT_TRUE(absl::StrContains(Error(p), "the float symbol zf0")) << Error(p);
}

TEST(Import, TokensCarryNothing) {
  ProgramWriter p;
  p.Input(R"({"as_tensor": {"name": "token"}})", R"({"token": {"arg": {"name": "token"}}})");
  p.Input("x", F32({"4"}));
  p.Output(Named("token"), R"({"token": {"arg": {"name": "token"}}})");
  p.Output(Named("x"));
  absl::StatusOr<Program> program = Import(p);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->main->inputs().size(), 1);
  EXPECT_EQ(program->main->outputs().size(), 1);
}

// A bool that is read out of a tensor is 0 or 1, and what uses it a condition on that.
TEST(Import, BoolsOutOfTensors) {
  ProgramWriter p;
  p.Input("x", F32({"4"}));
  p.Number("sym_bool_values", "item", Size("Equality(Symbol('u0', integer=True), Integer(1))"));
  p.NodeWithOutputs("torch.ops.aten.item.default", {{"self", Named("x")}},
                    R"({"as_sym_bool": {"as_name": "item"}})");
  p.Number("sym_bool_values", "other", Size("Equality(Symbol('u0', integer=True), Integer(1))"));
  p.NodeWithOutputs("_operator.eq",
                    {{"a", R"({"as_sym_bool": {"as_name": "item"}})"}, {"b", R"({"as_int": 1})"}},
                    R"({"as_sym_bool": {"as_name": "other"}})");
  p.Output(R"({"as_sym_bool": {"as_name": "item"}})");
  absl::StatusOr<Program> program = Import(p);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(ToString(program->main->first()->results[0]->type), "int(u0)");
  EXPECT_EQ(ToString(program->main->last()->results[0]->type), "bool(u0 == 1)");
  EXPECT_EQ(symbolic::ToString(program->main->outputs()[0].expr()), "u0 == 1");
}

// --- What the caller must meet ---

ProgramWriter OneInput() {
  ProgramWriter p;
  p.Input("x", F32({"s0", "4"}));
  p.Output(Named("x"));
  return p;
}

TEST(Import, Ranges) {
  const struct {
    const char* range;
    std::vector<std::string> conditions;
  } cases[] = {
      // What tracing records where nobody asked for a bound.
      {R"({"min_val": 2, "max_val": null})", {}},
      {R"({"min_val": 2, "max_val": 60})", {"s0 <= 60"}},
      {R"({"min_val": 0, "max_val": 9223372036854775806})", {}},
      {R"({"min_val": 1, "max_val": 64})", {"1 <= s0", "s0 <= 64"}},
      {R"({"min_val": 3, "max_val": null})", {"3 <= s0"}},
      {R"({"min_val": -5, "max_val": null})", {}},
      {R"({"min_val": null, "max_val": null})", {}},
      {R"({"min_val": 2.5, "max_val": 9.5})", {"3 <= s0", "s0 <= 9"}},
      {R"({"min_val": "-Infinity", "max_val": "Infinity"})", {}},
  };
  for (const auto& c : cases) {
    ProgramWriter p = OneInput();
    p.Range("s0", c.range);
    EXPECT_EQ(Conditions(Import(p)), c.conditions) << c.range;
  }
  ProgramWriter empty = OneInput(), unknown = OneInput();
  empty.Range("s0", R"({"min_val": 7, "max_val": 3})");
  EXPECT_EQ(Error(empty), "p: range_constraints.s0: the range of s0 is empty");
  unknown.Range("s0", R"({"min_val": 7, "step": 3})");
  EXPECT_EQ(Error(unknown), "p: range_constraints.s0.step: lathe does not know this field");
  // A size is never negative, whatever the file leaves open.
  ProgramWriter open = OneInput();
  open.Range("s0", R"({"min_val": null, "max_val": null})");
  absl::StatusOr<Program> program = Import(open);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->shapes->RangeOf(program->shapes->symbols()[0]).lower, 0);
}

TEST(Import, RangesOfExpressions) {
  ProgramWriter p = OneInput();
  p.Range("2*s0 + 1", R"({"min_val": 501, "max_val": 600})");
  p.Range("s0 + u3", R"({"min_val": 5, "max_val": null})");
  absl::StatusOr<Program> program = Import(p);
  EXPECT_EQ(Conditions(program), (std::vector<std::string>{"250 <= s0", "s0 <= 299"}));
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->notes,
            std::vector<std::string>{"range_constraints: the range of s0 + u3 is left out: not all "
                                     "of it comes from inputs"});
  ProgramWriter broken = OneInput();
  broken.Range("2*s0 +", R"({"min_val": 5, "max_val": null})");
  EXPECT_TRUE(absl::StrContains(Error(broken), "column 7: expected an expression"))
      << Error(broken);
}

// A guard that leaves few values says so in the range.
TEST(Import, GuardsNarrowRanges) {
  const struct {
    const char* guard;
    int64_t lower, upper;
  } cases[] = {
      {"abs(L['x'].size()[0]) == 4", 4, 4},
      {"math.trunc(0.5*float(L['x'].size()[0])) == 2", 4, 5},
      {"(L['x'].size()[0] - 5)*(L['x'].size()[0] - 5) <= 4", 3, 7},
  };
  for (const auto& c : cases) {
    ProgramWriter p = OneInput();
    p.Range("s0", R"({"min_val": 0, "max_val": 100})");
    p.Guard(c.guard);
    absl::StatusOr<Program> program = Import(p);
    ASSERT_TRUE(program.ok()) << c.guard << ": " << program.status();
    const symbolic::Range range = program->shapes->RangeOf(program->shapes->symbols()[0]);
    EXPECT_EQ(range.lower, c.lower) << c.guard;
    EXPECT_EQ(range.upper, c.upper) << c.guard;
  }
}

constexpr char kLeaf[] = R"({"type": null, "context": null, "children_spec": []})";

std::string Container(const std::string& type, const std::string& context,
                      const std::string& children) {
  return "{\"type\": \"" + type + "\", \"context\": \"" + context + "\", \"children_spec\": [" +
         children + "]}";
}

// f(x, (y, [z]), {"k": w, 3: v}, Point(a, b), k=3, *, m): every tensor has one size of its own.
ProgramWriter NestedInputs() {
  ProgramWriter p;
  int k = 0;
  for (const char* name : {"x", "y", "z", "w", "v", "a", "b"}) {
    p.Input(name, F32({"s" + std::to_string(k++)}));
  }
  p.Input(R"({"as_int": 3})", R"({"constant_input": {"name": "k", "value": {"as_int": 3}}})");
  AddNumberInput(p, "m", "s7");
  const std::string leaf = kLeaf;
  p.Call(
      "[1, " +
          Container(
              "builtins.tuple", "null",
              Container(
                  "builtins.tuple", "null",
                  leaf + ", " +
                      Container("builtins.tuple", "null",
                                leaf + ", " + Container("builtins.list", "null", leaf)) +
                      ", " + Container("builtins.dict", R"([\"k\", 3])", leaf + ", " + leaf) +
                      ", " +
                      Container("collections.namedtuple", R"(\"pkg.Point\")", leaf + ", " + leaf) +
                      ", " + leaf) +
                  ", " + Container("builtins.dict", R"([\"m\"])", leaf)) +
          "]",
      R"("x", "ys", "d", "p", "k", "m")");
  p.NamedtupleFields(R"("pkg.Point": {"field_names": ["first", "second"]})");
  p.Output(Named("x"));
  return p;
}

TEST(Import, GuardsOverNestedArguments) {
  const struct {
    const char *guard, *condition;
  } cases[] = {
      {"L['x'].size()[0] == 3", "s0 == 3"},
      {"L['ys'][0].size()[0] == L['x'].size()[0]", "s0 == s1"},
      {"L['ys'][1][0].size()[0] % 2 == 0", "s2 % 2 == 0"},
      {"L['d']['k'].size()[0] <= 5", "s3 <= 5"},
      {"L['d'][3].size()[0] <= 5", "s4 <= 5"},
      {"L['p'].first.size()[0] <= 5", "s5 <= 5"},
      {"L['p'][1].size()[0] <= 5", "s6 <= 5"},
      {"L['m'] + L['x'].size()[0] >= 9", "9 <= s0 + s7"},
      {"L['flat_args'][2].size()[0] != 4", "s2 != 4"},
      {"L['z'].size()[0] != 4", "s2 != 4"},  // as the graph calls it
      {"L['x'].size()[0] == L['k'] + 1", "s0 == 4"},
      {"L['x'].stride()[0] == 1", ""},
      {"L['k'] == 3", ""},
      {"L['x'].storage_offset() == 0", ""},
  };
  for (const auto& c : cases) {
    ProgramWriter p = NestedInputs();
    p.Guard(c.guard);
    std::vector<std::string> expected;
    if (c.condition[0] != '\0') expected.push_back(c.condition);
    EXPECT_EQ(Conditions(Import(p)), expected) << c.guard;
  }
}

// The base of a view is no part of the call, so nothing can check it; the program says so.
TEST(Import, GuardsBesideTheInputsAreLeftOut) {
  ProgramWriter p = NestedInputs();
  p.Guard("L['x']._base.size()[1] != 5");
  p.Guard("L['x'].size()[0] <= 8");
  absl::StatusOr<Program> program = Import(p);
  EXPECT_EQ(Conditions(program), std::vector<std::string>{"s0 <= 8"});
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(program->notes,
            std::vector<std::string>{"guards_code[0] is left out: L['x']._base.size()[1] is no "
                                     "input of the call (L['x']._base.size()[1] != 5)"});
}

// A precondition names the guard that torch.export recorded it as.
TEST(Import, PreconditionsNameTheirGuards) {
  ProgramWriter p = NestedInputs();
  p.Guard("L['x'].size()[0] <= 8");
  absl::StatusOr<Program> program = Import(p);
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<symbolic::KnownFact> history = program->shapes->history();
  const auto guard = std::find_if(history.begin(), history.end(), [](const auto& fact) {
    return fact.origin == symbolic::Origin::kPrecondition;
  });
  ASSERT_TRUE(guard != history.end());
  EXPECT_EQ(guard->text,
            "s0 <= 8: precondition (asked by torch.export at guards_code[0], "
            "L['x'].size()[0] <= 8)");
}

TEST(Import, ConstantArgumentsKeepNameAndValue) {
  absl::StatusOr<Program> program = Import(NestedInputs());
  ASSERT_TRUE(program.ok()) << program.status();
  ASSERT_EQ(program->fixed_inputs.size(), 1);
  EXPECT_EQ(program->fixed_inputs[0].name, "k");
  EXPECT_EQ(program->fixed_inputs[0].value, "3");
}

TEST(Import, GuardsThatAreRefused) {
  const struct {
    const char *guard, *phrase;
  } cases[] = {
      {"L['q'].size()[0] == 3", "the source L['q'].size()[0] names no input"},
      {"L['x'].size()[1] == 3", "there is no dimension 1 of L['x']"},
      {"L['x'] == 3", "the source L['x'] is not a number"},
      {"L['k'] == 4", "no input can meet the guard L['k'] == 4"},
      {"L['x'].size()[0] + 1", "the guard is not a condition"},
      {"L['x'].size()[0] ==", "guards_code[0]"},
      {"__import__('os')", "guards_code[0]"},
  };
  for (const auto& c : cases) {
    ProgramWriter p = NestedInputs();
    p.Guard(c.guard);
    EXPECT_TRUE(absl::StrContains(Error(p), c.phrase)) << c.guard << ": " << Error(p);
  }
  ProgramWriter contradiction = OneInput();
  contradiction.Range("s0", R"({"min_val": 5, "max_val": 9})");
  contradiction.Guard("L['x'].size()[0] == 4");
  EXPECT_TRUE(absl::StrContains(Error(contradiction), "no input can meet")) << Error(contradiction);
}

// --- Signature ---

TEST(Import, MutationsNameTheirInputs) {
  ProgramWriter p;
  p.Input("x", F32({"4"}));
  p.Input("y", F32({"4"}));
  p.Node("torch.ops.aten.add.Tensor", {{"self", Named("x")}, {"other", Named("y")}},
         {{"add", F32({"4"})}});
  p.Mutation("user_input_mutation", "add", "user_input_name", "y");
  p.Output(Named("x"));
  absl::StatusOr<Program> program = Import(p);
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_TRUE(absl::StrContains(PrintGraph(*program->main), "return mutates %y = %add, %x"))
      << PrintGraph(*program->main);
}

TEST(Import, MutationsThatDoNotFit) {
  const struct {
    const char *value, *target, *phrase;
  } cases[] = {
      {"add", "z", "no input is 'z'"},
      {"add", "add", "no input is 'add'"},
      {"none", "y", "'none' is not defined"},
      {"wide", "y", "the input is f32[4], what is written back f32[s0]"},
      {"i", "y", "the input is f32[4], what is written back i32[4]"},
  };
  for (const auto& c : cases) {
    ProgramWriter p;
    p.Input("y", F32({"4"}));
    p.Input("wide", F32({"s0"}));
    p.Input("i", F32({"4"}, /*dtype=*/4));
    p.Node("torch.ops.aten.neg.default", {{"self", Named("y")}}, {{"add", F32({"4"})}});
    p.Mutation("user_input_mutation", c.value, "user_input_name", c.target);
    EXPECT_TRUE(absl::StrContains(Error(p), c.phrase)) << Error(p);
  }
  ProgramWriter twice;
  twice.Input("y", F32({"4"}));
  twice.Mutation("user_input_mutation", "y", "user_input_name", "y");
  twice.Mutation("user_input_mutation", "y", "user_input_name", "y");
  EXPECT_TRUE(absl::StrContains(Error(twice), "written back twice")) << Error(twice);
}

TEST(Import, SignaturesThatDoNotFit) {
  ProgramWriter object = OneInput();
  object.Input(
      R"({"as_custom_obj": {"name": "o", "class_fqn": "C"}})",
      R"({"custom_obj": {"arg": {"name": "o", "class_fqn": "C"}, "custom_obj_name": "q"}})");
  EXPECT_TRUE(absl::StrContains(Error(object), "the custom object 'q'")) << Error(object);
  ProgramWriter kind = OneInput();
  kind.Input(Named("x"), R"({"new_kind": {}})");
  EXPECT_EQ(Error(kind),
            "p: graph_module.signature.input_specs[1].new_kind: unknown kind of input");
  ProgramWriter twice = OneInput();
  twice.Input("x", F32({"4"}));
  EXPECT_FALSE(Error(twice).empty());
  ProgramWriter weight = OneInput();
  weight.Weight("parameter", "w", "fc.w", F32({"4"}));
  EXPECT_EQ(Error(weight),
            "p: graph_module.signature.input_specs[1].parameter: the archive holds no data for "
            "'fc.w'");
  ProgramWriter negative;
  negative.Input("x", F32({"-4"}));
  EXPECT_TRUE(absl::StrContains(Error(negative), "sizes[0]: a size is negative"))
      << Error(negative);
  ProgramWriter huge;
  huge.Input("x", {{"9223372036854775808"}, {"1"}});
  EXPECT_TRUE(absl::StrContains(Error(huge), "expected an integer of 64 bits")) << Error(huge);
  ProgramWriter nowhere = OneInput();
  nowhere.Node("torch.ops.aten.relu.default", {{"self", Named("x")}}, {{"y", F32({"s5"})}});
  EXPECT_TRUE(
      absl::StrContains(Error(nowhere), "the symbol s5 in the type of y occurs in no input"))
      << Error(nowhere);
}

TEST(Import, SchemaDefaultsAreFilledIn) {
  ProgramWriter p;
  p.Input("x", F32({"4", "4"}));
  p.Node("torch.ops.aten.add.Tensor", {{"self", Named("x")}, {"other", Named("x")}},
         {{"add", F32({"4", "4"})}});
  p.Node("torch.ops.aten.sum.dim_IntList", {{"self", Named("add")}, {"dim", R"({"as_ints": [0]})"}},
         {{"sum", F32({"4"})}});
  p.Node("torch.ops.aten.gelu.default", {{"self", Named("sum")}}, {{"gelu", F32({"4"})}});
  p.Output(Named("gelu"));
  absl::StatusOr<Program> program = LoadPt2Bytes(p.Archive({}), OpRegistry::Builtin());
  ASSERT_TRUE(program.ok()) << program.status();
  const std::vector<Node*> nodes = program->main->nodes();
  ASSERT_EQ(nodes[0]->arguments.size(), 3);  // alpha
  EXPECT_EQ(nodes[0]->arguments[2].number().ToInt(), 1);
  ASSERT_EQ(nodes[1]->arguments.size(), 4);  // keepdim, dtype
  EXPECT_EQ(nodes[1]->arguments[2], Argument::Bool(false));
  EXPECT_TRUE(nodes[1]->arguments[3].is_none());
  EXPECT_EQ(nodes[2]->arguments[1], Argument::String("none"));
}

TEST(Import, AllUnknownOperatorsAtOnce) {
  ProgramWriter p = OneInput();
  p.Node("torch.ops.my.first.default", {{"self", Named("x")}}, {{"a", F32({"4"})}});
  p.Node("#your:second", {{"self", Named("x")}}, {{"b", F32({"4"})}});
  p.Node("torch.ops.my.first.default", {{"self", Named("x")}}, {{"c", F32({"4"})}});
  absl::Status status = LoadPt2Bytes(p.Archive({}), OpRegistry::Builtin()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  const std::string message(status.message());
  EXPECT_TRUE(absl::StrContains(message, "my.first")) << message;
  EXPECT_TRUE(absl::StrContains(message, "#your:second")) << message;
}

TEST(Import, WeightsOfOneRecordShareItsStorage) {
  ProgramWriter p;
  p.Weight("parameter", "w", "w", F32({"2"}));
  p.Weight("buffer", "v", "v", F32({"2"}));
  p.Output(Named("w"));
  const float values[] = {1, 2, 3, 4};
  const std::string bytes(reinterpret_cast<const char*>(values), sizeof(values));
  Meta second = F32({"2"});
  second.strides = {"2"};
  second.offset = "1";
  const std::vector<ProgramWriter::Stored> stored = {{"w", "weight_0", F32({"2"}), bytes},
                                                     {"v", "weight_0", second, ""}};
  absl::StatusOr<Program> program = ReadPt2Bytes(p.Archive(stored));
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(program->weights.at("w").storage(), program->weights.at("v").storage());
  EXPECT_EQ(program->weights.at("v").AtLinear(1).ToDouble(), 4);
  EXPECT_TRUE(absl::StrContains(PrintGraph(*program->main), "%v: f32[2]{2}+1 = buffer(\"v\")"))
      << PrintGraph(*program->main);

  // Places outside the record.
  for (const auto& [sizes, strides, offset] : {std::tuple("3", "2", "0"),
                                               {"2", "2", "2"},
                                               {"2", "9223372036854775807", "1"},
                                               {"4611686018427387904", "1", "0"},
                                               {"2", "1", "9223372036854775807"}}) {
    Meta outside{{sizes}, {strides}, 7, offset};
    absl::Status status = ReadPt2Bytes(p.Archive({{"w", "weight_0", F32({"2"}), bytes},
                                                  {"v", "weight_0", outside, ""}}))
                              .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  }
  Meta negative{{"2"}, {"-1"}, 7, "1"};
  EXPECT_FALSE(ReadPt2Bytes(p.Archive({{"w", "weight_0", F32({"2"}), bytes},
                                       {"v", "weight_0", negative, ""}}))
                   .ok());
}

}  // namespace
}  // namespace lathe::pt2
