#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"
#include "gtest/gtest.h"
#include "ir/graph/equal.h"
#include "ir/graph/verifier.h"
#include "ir/ops/registry.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"

namespace lathe {
namespace {

absl::StatusOr<std::vector<ValueType>> SameType(const InferContext& c) {
  return std::vector<ValueType>{c.args.Type(0)};
}

// A few rows, so that this test stands below the operators.
const OpRegistry& Ops() {
  static const OpRegistry* registry = [] {
    std::vector<OpRow> rows(5);
    rows[0].schema = "aten::relu(Tensor self) -> Tensor";
    rows[1].schema = "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor";
    rows[2].schema =
        "aten::pad(Tensor self, SymInt[] by, str mode=\"zero\", float? value=None, *, "
        "ScalarType? dtype=None, MemoryFormat? memory_format=None) -> Tensor";
    for (int i = 0; i < 3; ++i) rows[i].infer = SameType;
    rows[3].schema = "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)";
    rows[3].infer = [](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
      TensorType indices = c.args.Type(0);
      indices.dtype = DType::kI64;
      return std::vector<ValueType>{c.args.Type(0), indices};
    };
    rows[4].schema = "aten::nonzero(Tensor self) -> Tensor";
    rows[4].infer = [](const InferContext& c) -> absl::StatusOr<std::vector<ValueType>> {
      Expr count = c.shapes.FreshUnbacked(symbolic::Source::Item(c.asker.node), {0, 100});
      return std::vector<ValueType>{ContiguousType(DType::kI64, {count, c.args.Type(0).rank()})};
    };
    return new OpRegistry(*OpRegistry::Of(std::move(rows)));
  }();
  return *registry;
}

void ExpectRoundTrip(absl::string_view text) {
  absl::StatusOr<Program> program = ParseProgram(text, Ops());
  ASSERT_TRUE(program.ok()) << program.status() << "\n" << text;
  ASSERT_TRUE(Verify(*program).ok()) << Verify(*program) << "\n" << text;
  const std::string printed = PrintProgram(*program);
  absl::StatusOr<Program> again = ParseProgram(printed, Ops());
  ASSERT_TRUE(again.ok()) << again.status() << "\n" << printed;
  EXPECT_EQ(FirstDifference(*program->main, *again->main), std::nullopt) << printed;
  EXPECT_EQ(PrintProgram(*again), printed);
  EXPECT_EQ(again->archive, program->archive);
}

TEST(Text, RoundTrips) {
  for (const char* text : {
           "graph @empty() {}",
           "graph @f(%x: f32[s0, 4]{1, s0}+4 @cuda:1, %n: int(s1), %b: bool(s1 <= 4)) "
           "where 2 <= s0, s0 % 2 == 0, s0 // 2 < 9 { return %x, %n, 3, none, (s0 // 2 + s1) }",
           "graph @f(%w: f32[4] = weight(\"fc.weight\"), %b: f32[4] = buffer(\"b\\\"x\", "
           "persistent=false), %c: i64[0] = constant(\"c\"), %t: none = token(\"t\")) "
           "{ return token %t, gradient %w = %b }",
           "graph @f(%x: f32[4]) { %y = aten.relu(%x)  aten.relu(%y) "
           "return mutates %x = %y, %x aliases %x, %y aliases output 1 }",
           "graph @f(%x: f32[s0, 8]) { %v, %i = aten.max.dim(%x, 1, true) return %i, %v }",
           "graph @f(%x: f32[8]) { %y = aten.add.Tensor(%x, %x, alpha=2) : f32[8] at "
           "\"model.py:41\" in \"encoder.layer.0\" tags [\"recompute\", \"x\"] return %y }",
           "graph @f(%x: f32[s0]) { %y = aten.pad(%x, [1, s0*2 - 1, max(s0, 3)], \"a\\nb\", "
           "value=-2.5e-10, dtype=bf16, memory_format=channels_last) return %y }",
           "graph @f(%x: f32[s0]) { %n = aten.nonzero(%x) %m = aten.nonzero(%x) : i64[u7, 1] "
           "%y = aten.pad(%x, [u7, u0]) return %n, %m, %y, (u7) }",
           "graph @f() { %k = constant(i64[2, 2], [[1, 2], [3, -4]]) %h = constant(f16[3], [1.5, "
           "nan, -inf]) %c = constant(c64[1], [1+2j]) %s = constant(bool[], true) %e = "
           "constant(u3[2, 0], [[], []]) return %k, %h, %c, %s, %e }",
           "graph @main(%p: bool[], %x: f32[s0]) { %c = cond(%p, @then, @\"el se\", [%x]) : "
           "f32[s0] "
           "return %c } graph @then(%x: f32[s0]) { %y = aten.relu(%x) return %y } "
           "graph @\"el se\"(%x: f32[s0]) { return %x }",
           "archive \"m.pt2\" graph @f(%\"a b\": f32[1]) { %1, %2 = \"odd::op\"(%\"a b\", k=none, "
           "inf, nan, 1+2j, 18446744073709551615, -9223372036854775808, true, u3, cuda:1, cpu, "
           "strided, contiguous_format, [[1, none], [2.0]], \"s\") : list(f32[1], none, int(3)), "
           "none %\"return\" = \"return\"(%1) : f32[] return %1 }",
       }) {
    ExpectRoundTrip(text);
  }
}

TEST(Text, PrintsWhatTheDesignSays) {
  absl::StatusOr<Program> program = ParseProgram(R"(
      // a comment
      graph @mlp(%x: f32[s0, 64], %w: f32[64]{2} = weight("fc.weight")) where 2 <= s0 {
        %h = aten.relu.default(%x)   // types may be left out
        %g = aten.add.Tensor(%h, %w, alpha=2)
        return %g
      })",
                                                 Ops());
  ASSERT_TRUE(program.ok()) << program.status();
  EXPECT_EQ(PrintProgram(*program),
            "graph @mlp(%x: f32[s0, 64], %w: f32[64]{2} = weight(\"fc.weight\")) where 2 <= s0 {\n"
            "  %h = aten.relu(%x) : f32[s0, 64]\n"
            "  %g = aten.add.Tensor(%h, %w, alpha=2) : f32[s0, 64]\n"
            "  return %g\n"
            "}\n");
  EXPECT_EQ(program->user_input_names, std::vector<std::string>{"x"});
  const ShapeEnv& shapes = *program->shapes;
  ASSERT_EQ(shapes.symbols().size(), 1u);
  EXPECT_EQ(shapes.source(shapes.symbols()[0]), symbolic::Source::InputSize(0, 0));
  EXPECT_TRUE(shapes.IsKnownTrue(symbolic::Ge(shapes.symbols()[0], 2)));
}

TEST(Text, ErrorsNameTheirPlace) {
  struct Case {
    const char* text;
    const char* phrase;
  };
  for (const Case& c : std::vector<Case>{
           {"", "1:1: graph is expected"},
           {"graph f", "1:7: a @name is expected, not 'f'"},
           {"graph @f(%x: f33[2]) {}", "1:14: an unknown type"},
           {"graph @f(%x: f32[2)) {}", "1:19: ']' is expected"},
           {"graph @f(%x: f32[2 + ]) {}", "1:"},
           {"graph @f(%x: f32[-1]) {}", "a size is negative"},
           {"graph @f(%x: f32[s0 == 1]) {}", "an integer is expected"},
           {"graph @f(%x: f32[2]{1, 2}) {}", "1 strides are expected"},
           {"graph @f(%x: f32[2], %x: f32[2]) {}", "%x is defined twice"},
           {"graph @f(%x: f32[2]) {\n  %y = aten.relu(%z)\n}", "2:18: unknown value %z"},
           {"graph @f(%x: f32[2]) { %y = aten.relu(%x, %x) }", "1:24: aten.relu: takes at most 1"},
           {"graph @f(%x: f32[2]) { %y = aten.relu() }", "argument 'self' is missing"},
           {"graph @f(%x: f32[2]) { %y = aten.what(%x) }", "unknown operator 'aten.what'"},
           {"graph @f(%x: f32[2]) { %y = aten.relu(%x) : f32[3] }", "%y is f32[2], not f32[3]"},
           {"graph @f(%x: f32[2]) { %y = aten.relu(%x) : i32[2] }", "%y is f32[2], not i32[2]"},
           {"graph @f(%x: f32[2]) { %y, %z = aten.relu(%x) }", "has 1 results, not 2"},
           {"graph @f(%x: f32[2]) { return s9 }", "unknown symbol s9"},
           {"graph @f(%x: f32[2]) { return mutates %y = %x }", "%y is no input"},
           {"graph @f(%x: f32[2]) { return %x aliases output 0 }", "an earlier output"},
           {"graph @f(%x: f32[2]) { return %x", "'}' is expected, but the text ends"},
           {"graph @f() { %k = constant(i8[2], [1]) }", "',' is expected"},
           {"graph @f() { %k = constant(u4[2], [1, 99]) }",
            "99 does not fit u4, whose numbers are 0 to 15"},
           {"graph @f() { %k = constant(i8[1], [0.5]) }", "0.5 is no whole number"},
           {"graph @f() { %k = constant(i8[99999999999], []) }", "an expression is expected"},
           {"graph @f() { %k = constant(i8[9, 9]{1, 9}, []) }", "a contiguous tensor"},
           {"graph @f() { %k = x(\"abc) }", "string without an end"},
           {"graph @f() { %k = x(#) }", "unexpected character"},
           {"graph @f() {} graph @f() {}", "@f is defined twice"},
           {"graph @f() { %c = c(@f) : none }", "@f calls itself"},
           {"graph @f() { %c = c(@g) : none }", "unknown graph @g"},
           {"graph @f(%x: f32[s0]) where s0 <= 1, s0 >= 2 {}", "1:38: "},
           {"graph @f(%x: f32[4611686018427387904, 4, 4]) {}", "overflows"},
       }) {
    absl::StatusOr<Program> program = ParseProgram(c.text, Ops());
    ASSERT_FALSE(program.ok()) << c.text;
    EXPECT_NE(program.status().message().find(c.phrase), absl::string_view::npos)
        << c.text << "\n"
        << program.status();
  }
}

std::string Repeat(absl::string_view text, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) absl::StrAppend(&out, text);
  return out;
}

TEST(Text, DepthIsBoundedByMessages) {
  auto fails = [](const std::string& text, absl::string_view phrase) {
    absl::StatusOr<Program> program = ParseProgram(text, Ops());
    ASSERT_FALSE(program.ok());
    EXPECT_NE(program.status().message().find(phrase), absl::string_view::npos) << program.status();
  };
  fails("graph @f() { %x = a(" + Repeat("[", 200000) + ") : none }", "lists nest too deep");
  fails("graph @f(%x: " + Repeat("list(", 200000) + ") {}", "types nest too deep");
  fails("graph @f(%x: f32[" + Repeat("(", 200000) + "]) {}", "1:");
  ExpectRoundTrip("graph @f() { %x = a(" + Repeat("[", 900) + Repeat("]", 900) + ") : none }");

  std::string chain, twice;
  for (int i = 0; i < 200; ++i) {
    absl::StrAppend(&chain, "graph @g", i, "() { %x = c(@g", i + 1, ") : none }");
    absl::StrAppend(&twice, "graph @g", i, "() { %x = c(@g", i + 1, ", @g", i + 1, ") : none }");
  }
  fails(chain + "graph @g200() {}", "graphs nest too deep");
  fails(twice + "graph @g200() {}", "graphs");
  fails(twice.substr(0, twice.find("graph @g50(")) + "graph @g50() {}",
        "graphs call each other too often");
}

// Any prefix and any one-byte change of a good text is parsed or refused, never worse.
TEST(Text, DamagedTextIsRefusedOrRead) {
  const std::string good =
      "archive \"m\" graph @f(%x: f32[s0, 4]{4, 1}+2, %n: int(s1)) where s0 % 2 == 0 {\n"
      "  %y, %z = aten.max.dim(%x, 1, keepdim=true) : f32[s0, 4], i64[s0, 4] at \"a:1\"\n"
      "  %k = constant(f16[2], [1.5, nan])\n"
      "  %c = cond(%y, @g, [%k, none, \"s\", 1+2j]) : none tags [\"t\"]\n"
      "  return mutates %x = %y, %z aliases %x\n} graph @g(%a: f16[2]) { return %a }";
  ASSERT_TRUE(ParseProgram(good, Ops()).ok()) << ParseProgram(good, Ops()).status();
  int read = 0;
  auto check = [&read](const std::string& text) {
    absl::StatusOr<Program> program = ParseProgram(text, Ops());
    if (!program.ok()) return;
    ++read;
    ASSERT_TRUE(Verify(*program).ok()) << text << "\n" << Verify(*program);
    const std::string printed = PrintProgram(*program);
    EXPECT_TRUE(ParseProgram(printed, Ops()).ok()) << printed;
  };
  for (size_t i = 0; i < good.size(); ++i) {
    check(good.substr(0, i));
    for (char c :
         {'(', ')', '[', ']', '{', '}', '"', '%', '@', ',', '=', ':', '/', '0', 'u', ' '}) {
      std::string damaged = good;
      damaged[i] = c;
      check(damaged);
    }
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace lathe
