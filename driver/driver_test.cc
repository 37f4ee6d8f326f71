#include <cmath>
#include <limits>

#include "absl/strings/match.h"
#include "driver/arguments.h"
#include "driver/check_outputs.h"
#include "driver/claims.h"
#include "driver/compare_tensors.h"
#include "driver/json_object.h"
#include "driver/parse_value.h"
#include "driver/print_value.h"
#include "driver/reduce_program.h"
#include "driver/tensor_files.h"
#include "driver/user_inputs.h"
#include "driver/verify_run.h"
#include "gtest/gtest.h"
#include "ir/ops/registry.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace lathe::driver {
namespace {

Tensor F32(Dims sizes, std::vector<float> values) { return Tensor::FromSpan<float>(sizes, values); }

TEST(Arguments, OptionsInAnyOrder) {
  std::vector<Option> options = {{"input", Option::kRepeated, "i"},
                                 {"threads", Option::kValue},
                                 {"json"},
                                 {"verify", Option::kOptionalValue}};
  absl::StatusOr<Arguments> a = Arguments::Parse(
      {"m.pt2", "-i", "x=1", "--threads=2", "-iy=2", "--verify", "--json", "--", "--z"}, options);
  ASSERT_TRUE(a.ok()) << a.status();
  EXPECT_EQ(a->positional(), (std::vector<std::string>{"m.pt2", "--z"}));
  EXPECT_EQ(a->Values("input"), (std::vector<std::string>{"x=1", "y=2"}));
  EXPECT_EQ(*a->Integer("threads", 0, 1, 8), 2);
  EXPECT_EQ(a->Value("verify"), "");
  EXPECT_FALSE(a->Has("trace"));
  EXPECT_FALSE(a->Integer("threads", 0, 3, 8).ok());

  auto message = [&](std::vector<std::string> words) {
    return std::string(Arguments::Parse(words, options).status().message());
  };
  EXPECT_EQ(message({"--what"}), "unknown option --what");
  EXPECT_EQ(message({"--threads"}), "the option --threads needs a value");
  EXPECT_EQ(message({"--json=1"}), "the option --json takes no value");
  EXPECT_EQ(message({"--json", "--json"}), "the option --json is given twice");
}

TEST(PrintValue, ShortestForms) {
  EXPECT_EQ(PrintValue(F32({2, 2}, {1, 2.5, 0.1f, NAN})), "f32[2, 2] [[1.0, 2.5], [0.1, nan]]");
  EXPECT_EQ(PrintValue(Tensor::FromScalar(DType::kI64, -3)), "i64[] -3");
  EXPECT_EQ(PrintValue(Tensor::Empty(DType::kF32, {0, 3})), "f32[0, 3] []");
  EXPECT_EQ(PrintValue(Tensor::Empty(DType::kF32, {2, 0})), "f32[2, 0] [[], []]");
  EXPECT_EQ(PrintValue(Tensor::Empty(DType::kF32, {1 << 30, 1 << 30, 0})),
            "f32[1073741824, 1073741824, 0] []");
  EXPECT_EQ(PrintValue(Scalar(7)), "7");
  EXPECT_EQ(PrintValue(Tensor()), "none");
  // A view prints in the order of its own indices.
  EXPECT_EQ(PrintValue(F32({2, 2}, {1, 2, 3, 4}).AsStrided({2, 2}, {1, 2}, 0)),
            "f32[2, 2] [[1.0, 3.0], [2.0, 4.0]]");
}

TEST(PrintValue, LeavesOutTheMiddle) {
  // 1 001 elements: one is left out.
  std::string flat = PrintValue(Tensor::Zeros(DType::kI64, {1001}));
  EXPECT_NE(flat.find("0, 0, ..., 0, 0"), std::string::npos) << flat;
  std::string rows = PrintValue(Tensor::Zeros(DType::kI64, {400, 4}));
  size_t dots = rows.find("...");
  ASSERT_NE(dots, std::string::npos);
  EXPECT_EQ(rows.find("...", dots + 1), std::string::npos);
  EXPECT_EQ(std::count(rows.begin(), rows.end(), '0') - 2, 1000);  // 400 holds two more
}

TEST(ParseValue, Forms) {
  auto text = [](absl::string_view v) {
    absl::StatusOr<Value> value = ParseValue(v);
    return value.ok() ? PrintValue(*value) : std::string(value.status().message());
  };
  EXPECT_EQ(text("2x3xf32=0.5"), "f32[2, 3] [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]");
  EXPECT_EQ(text("4xi64=[1,2,3,4]"), "i64[4] [1, 2, 3, 4]");
  EXPECT_EQ(text("2x2xbf16=[[1, 2], [3.14, -inf]]"), "bf16[2, 2] [[1.0, 2.0], [3.14, -inf]]");
  EXPECT_EQ(text("5xu3=[0,1,2,3,7]"), "u3[5] [0, 1, 2, 3, 7]");
  EXPECT_EQ(text("0xf32=[]"), "f32[0] []");
  EXPECT_EQ(text("1073741824x0xf32=[]"), "f32[1073741824, 0] []");
  EXPECT_EQ(text("2x0xf32=[[], []]"), "f32[2, 0] [[], []]");
  EXPECT_EQ(text("f32=1.5"), "f32[] 1.5");
  EXPECT_EQ(text("7"), "7");
  EXPECT_EQ(text("true"), "true");
  EXPECT_EQ(text("2xf33=1"), "'f33' is not a dtype");
  EXPECT_EQ(text("2xf32=[1]"), "a list of 2 is expected to have more than 1 items");
  EXPECT_EQ(text("2xf32=[1,2,3]"), "expected ']' after 2 items, before ',3]'");
  EXPECT_EQ(text("-1xf32=1"), "'-1' is not a size");
  EXPECT_EQ(text("2xu8=300"), "300 does not fit u8, whose numbers are 0 to 255");
  EXPECT_EQ(text("2xu8=1.5"), "1.5 is no whole number, as u8 has them");
  EXPECT_EQ(text("2xi8=[-128,-129]"), "-129 does not fit i8, whose numbers are -128 to 127");
  EXPECT_EQ(text("2xu4=[1,17]"), "17 does not fit u4, whose numbers are 0 to 15");
  EXPECT_EQ(text("i64=9223372036854775808"),
            "9223372036854775808 does not fit i64, whose numbers are -9223372036854775808 "
            "to 9223372036854775807");
  EXPECT_EQ(text("i32=nan"), "nan does not fit i32, whose numbers are -2147483648 to 2147483647");
  EXPECT_EQ(text("u64=-1"), "-1 does not fit u64, whose numbers are 0 to 18446744073709551615");
  EXPECT_EQ(text("2xu64=18446744073709551615"),
            "u64[2] [18446744073709551615, 18446744073709551615]");
  EXPECT_EQ(text("3xi4=[-8,7,2.0]"), "i4[3] [-8, 7, 2]");
  EXPECT_FALSE(ParseValue("9223372036854775807x9xf32=1").ok());
  EXPECT_FALSE(ParseValue("x").ok());
}

TEST(CompareTensors, Tolerances) {
  auto passes = [](const Tensor& a, const Tensor& e) {
    return CompareTensors(a, e, Tensor(), CheckTolerance(e.dtype())).passed;
  };
  float inf = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(passes(F32({3}, {1, NAN, inf}), F32({3}, {1.00009f, NAN, inf})));
  EXPECT_FALSE(passes(F32({1}, {1}), F32({1}, {1.0002f})));
  EXPECT_FALSE(passes(F32({1}, {inf}), F32({1}, {-inf})));
  EXPECT_FALSE(passes(F32({1}, {0}), F32({1}, {NAN})));
  EXPECT_FALSE(passes(F32({2}, {1, 1}), F32({2, 1}, {1, 1})));
  EXPECT_FALSE(passes(F32({1}, {1}), F32({1}, {1}).To(DType::kF64)));
  Tensor three = Tensor::FromScalar(DType::kI64, 3), four = Tensor::FromScalar(DType::kI64, 4);
  EXPECT_FALSE(passes(three, four));
  // One code of f8e4m3fn apart at 1.0: 1.125; two codes: 1.25.
  auto f8 = [](double v) { return Tensor::FromScalar(DType::kF8E4M3FN, v); };
  EXPECT_TRUE(passes(f8(1.0), f8(1.125)));
  EXPECT_FALSE(passes(f8(1.0), f8(1.25)));
  Comparison c = CompareTensors(F32({2, 2}, {1, 2, 3, 4}), F32({2, 2}, {1, 2, 5, 4}), Tensor(),
                                CheckTolerance(DType::kF32));
  EXPECT_EQ(c.difference,
            "1 of 4 elements differ, the first at [1, 0]: 3.0, expected 5.0; largest error 2");
}

TEST(CompareTensors, AgainstTheFloat64Answer) {
  Tensor reference = F32({2}, {1, 1}).To(DType::kF64);
  Tensor expected = F32({2}, {1.01f, 0.99f});
  Tolerance t = CheckTolerance(DType::kF32);
  // Far from `expected`, but no worse than twice its distance from the truth.
  EXPECT_TRUE(CompareTensors(F32({2}, {0.985f, 1.015f}), expected, reference, t).passed);
  EXPECT_FALSE(CompareTensors(F32({2}, {0.97f, 1.03f}), expected, reference, t).passed);
  EXPECT_FALSE(CompareTensors(F32({2}, {NAN, 1}), expected, reference, t).passed);
}

TEST(JsonObject, Escapes) {
  JsonObject o;
  o.Add("a\"b", "x\n\x01").Add("n", int64_t{-3}).Add("d", 0.1).Add("nan", std::nan(""));
  o.Add("ok", true).AddRaw("list", JsonArray({"1", "2"}));
  EXPECT_EQ(o.Text(),
            "{\"a\\\"b\": \"x\\n\\u0001\", \"n\": -3, \"d\": 0.1, \"nan\": null, \"ok\": true, "
            "\"list\": [1, 2]}");
}

std::vector<UserInput> TwoInputs() {
  return {{"x", ContiguousType(DType::kF32, {2})}, {"n", ScalarType{symbolic::ExprType::kInt, 3}}};
}

TEST(BindInputs, ByNameAndInOrder) {
  absl::StatusOr<std::vector<Value>> bound = BindInputs(TwoInputs(), {"n=7", "x=2xf32=0.5"});
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(PrintValue((*bound)[0]), "f32[2] [0.5, 0.5]");
  EXPECT_EQ(PrintValue((*bound)[1]), "7");
  auto error = [](std::vector<std::string> arguments) {
    return std::string(BindInputs(TwoInputs(), arguments).status().message());
  };
  EXPECT_EQ(error({"n=7"}), "no value for the input 'x': f32[2]; give -i NAME=VALUE or a file");
  EXPECT_EQ(error({"n=7", "n=8"}), "the input 'n' is given twice");
  EXPECT_EQ(error({"x=7"}), "the input 'x' is a tensor, f32[2], not a number");
  EXPECT_EQ(error({"n=2xi64=7"}), "the input 'n' is a number, not i64[2]");
  EXPECT_EQ(error({"y=7"}), "-i y=7: the program has no input 'y'; its inputs: x, n");
  EXPECT_EQ(error({"n=i64=7", "x=2xf32=["}), "-i x=2xf32=[: not a number: \"\"");
}

TEST(BindInputs, FromFiles) {
  std::string path = std::string(getenv("TEST_TMPDIR")) + "/io.safetensors";
  std::map<std::string, Tensor> tensors = {{"in.0", F32({2}, {1, 2})},
                                           {"in.1", Tensor::FromScalar(DType::kI64, 9)},
                                           {"out.0", F32({1}, {0})}};
  ASSERT_TRUE(WriteTensorFile(path, tensors).ok());
  absl::StatusOr<std::vector<Value>> bound = BindInputs(TwoInputs(), {path});
  ASSERT_TRUE(bound.ok()) << bound.status();
  EXPECT_EQ(PrintValue((*bound)[0]), "f32[2] [1.0, 2.0]");
  EXPECT_EQ(PrintValue((*bound)[1]), "9");
  tensors["z"] = tensors["in.0"];
  ASSERT_TRUE(WriteTensorFile(path, tensors).ok());
  EXPECT_EQ(BindInputs(TwoInputs(), {path}).status().message(),
            path + ": the program has no input for 'z'");
}

TEST(CheckOutputs, EveryAnswerCounts) {
  std::map<std::string, Tensor> recorded = {
      {"out.0", F32({1}, {1})}, {"out.2", F32({1}, {3})}, {"mut.1", F32({1}, {5})}};
  std::vector<Value> before = {F32({1}, {4}), F32({1}, {4})},
                     after = {F32({1}, {4}), F32({1}, {5})};
  // out.1 is a number, which files do not hold; out.2 is missing.
  std::vector<CheckLine> lines =
      CheckOutputs({F32({1}, {1}), Scalar(3)}, before, after, recorded, "");
  std::string text;
  for (const CheckLine& l : lines) text += l.name + (l.comparison.passed ? "+ " : "- ");
  EXPECT_EQ(text, "out.0+ out.2- mut.1+ ");
  // A tensor without an answer, and an input that must not change.
  after[0] = F32({1}, {4.5});
  lines = CheckOutputs({F32({1}, {1}), F32({1}, {1}), F32({1}, {3})}, before, after, recorded, "");
  text.clear();
  for (const CheckLine& l : lines) text += l.name + (l.comparison.passed ? "+ " : "- ");
  EXPECT_EQ(text, "out.0+ out.1- out.2+ in.0- mut.1+ ");
}

TEST(Claims, Answers) {
  auto decide = [](absl::string_view line) {
    absl::StatusOr<ClaimResult> r = DecideClaim(line);
    return r.ok() ? r->answer + " " + r->simplified + (r->mismatched() ? " !" : "")
                  : std::string(r.status().message());
  };
  EXPECT_EQ(decide("1 <= s0, s1 == max(s0, 5*s0) |- s1 >= s0 => true").substr(0, 5), "true ");
  EXPECT_EQ(decide("|- s0 < 3 => true"), "unknown s0 <= 2 !");
  EXPECT_EQ(decide("s0 == 4 |- s0 % 2 == 1"), "false false");
  EXPECT_EQ(decide("Eq(Mod(s0, 8), 0), Ge(s0, 1) |- Ge(s0, 8)"), "true true");
  EXPECT_EQ(decide("s0 == 4"), "column 8: expected '|-'");
  EXPECT_EQ(decide("|- s0 + 1"), "column 4: 's0 + 1' is no condition");
  EXPECT_EQ(decide("1 <= s0 |- s0 + s0 // 0 == 1"),
            "column 20: this overflows 64 bits or divides by zero");
  EXPECT_EQ(decide("|- 2 + s0 % 1.5 == 0"), "column 11: % of floats is not supported");
  EXPECT_EQ(decide("|- s0 == 3 => maybe"), "column 15: expected true, false or unknown");
  EXPECT_EQ(decide("|- s0 == 3 =>"), "column 14: expected true, false or unknown");
  EXPECT_EQ(decide("1 <= s0 |- s0 >= 1 |- s0 >= 2"), "column 20: a second '|-'");
  EXPECT_EQ(decide("1 <= s0,, s0 <= 3 |- s0 == 2"), "column 9: expected an assumption");
  EXPECT_EQ(decide(", |- s0 == 2"), "column 1: expected an assumption");
  EXPECT_EQ(decide("s0 == inf |- s0 == 2"), "column 1: 's0 == inf' never holds");
  EXPECT_EQ(decide("|- \xc3\xbc == 1"), "column 4: unexpected character '\xc3\xbc (U+00FC)'");
  EXPECT_EQ(decide("|- \xff == 1"), "column 4: unexpected character '\\xff'");
}

TEST(ReduceProgram, KeepsWhatShowsTheFault) {
  absl::StatusOr<Program> program = ParseProgram(
      R"(graph @f(%x: f32[s0, 4], %y: f32[4]) where 2 <= s0 {
        %a = aten.relu(%x)
        %b = aten.exp(%a)
        %c = aten.add.Tensor(%b, %y)
        %d = aten.sin(%c)
        %e = aten.sum(%d)
        return %e, %d, %a
      })",
      OpRegistry::Builtin());
  ASSERT_TRUE(program.ok()) << program.status();
  auto has_exp = [](const Program& p) -> absl::StatusOr<bool> {
    for (const Node* node : p.main->nodes()) {
      if (node->op == "aten.exp") return true;
    }
    return false;
  };
  absl::StatusOr<Program> reduced = ReduceProgram(*program, OpRegistry::Builtin(), has_exp);
  ASSERT_TRUE(reduced.ok()) << reduced.status();
  EXPECT_EQ(PrintProgram(*reduced),
            "graph @f(%x: f32[s0, 4]) {\n  %b = aten.exp(%x) : f32[s0, 4]\n  return %b\n}\n");
  auto never = [](const Program&) -> absl::StatusOr<bool> { return false; };
  EXPECT_EQ(ReduceProgram(*program, OpRegistry::Builtin(), never).status().message(),
            "the program as given does not pass the check");
}

TEST(VerifyRun, NamesTheFirstNodeThatDiffers) {
  // An operator whose kernel and reference disagree on negative numbers.
  OpRow wrong = *OpRegistry::Builtin().Find("aten.relu");
  wrong.schema = "my::relu(Tensor self) -> Tensor";
  wrong.evaluate = OpRegistry::Builtin().Find("aten.abs")->evaluate;
  const absl::StatusOr<OpRegistry> ops = OpRegistry::Builtin().With({wrong});
  ASSERT_TRUE(ops.ok()) << ops.status();
  absl::StatusOr<Program> program = ParseProgram(
      R"(graph @f(%x: f32[s0]) {
        %a = aten.exp(%x)
        %b = my.relu(%x)
        %c = aten.add.Tensor(%a, %b)
        %d = aten.sum(%c)
        return %d
      })",
      *ops);
  ASSERT_TRUE(program.ok()) << program.status();
  CompileOptions options{.tier = Tier::kTile, .registry = &*ops};
  const std::vector<Value> good = {F32({3}, {0, 1, 2})}, bad = {F32({3}, {0, -1, 2})};
  absl::StatusOr<Verification> v = VerifyRun(*program, options, good, /*each=*/true);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ(v->first_difference, "");
  EXPECT_EQ(v->compared, 4);
  v = VerifyRun(*program, options, bad, /*each=*/true);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_TRUE(absl::StartsWith(v->first_difference, "%b = my.relu: 1 of 3")) << v->first_difference;
  // At kernel borders only the sum is there to be compared.
  v = VerifyRun(*program, options, bad, /*each=*/false);
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_EQ(v->compared, 1);
  EXPECT_TRUE(absl::StartsWith(v->first_difference, "%d = aten.sum")) << v->first_difference;
}

}  // namespace
}  // namespace lathe::driver
