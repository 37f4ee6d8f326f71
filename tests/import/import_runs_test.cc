// Small exported programs from archive to results, on the tile tier and by the reference: what is
// mutated is written back, what is shared stays shared, what is wrong is refused by name.

#include <cstring>

#include "absl/strings/match.h"
#include "capture/pt2/load_pt2.h"
#include "capture/pt2/program_writer.h"
#include "compiler.h"
#include "gtest/gtest.h"
#include "tests/import/floats.h"

namespace lathe {
namespace {

using pt2::F32;
using pt2::Meta;
using pt2::Named;
using pt2::ProgramWriter;
using Stored = ProgramWriter::Stored;

std::string Bytes(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

class ImportRuns : public testing::TestWithParam<Tier> {
 protected:
  // A fresh program of the archive, so that tiers do not see each other's writes.
  void Load(const ProgramWriter& writer, const std::vector<Stored>& weights = {}) {
    absl::StatusOr<Program> program = LoadPt2Bytes(writer.Archive(weights), OpRegistry::Builtin());
    ASSERT_TRUE(program.ok()) << program.status();
    program_ = *std::move(program);
    absl::StatusOr<Executable> executable = Compile(program_, {.tier = GetParam(), .threads = 1});
    ASSERT_TRUE(executable.ok()) << executable.status();
    executable_.emplace(*std::move(executable));
  }
  std::vector<RunValue> Run(const std::vector<RunValue>& inputs) {
    absl::StatusOr<std::vector<RunValue>> outputs = executable_->Run(inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return outputs.ok() ? *outputs : std::vector<RunValue>(8);
  }
  std::string Refusal(const std::vector<RunValue>& inputs) {
    absl::Status status = executable_->Run(inputs).status();
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }

  Program program_ = NewProgram("none");
  std::optional<Executable> executable_;
};

INSTANTIATE_TEST_SUITE_P(Tiers, ImportRuns, testing::Values(Tier::kTile, Tier::kReference),
                         [](const auto& info) { return std::string(TierName(info.param)); });

// count += 1; weight *= 2; x = x + count; returns x's new value.
TEST_P(ImportRuns, MutationsAreWrittenBack) {
  ProgramWriter p;
  p.Weight("parameter", "w", "w", F32({"2"}));
  p.Weight("buffer", "count", "count", F32({"2"}));
  p.Input("x", F32({"2"}));
  const std::string one = R"({"as_int": 1})", two = R"({"as_int": 2})";
  p.Node("torch.ops.aten.add.Tensor", {{"self", Named("count")}, {"other", one}},
         {{"add", F32({"2"})}});
  p.Node("torch.ops.aten.mul.Tensor", {{"self", Named("w")}, {"other", two}},
         {{"mul", F32({"2"})}});
  p.Node("torch.ops.aten.add.Tensor", {{"self", Named("x")}, {"other", Named("add")}},
         {{"sum", F32({"2"})}});
  p.Mutation("buffer_mutation", "add", "buffer_name", "count");
  p.Mutation("parameter_mutation", "mul", "parameter_name", "w");
  p.Mutation("user_input_mutation", "sum", "user_input_name", "x");
  p.Output(Named("sum"));
  Load(p, {{"w", "weight_0", F32({"2"}), Bytes({3, 4})},
           {"count", "weight_1", F32({"2"}), Bytes({0, 10})}});
  if (HasFatalFailure()) return;
  Tensor x = Floats({2}, {0.5, 0.25});
  std::vector<RunValue> out = Run({x});
  ASSERT_EQ(out.size(), 1);
  EXPECT_EQ(ValuesOf(out[0]), (std::vector<float>{1.5, 11.25}));
  EXPECT_EQ(ValuesOf(x), (std::vector<float>{1.5, 11.25}));
  EXPECT_EQ(ValuesOf(program_.weights.at("count")), (std::vector<float>{1, 11}));
  EXPECT_EQ(ValuesOf(program_.weights.at("w")), (std::vector<float>{6, 8}));
  Run({x});
  EXPECT_EQ(ValuesOf(x), (std::vector<float>{3.5, 23.25}));
  EXPECT_EQ(ValuesOf(program_.weights.at("count")), (std::vector<float>{2, 12}));
}

// A buffer that is a view of another one's storage sees what is written there.
TEST_P(ImportRuns, SharedStoragesStayShared) {
  ProgramWriter p;
  p.Weight("buffer", "whole", "whole", F32({"4"}));
  p.Weight("buffer", "part", "part", F32({"2"}));
  p.Input("x", F32({"2"}));
  p.Node("torch.ops.aten.add.Tensor", {{"self", Named("x")}, {"other", Named("part")}},
         {{"sum", F32({"2"})}});
  p.Output(Named("sum"));
  Meta part = F32({"2"});
  part.offset = "2";
  Load(p, {{"whole", "weight_0", F32({"4"}), Bytes({1, 2, 3, 4})}, {"part", "weight_0", part, ""}});
  if (HasFatalFailure()) return;
  EXPECT_EQ(ValuesOf(Run({Floats({2}, {0, 0})})[0]), (std::vector<float>{3, 4}));
  program_.weights.at("whole").data_as<float>()[3] = 40;
  EXPECT_EQ(ValuesOf(Run({Floats({2}, {0, 0})})[0]), (std::vector<float>{3, 40}));
}

TEST_P(ImportRuns, OutputsOfEveryKind) {
  ProgramWriter p;
  p.Input("x", F32({"s0", "2"}));
  const std::string n = R"({"as_sym_int": {"as_name": "n"}})";
  p.Number("sym_int_values", "n", pt2::Size("s0"));
  p.NodeWithOutputs("torch.ops.aten.sym_size.int",
                    {{"self", Named("x")}, {"dim", R"({"as_int": 0})"}}, n);
  p.Node("torch.ops.aten.permute.default",
         {{"self", Named("x")}, {"dims", R"({"as_ints": [1, 0]})"}},
         {{"permute", Meta{{"2", "s0"}, {"1", "2"}}}});
  p.Output(Named("x"));
  p.Output(R"({"as_none": true})");
  p.Output(n);
  p.Output(R"({"as_int": 7})");
  p.Output(R"({"as_bool": true})");
  p.Output(R"({"as_float": 0.5})");
  p.Output(Named("permute"));
  Load(p);
  if (HasFatalFailure()) return;
  Tensor x = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
  std::vector<RunValue> out = Run({x});
  ASSERT_EQ(out.size(), 7);
  // Aliases of the input: one storage.
  EXPECT_EQ(std::get<Tensor>(out[0]).storage(), x.storage());
  EXPECT_EQ(std::get<Tensor>(out[6]).storage(), x.storage());
  EXPECT_EQ(ValuesOf(out[6]), (std::vector<float>{1, 3, 5, 2, 4, 6}));
  EXPECT_FALSE(std::get<Tensor>(out[1]).is_defined());
  EXPECT_EQ(std::get<Scalar>(out[2]).ToInt(), 3);
  EXPECT_EQ(std::get<Scalar>(out[3]).ToInt(), 7);
  EXPECT_TRUE(std::get<Scalar>(out[4]).ToBool());
  EXPECT_EQ(std::get<Scalar>(out[5]).ToDouble(), 0.5);
}

TEST_P(ImportRuns, ListsAndOptionalTensors) {
  ProgramWriter p;
  p.Input("x", F32({"2", "3"}));
  p.Input("i", F32({"2"}, /*dtype=*/5));
  p.NodeWithOutputs(
      "torch.ops.aten.split.Tensor",
      {{"self", Named("x")}, {"split_size", R"({"as_int": 2})"}, {"dim", R"({"as_int": 1})"}},
      R"({"as_tensors": [{"name": "a"}, {"name": "b"}]})");
  p.Tensor("a", Meta{{"2", "2"}, {"3", "1"}});
  Meta b{{"2", "1"}, {"3", "1"}};
  b.offset = "2";
  p.Tensor("b", b);
  p.Node("torch.ops.aten.cat.default",
         {{"tensors", R"({"as_tensors": [{"name": "b"}, {"name": "a"}]})"},
          {"dim", R"({"as_int": 1})"}},
         {{"cat", F32({"2", "3"})}});
  p.Node("torch.ops.aten.index.Tensor",
         {{"self", Named("cat")},
          {"indices",
           R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "i"}}]})"}},
         {{"index", F32({"2", "2"})}});
  p.Output(Named("index"));
  Load(p);
  if (HasFatalFailure()) return;
  const std::vector<int64_t> index = {2, 0};
  std::vector<RunValue> out = Run({Floats({2, 3}, {1, 2, 3, 4, 5, 6}),
                                   Tensor::FromSpan<int64_t>({2}, absl::MakeConstSpan(index))});
  EXPECT_EQ(ValuesOf(out[0]), (std::vector<float>{2, 3, 5, 6}));
}

// More results than the operator gives.
TEST_P(ImportRuns, ResultsThatAreNotThere) {
  ProgramWriter p;
  p.Input("x", F32({"2", "3"}));
  p.Node("torch.ops.aten.split.Tensor", {{"self", Named("x")}, {"split_size", R"({"as_int": 1})"}},
         {{"a", F32({"1", "3"})}, {"b", F32({"1", "3"})}, {"c", F32({"1", "3"})}});
  p.Output(Named("c"));
  absl::StatusOr<Program> program = LoadPt2Bytes(p.Archive({}), OpRegistry::Builtin());
  ASSERT_TRUE(program.ok()) << program.status();
  absl::StatusOr<Executable> executable = Compile(*program, {.tier = GetParam(), .threads = 1});
  absl::Status status = executable.ok()
                            ? executable->Run({Floats({2, 3}, {1, 2, 3, 4, 5, 6})}).status()
                            : executable.status();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

// x viewed as [n, -1], n given by the caller; a constant argument and a token beside it.
ProgramWriter NumberProgram() {
  ProgramWriter p;
  const std::string n = R"({"as_sym_int": {"as_name": "n"}})";
  p.Input(R"({"as_tensor": {"name": "token"}})", R"({"token": {"arg": {"name": "token"}}})");
  p.Number("sym_int_values", "n", pt2::Size("Symbol('s1', integer=True)"));
  p.Input(n, "{\"user_input\": {\"arg\": " + n + "}}");
  p.Input(R"({"as_int": 3})", R"({"constant_input": {"name": "k", "value": {"as_int": 3}}})");
  p.Input("x", F32({"s0"}));
  p.Node("torch.ops.aten.full.default",
         {{"size", R"({"as_sym_ints": [{"as_name": "n"}]})"}, {"fill_value", R"({"as_int": 2})"}},
         {{"full", Meta{{"Symbol('s1', integer=True)"}, {"1"}}}});
  p.Node("torch.ops.aten.sum.default", {{"self", Named("x")}}, {{"sum", F32({})}});
  p.Node("torch.ops.aten.mul.Tensor", {{"self", Named("full")}, {"other", Named("sum")}},
         {{"mul", Meta{{"Symbol('s1', integer=True)"}, {"1"}}}});
  p.Output(Named("token"), R"({"token": {"arg": {"name": "token"}}})");
  p.Output(Named("mul"));
  p.Range("s0", R"({"min_val": 2, "max_val": 6})");
  p.Range("s1", R"({"min_val": 3, "max_val": null})");
  p.Guard("L['n'] % 2 == 1");
  return p;
}

TEST_P(ImportRuns, NumbersSizesAndWhatTheyMustMeet) {
  Load(NumberProgram());
  if (HasFatalFailure()) return;
  EXPECT_EQ(ValuesOf(Run({Scalar(3), Floats({2}, {1, 2})})[0]), (std::vector<float>{6, 6, 6}));
  // A lower bound of 2 is the tracer's own: sizes 1 and 0 are fine.
  EXPECT_EQ(ValuesOf(Run({Scalar(3), Floats({1}, {4})})[0]), (std::vector<float>{8, 8, 8}));
  EXPECT_EQ(ValuesOf(Run({Scalar(3), Floats({0}, {})})[0]), (std::vector<float>{0, 0, 0}));

  const struct {
    std::vector<RunValue> inputs;
    std::vector<const char*> phrases;
  } cases[] = {
      {{Scalar(3), Floats({7}, {1, 2, 3, 4, 5, 6, 7})}, {"x", "6", "7"}},
      {{Scalar(1), Floats({2}, {1, 2})}, {"n", "3", "1"}},
      {{Scalar(4), Floats({2}, {1, 2})}, {"n", "s1 % 2 == 1", "4"}},
      {{Scalar(0.5), Floats({2}, {1, 2})}, {"n", "integer", "0.5"}},
      {{Scalar(3)}, {"2", "1"}},
      {{Scalar(3), Floats({2}, {1, 2}), Floats({2}, {1, 2})}, {"2", "3"}},
      {{Floats({2}, {1, 2}), Scalar(3)}, {"n"}},
      {{Scalar(3), Floats({2, 1}, {1, 2})}, {"x", "rank", "1", "f32[2, 1]"}},
      {{Scalar(3), Tensor::Zeros(DType::kI32, {2})}, {"x", "f32", "i32[2]"}},
      {{Scalar(3), Tensor()}, {"x"}},
  };
  for (const auto& c : cases) {
    const std::string message = Refusal(c.inputs);
    if (GetParam() == Tier::kReference) continue;  // it refuses in fewer words
    for (const char* phrase : c.phrases) {
      EXPECT_TRUE(absl::StrContains(message, phrase)) << phrase << " is not in: " << message;
    }
  }
}

// Calls that no operator allows: refused before or while they run, as the program's fault, whatever
// result types the file claims.
TEST_P(ImportRuns, CallsThatAreWrong) {
  const std::string x = Named("x"), i = Named("i");
  const auto integers = [](const std::string& list) { return "{\"as_ints\": [" + list + "]}"; };
  const auto integer = [](const std::string& value) { return "{\"as_int\": " + value + "}"; };
  const struct {
    const char* op;
    std::vector<std::pair<std::string, std::string>> arguments;
    Meta result;
  } cases[] = {
      {"mm.default", {{"self", x}, {"mat2", x}}, F32({"2", "3"})},
      {"mm.default", {{"self", x}, {"mat2", i}}, F32({"2", "3"})},
      {"add.Tensor", {{"self", x}, {"other", i}}, F32({"2", "3"})},
      {"add.Tensor", {{"self", x}}, F32({"2", "3"})},
      {"add.Tensor", {{"self", x}, {"other", R"({"as_string": "y"})"}}, F32({"2", "3"})},
      {"add.Tensor", {{"self", x}, {"other", x}, {"beta", integer("1")}}, F32({"2", "3"})},
      {"relu.default", {{"self", integer("1")}}, F32({})},
      {"relu.default", {{"self", R"({"as_tensors": []})"}}, F32({})},
      {"relu.default", {}, F32({})},
      {"view.default", {{"self", x}, {"size", integers("7")}}, F32({"7"})},
      {"view.default", {{"self", x}, {"size", integers("-1, -1")}}, F32({"2", "3"})},
      {"view.default", {{"self", x}, {"size", integers("-6")}}, F32({"6"})},
      {"view.default",
       {{"self", x}, {"size", integers("4611686018427387904, 4611686018427387904")}},
       F32({"6"})},
      {"reshape.default", {{"self", x}, {"shape", integers("0, -1")}}, F32({"0", "6"})},
      {"permute.default", {{"self", x}, {"dims", integers("0, 0")}}, F32({"2", "2"})},
      {"permute.default", {{"self", x}, {"dims", integers("0, 2")}}, F32({"2", "2"})},
      {"permute.default", {{"self", x}, {"dims", integers("0")}}, F32({"2"})},
      {"transpose.int", {{"self", x}, {"dim0", integer("0")}, {"dim1", integer("9")}}, F32({})},
      {"unsqueeze.default", {{"self", x}, {"dim", integer("9223372036854775807")}}, F32({})},
      {"squeeze.dim", {{"self", x}, {"dim", integer("-9223372036854775808")}}, F32({})},
      {"select.int", {{"self", x}, {"dim", integer("0")}, {"index", integer("2")}}, F32({"3"})},
      {"select.int",
       {{"self", x}, {"dim", integer("0")}, {"index", integer("-9223372036854775808")}},
       F32({"3"})},
      {"slice.Tensor",
       {{"self", x},
        {"dim", integer("0")},
        {"start", integer("0")},
        {"end", integer("2")},
        {"step", integer("0")}},
       F32({"2", "3"})},
      {"slice.Tensor", {{"self", x}, {"dim", integer("5")}}, F32({"2", "3"})},
      {"expand.default", {{"self", x}, {"size", integers("4, 3")}}, F32({"4", "3"})},
      {"expand.default", {{"self", x}, {"size", integers("-1")}}, F32({"4", "3"})},
      {"as_strided.default",
       {{"self", x}, {"size", integers("100")}, {"stride", integers("1")}},
       F32({"100"})},
      {"as_strided.default",
       {{"self", x}, {"size", integers("2")}, {"stride", integers("9223372036854775807")}},
       F32({"2"})},
      {"as_strided.default",
       {{"self", x},
        {"size", integers("2")},
        {"stride", integers("1")},
        {"storage_offset", integer("-1")}},
       F32({"2"})},
      {"full.default",
       {{"size", integers("9223372036854775807, 9223372036854775807")},
        {"fill_value", integer("1")}},
       F32({"1"})},
      {"full.default",
       {{"size", integers("1099511627776, 1048576")}, {"fill_value", integer("1")}},
       F32({"1"})},
      {"full.default", {{"size", integers("-1")}, {"fill_value", integer("1")}}, F32({"1"})},
      {"cat.default", {{"tensors", R"({"as_tensors": []})"}}, F32({"1"})},
      {"cat.default",
       {{"tensors", R"({"as_tensors": [{"name": "x"}, {"name": "x"}]})"}, {"dim", integer("7")}},
       F32({"1"})},
      {"index.Tensor",
       {{"self", x}, {"indices", R"({"as_optional_tensors": [{"as_tensor": {"name": "x"}}]})"}},
       F32({"2"})},
      {"index_select.default", {{"self", x}, {"dim", integer("3")}, {"index", i}}, F32({"2"})},
      {"gather.default", {{"self", x}, {"dim", integer("0")}, {"index", i}}, F32({"2"})},
      {"embedding.default", {{"weight", i}, {"indices", x}}, F32({"2"})},
      {"sum.dim_IntList", {{"self", x}, {"dim", integers("0, 0")}}, F32({"3"})},
      {"sum.dim_IntList", {{"self", x}, {"dim", integers("2")}}, F32({"3"})},
      {"softmax.int", {{"self", x}, {"dim", integer("2")}}, F32({"2", "3"})},
      {"layer_norm.default", {{"input", x}, {"normalized_shape", integers("7")}}, F32({"2", "3"})},
      {"convolution.default",
       {{"input", x},
        {"weight", x},
        {"bias", R"({"as_none": true})"},
        {"stride", integers("0")},
        {"padding", integers("0")},
        {"dilation", integers("0")},
        {"transposed", R"({"as_bool": false})"},
        {"output_padding", integers("0")},
        {"groups", integer("0")}},
       F32({"2", "3"})},
      {"constant_pad_nd.default",
       {{"self", x}, {"pad", integers("-9, -9")}, {"value", integer("0")}},
       F32({"2", "3"})},
      {"repeat.default", {{"self", x}, {"repeats", integers("-1, 2")}}, F32({"2", "3"})},
      {"topk.default", {{"self", x}, {"k", integer("9")}}, F32({"2", "3"})},
      {"one_hot.default", {{"self", x}}, F32({"2", "3"})},
      {"arange.start_step",
       {{"start", integer("0")}, {"end", integer("5")}, {"step", integer("0")}},
       F32({"5"})},
      {"unfold.default",
       {{"self", x}, {"dimension", integer("0")}, {"size", integer("9")}, {"step", integer("1")}},
       F32({"5"})},
      {"bmm.default", {{"self", x}, {"mat2", x}}, F32({"5"})},
      {"split.Tensor", {{"self", x}, {"split_size", integer("-1")}}, F32({"5"})},
  };
  for (int round = 0; round < static_cast<int>(2 * std::size(cases)); ++round) {
    const auto& c = cases[round / 2];
    const bool computed = round % 2 == 0;
    ProgramWriter p;
    p.Input("x_0", F32({"2", "3"}));
    p.Input("i", F32({"2"}, /*dtype=*/5));
    // Computed, then the input itself.
    if (computed) {
      p.Node("torch.ops.aten.relu.default", {{"self", Named("x_0")}}, {{"x", F32({"2", "3"})}});
    } else {
      p.Node("torch.ops.aten.alias.default", {{"self", Named("x_0")}}, {{"x", F32({"2", "3"})}});
    }
    p.Node(std::string("torch.ops.aten.") + c.op, c.arguments, {{"y", c.result}});
    p.Output(Named("y"));
    const std::vector<int64_t> index = {0, 1};
    absl::Status status = [&]() -> absl::Status {
      absl::StatusOr<Program> program = LoadPt2Bytes(p.Archive({}), OpRegistry::Builtin());
      if (!program.ok()) return program.status();
      absl::StatusOr<Executable> executable = Compile(*program, {.tier = GetParam(), .threads = 1});
      if (!executable.ok()) return executable.status();
      return executable
          ->Run({Floats({2, 3}, {1, 2, 3, 4, 5, 6}),
                 Tensor::FromSpan<int64_t>({2}, absl::MakeConstSpan(index))})
          .status();
    }();
    std::string call = c.op;
    for (const auto& [name, json] : c.arguments) call += " " + name + "=" + json;
    EXPECT_FALSE(status.ok()) << call;
    EXPECT_TRUE(absl::IsInvalidArgument(status) || absl::IsOutOfRange(status) ||
                absl::IsResourceExhausted(status) || absl::IsUnimplemented(status) ||
                absl::IsFailedPrecondition(status))
        << call << ": " << status;
  }
}

}  // namespace
}  // namespace lathe
