#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "capture/constraints/export_constraints.h"
#include "capture/constraints/specification.h"
#include "gtest/gtest.h"
#include "symbolic/evaluate.h"
#include "symbolic/guard_predicate.h"
#include "symbolic/parser.h"

namespace lathe {
namespace {

using symbolic::Asker;
using symbolic::Range;

const Asker kAdd = {"%add", "m.py:3"};
const Asker kView = {"%view", "m.py:7"};

Specification Parse(absl::string_view text) {
  absl::StatusOr<Specification> s = ParseSpecification(text);
  EXPECT_TRUE(s.ok()) << s.status();
  return s.value_or(Specification());
}

class ConstraintsTest : public testing::Test {
 protected:
  ExportConstraints Declare(absl::string_view text,
                            const std::vector<std::vector<int64_t>>& examples) {
    absl::StatusOr<ExportConstraints> c = ExportConstraints::Declare(Parse(text), examples, env_);
    EXPECT_TRUE(c.ok()) << c.status();
    return c.ok() ? *std::move(c) : ExportConstraints();
  }
  std::string Refusal(absl::string_view text, const std::vector<std::vector<int64_t>>& examples) {
    return std::string(ExportConstraints::Declare(Parse(text), examples, env_).status().message());
  }
  void Guard(const Expr& condition, const Asker& asker) {
    const absl::StatusOr<bool> held = env_.GuardTrue(condition, asker);
    ASSERT_TRUE(held.ok() && *held) << held.status();
  }
  ShapeEnv env_{std::make_shared<ExprContext>()};
};

TEST(SpecificationTest, ReadsWhatItWrites) {
  const std::string text =
      "dim batch = 2..64\n"
      "dim any\n"
      "dim heads in {8, 16}\n"
      "dim long = 0..\n"
      "dim shift = -4..4\n"
      "where batch % heads == 0 and long < any\n"
      "x: [batch, 2*batch + 1, auto, dynamic(2..8), static, 4]\n"
      "n: batch\n"
      "y: [heads, 3*batch - 1, any, long]\n"
      "z: []\n"
      "dim: [4]\n"
      "where: auto\n"
      "args[0].k['a: b']: [2]\n"
      "m: -3\n"
      "k: dynamic(-5..8)\n"
      "l: 2*shift + 1\n";
  EXPECT_EQ(ToString(Parse(text)), text);
  EXPECT_EQ(ToString(Parse("# sizes\n  dim a=2 .. 3 # of a\nx:[ a*2+1 ]\n")),
            "dim a = 2..3\nx: [2*a + 1]\n");
  EXPECT_EQ(ToString(Parse("dim a\r\nwhere a != 3 # odd\r\nx: [a]\r\n")),
            "dim a\nwhere a != 3\nx: [a]\n");
}

TEST(SpecificationTest, ErrorsNameLineAndColumn) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"dim a = 4..2", "line 1, column 9: the upper end of a range must exceed its lower end"},
      {"dim a = 4..4", "line 1, column 9: the upper end of a range must exceed its lower end"},
      {"dim a = -4..4\nx: [a]", "line 2, column 5: the smallest a is negative or too large"},
      {"dim a in {-4, 4}\nx: [a]", "line 2, column 5: the smallest a is negative or too large"},
      {"x: [dynamic(-4..4)]", "line 1, column 13: a size is not negative"},
      {"x: [-4]", "line 1, column 7: a size is not negative"},
      {"dim a\ndim a", "line 2, column 5: the name 'a' is taken"},
      {"dim auto", "line 1, column 5: the name 'auto' is taken"},
      {"dim and", "line 1, column 5: 'and' is no name for a dim"},
      {"dim true", "line 1, column 5: 'true' is no name for a dim"},
      {"dim a.b", "line 1, column 5: 'a.b' is no name for a dim"},
      {"x: [ b]", "line 1, column 6: unknown dim 'b'"},
      {"dim b\nx: [-1*b]", "line 2, column 8: a dim is multiplied by a positive integer only"},
      {"dim b\nx: [b - 1]", "line 2, column 5: the smallest b - 1 is negative or too large"},
      {"dim b\nx: [b*b]", "line 2, column 7: expected an integer of 64 bits"},
      {"dim b\nwhere b < ", "line 2, column 10: expected an expression"},
      {"dim b\nwhere b + 1", "line 2, column 7: expected a condition"},
      {"where  b < 1", "line 1, column 8: unknown dim 'b'"},
      {"x: [4", "line 1, column 6: expected ']'"},
      {"x [4]", "line 1, column 3: expected ':'"},
      {"x: [4] 5", "line 1, column 8: unexpected text"},
      {"x: 4\n x: 4", "line 2, column 2: input 'x' is there twice"},
      {"dim a in {}", "line 1, column 11: expected an integer of 64 bits"},
  };
  for (const auto& [text, message] : cases) {
    const absl::Status status = ParseSpecification(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(std::string(status.message()), message) << text;
  }
}

TEST_F(ConstraintsTest, WhatHoldsIsAccepted) {
  const ExportConstraints c =
      Declare("dim batch = 2..64\nx: [batch, 2*batch + 1, auto, static, 4]\nn: batch\n",
              {{8, 17, 5, 6, 4}, {8}});
  const Expr batch = c.sizes()[0][0];
  EXPECT_EQ(symbolic::ToString(batch), "batch");
  EXPECT_EQ(c.sizes()[0][1], batch * 2 + 1);
  EXPECT_EQ(c.sizes()[1][0], batch);
  EXPECT_EQ(c.sizes()[0][3], Expr(6));
  Guard(Le(batch, 100), kAdd);
  Guard(Ne(batch, 1), kAdd);
  EXPECT_TRUE(env_.guards().empty());
  EXPECT_TRUE(c.Verify(env_).ok());
  ASSERT_EQ(c.Ranges(env_).size(), 2u);
  EXPECT_EQ(c.Ranges(env_)[0].second, (Range{2, 64}));
}

TEST_F(ConstraintsTest, AConstantSaysWhichLinesForcedIt) {
  const ExportConstraints c = Declare(
      "dim batch = 2..64\ndim seq = 2..\nx: [batch, seq]\ny: [2*batch, 4]\n", {{6, 9}, {12, 4}});
  Guard(Eq(c.sizes()[1][0], 12), kAdd);
  EXPECT_EQ(std::string(c.Verify(env_).message()),
            "the program does not hold for all sizes that were asked for:\n"
            "  batch (size 0 of x): asked for 2..64, the program needs the constant 6\n"
            "    batch == 6: guard (asked by %add at m.py:3)\n"
            "it holds for:\n"
            "  dim seq = 2..\n"
            "  x: [6, seq]\n"
            "  y: [12, 4]\n");
}

TEST_F(ConstraintsTest, RangesAndMultiples) {
  const ExportConstraints c =
      Declare("dim batch = 2..64\ndim seq = 2..\nx: [batch, seq]\n", {{8, 9}});
  Guard(Lt(c.sizes()[0][0], 33), kAdd);
  Guard(Eq(Mod(c.sizes()[0][1], 3), 0), kView);
  EXPECT_EQ(std::string(c.Verify(env_).message()),
            "the program does not hold for all sizes that were asked for:\n"
            "  batch (size 0 of x): asked for 2..64, the program needs 2..32\n"
            "    batch <= 32: guard (asked by %add at m.py:3)\n"
            "  seq (size 1 of x): asked for 2.., the program needs 3.., a multiple of 3\n"
            "    seq % 3 == 0: guard (asked by %view at m.py:7)\n"
            "it holds for:\n"
            "  dim batch = 2..32\n"
            "  dim _seq = 1..\n"
            "  x: [batch, 3*_seq]\n");
}

TEST_F(ConstraintsTest, RelationsBetweenDims) {
  const ExportConstraints c =
      Declare("dim a = 2..64\ndim b = 2..64\nx: [a]\ny: [b, b + 1]\n", {{8}, {8, 9}});
  Guard(Eq(c.sizes()[0][0], c.sizes()[1][0]), kAdd);
  const absl::Status status = c.Verify(env_);
  EXPECT_NE(std::string(status.message()).find("the program needs a == b"), std::string::npos)
      << status;
  EXPECT_EQ(ToString(c.Corrected(env_)), "dim a = 2..64\nx: [a]\ny: [a, a + 1]\n");
}

TEST_F(ConstraintsTest, AutomaticDimsFollowTheProgram) {
  const ExportConstraints c =
      Declare("dim batch = 2..64\nx: [batch, auto, dynamic]\n", {{8, 8, 5}});
  Guard(Eq(c.sizes()[0][1], c.sizes()[0][0]), kAdd);
  EXPECT_TRUE(c.Verify(env_).ok()) << c.Verify(env_);
  Guard(Eq(c.sizes()[0][2], 5), kView);
  const std::string message(c.Verify(env_).message());
  EXPECT_NE(message.find("size 2 of x: asked for dynamic, the program needs the constant 5"),
            std::string::npos)
      << message;
  EXPECT_EQ(c.Corrected(env_).inputs[0].dims[2].kind, DimSpec::Kind::kValue);
}

TEST_F(ConstraintsTest, SetsAreCheckedValueByValue) {
  const ExportConstraints c = Declare("dim heads in {8, 12, 16}\nx: [heads]\n", {{16}});
  Guard(Eq(Mod(c.sizes()[0][0], 4), 0), kAdd);
  EXPECT_TRUE(c.Verify(env_).ok()) << c.Verify(env_);
  Guard(Eq(Mod(c.sizes()[0][0], 8), 0), kView);
  const std::string message(c.Verify(env_).message());
  EXPECT_NE(message.find("asked for one of 8, 12, 16, the program needs one of 8, 16"),
            std::string::npos)
      << message;
  EXPECT_EQ(ToString(c.Corrected(env_)), "dim heads in {8, 16}\nx: [heads]\n");
}

TEST_F(ConstraintsTest, ExamplesMustFit) {
  EXPECT_EQ(Refusal("dim b = 2..8\nx: [b]\n", {{9}}),
            "size 0 of x gives b = 9 in the example, asked for 2..8");
  EXPECT_EQ(Refusal("dim c in {2, 4}\nx: [c]\n", {{3}}),
            "size 0 of x gives c = 3 in the example, asked for one of 2, 4");
  EXPECT_EQ(Refusal("dim d\nx: [d, 2*d]\n", {{4, 9}}),
            "size 1 of x is 9 in the example, which is no 2*d");
  EXPECT_EQ(Refusal("dim e\nx: [e, 2*e]\n", {{4, 10}}),
            "size 1 of x is 10 in the example, asked for 2*e, and e is 4 (size 0 of x)");
  EXPECT_EQ(Refusal("x: [4]\n", {{5}}), "size 0 of x is 5 in the example, asked for 4");
  EXPECT_EQ(Refusal("x: [dynamic]\n", {{1}}),
            "size 0 of x is 1 in the example: a dynamic size needs an example of 2 or more, or a "
            "range that begins at 0 or 1");
  EXPECT_EQ(Refusal("x: [4]\n", {{4, 4}}),
            "input x: the specification has 1 dimensions, the example 2");
}

// ---- what is asked for is asked for of every value

struct Program {
  std::string specification;
  std::vector<int64_t> example;
  std::vector<std::string> guards;  // of the sizes A, B, C... of the one input
  std::string corrected;            // "": holds
};

// Declares, asks for the guards and verifies: the corrected specification or "".
std::string CorrectedOf(const Program& p, const std::string& specification, ShapeEnv& env) {
  const absl::StatusOr<Specification> s = ParseSpecification(specification);
  if (!s.ok()) return s.status().ToString();
  const auto c = ExportConstraints::Declare(*s, {p.example}, env);
  if (!c.ok()) return c.status().ToString();
  for (const std::string& guard : p.guards) {
    ExprContext names;
    const Expr e = *symbolic::ParseExpr(guard, names);
    absl::flat_hash_map<Expr, Expr> sizes;
    for (const Expr& name : symbolic::FreeSymbols(e)) {
      sizes.emplace(name, c->sizes()[0][static_cast<size_t>(name.symbol_name()[0] - 'A')]);
    }
    const auto held = env.GuardTrue(symbolic::Substitute(e, sizes, env.context()), kAdd);
    if (!held.ok() || !*held) return "the example contradicts " + guard;
  }
  return c->Verify(env).ok() ? "" : ToString(c->Corrected(env));
}

// And what is printed is accepted when it is asked for.
TEST(CorrectedSpecification, IsAcceptedWhenItIsAskedFor) {
  const std::vector<Program> programs = {
      // sets
      {"dim a in {6, 26}\ndim b in {7}\nx: [a, b]\n",
       {26, 7},
       {"B <= A"},
       "dim b in {7}\nx: [26, b]\n"},
      {"dim a in {8, 16}\nx: [auto, a]\n", {8, 8}, {"A == B", "A < 10"}, "x: [auto, 8]\n"},
      {"dim a in {2, 11}\ndim b in {1, 3}\nx: [a, b]\n", {2, 3}, {"A != B"}, ""},
      {"dim a in {3, 8}\ndim b in {12, 28}\nx: [a, b]\n", {3, 12}, {"A*B != 34"}, ""},
      {"dim a in {8, 16}\ndim b in {8, 16, 24}\nx: [a, b]\n",
       {8, 8},
       {"A == B"},
       "dim a in {8, 16}\nx: [a, a]\n"},
      {"dim a\ndim b in {8, 16}\nx: [a, b]\n", {8, 8}, {"A == B"}, "dim a in {8, 16}\nx: [a, a]\n"},
      // automatic dims that bind named ones
      {"dim b = 2..10\nx: [auto, b]\n",
       {3, 8},
       {"A*B == 24"},
       "dim b in {2, 3, 4, 6, 8}\nx: [auto, b]\n"},
      {"dim b = 2..10\nx: [auto, b]\n", {16, 8}, {"A % B == 0"}, ""},
      // names and numbers
      {"dim batch = 2..64\ndim _batch = 2..64\nx: [batch, _batch]\n",
       {8, 8},
       {"A % 4 == 0"},
       "dim __batch = 1..16\ndim _batch = 2..64\nx: [4*__batch, _batch]\n"},
      {"dim a\nx: [a, 3000000000000*a]\n",
       {0, 0},
       {"A % 4000000 == 0"},
       "dim a\nwhere a % 4000000 == 0\nx: [a, 3000000000000*a]\n"},
      // remainders
      {"dim a = 2..17\nx: [a]\n", {14}, {"A % 8 == 6"}, "dim a in {6, 14}\nx: [a]\n"},
      {"dim a = 2..\nx: [a]\n", {14}, {"A % 8 == 6"}, "dim _a = 0..\nx: [8*_a + 6]\n"},
      {"dim a = 2..\nx: [a]\n",
       {13},
       {"A % 4 == 1", "A % 3 == 1"},
       "dim _a = 1..\nx: [12*_a + 1]\n"},
      {"dim a = 2..100\nx: [3*a]\n", {48}, {"A % 8 == 0"}, "dim _a = 1..12\nx: [24*_a]\n"},
      {"dim a\nx: [3*a]\n", {48}, {"A % 8 == 0"}, "dim _a = 1..\nx: [24*_a]\n"},
      // what ranges and sets say
      {"dim a = 2..9\nx: [a]\n", {6}, {"A == 6 or A == 7"}, "dim a = 6..7\nx: [a]\n"},
      {"dim a = 2..7\nx: [a]\n", {6}, {"A != 5"}, "dim a in {2, 3, 4, 6, 7}\nx: [a]\n"},
      {"dim a = 2..6\ndim b = 2..6\nx: [a, b]\n", {3, 5}, {"A*B == 15", "A < B"}, "x: [3, 5]\n"},
      // what they do not
      {"dim a = 2..64\nx: [a]\n", {6}, {"A // 2 != 5"}, "dim a = 2..64\nwhere a//2 != 5\nx: [a]\n"},
      {"dim a in {20}\ndim b = 0..30\nx: [a, b]\n",
       {20, 9},
       {"A != B"},
       "dim a in {20}\ndim b = 0..30\nwhere a != b\nx: [a, b]\n"},
      {"dim a\nx: [a]\n", {6}, {"A != 5"}, "dim a\nwhere a != 5\nx: [a]\n"},
      {"dim a = 2..9\ndim b = 2..9\nx: [a, b]\n",
       {3, 5},
       {"A < B"},
       "dim a = 2..8\ndim b = 3..9\nwhere a < b\nx: [a, b]\n"},
      {"dim a\ndim b\nx: [a, b]\n",
       {3, 5},
       {"A < B", "A*B < 1000"},
       "dim a = 2..333\ndim b = 3..499\nwhere a < b\nwhere a*b <= 999\nx: [a, b]\n"},
      {"dim a = 2..\ndim b = 2..\nx: [a, b]\n",
       {8, 16},
       {"2*A == B", "A % 4 == 0"},
       "dim _a = 1..\nx: [4*_a, 8*_a]\n"},
  };
  for (const Program& p : programs) {
    ShapeEnv env(std::make_shared<ExprContext>()), again(std::make_shared<ExprContext>());
    const std::string corrected = CorrectedOf(p, p.specification, env);
    EXPECT_EQ(corrected, p.corrected) << p.specification;
    if (!corrected.empty()) {
      EXPECT_EQ(CorrectedOf(p, corrected, again), "") << corrected;
    }
  }
}

TEST_F(ConstraintsTest, FactsAndAssertionsNarrowSets) {
  const ExportConstraints c = Declare("dim a in {8, 16}\nx: [a]\n", {{8}});
  const Expr u = env_.FreshUnbacked(symbolic::Source::Item("%n"), {0, 10});
  ASSERT_TRUE(env_.Check(Ge(u, c.sizes()[0][0]), kAdd).ok());
  const std::string message(c.Verify(env_).message());
  EXPECT_NE(message.find("asked for one of 8, 16, the program needs the constant 8"),
            std::string::npos)
      << message;
}

TEST_F(ConstraintsTest, SetsArePartOfTheProgram) {
  const ExportConstraints c = Declare("dim a in {3, 8}\ndim b in {2}\nx: [a, b]\n", {{8, 2}});
  EXPECT_TRUE(env_.IsKnownTrue(Ne(c.sizes()[0][0], 5)));
  const std::vector<symbolic::Source> layout = {symbolic::Source::InputSize(0, 0),
                                                symbolic::Source::InputSize(0, 1)};
  const auto p = symbolic::GuardPredicate::Compile(env_, layout);
  ASSERT_TRUE(p.ok()) << p.status();
  for (int64_t a = 0; a < 12; ++a) {
    for (int64_t b = 0; b < 4; ++b) {
      const int64_t values[] = {a, b};
      EXPECT_EQ(p->Holds(values), (a == 3 || a == 8) && b == 2) << a << ", " << b;
    }
  }
  EXPECT_TRUE(c.Verify(env_).ok()) << c.Verify(env_);
}

TEST_F(ConstraintsTest, DimsNamedAsAutomaticOnesAreTheirOwn) {
  const ExportConstraints c = Declare("dim s0 = 2..9\nx: [auto, s0]\n", {{5, 6}});
  EXPECT_NE(c.sizes()[0][0], c.sizes()[0][1]);
  const auto p = symbolic::GuardPredicate::Compile(
      env_, {symbolic::Source::InputSize(0, 0), symbolic::Source::InputSize(0, 1)});
  ASSERT_TRUE(p.ok()) << p.status();
  const int64_t example[] = {5, 6}, long_one[] = {20, 9}, outside[] = {5, 10};
  EXPECT_TRUE(p->Holds(example));
  EXPECT_TRUE(p->Holds(long_one));
  EXPECT_FALSE(p->Holds(outside));
}

TEST_F(ConstraintsTest, IntegersMayBeNegative) {
  const ExportConstraints c =
      Declare("dim k = -5..8\nn: auto\nm: -3\nl: dynamic(-5..8)\nj: k\ni: dynamic\n",
              {{-3}, {-3}, {-5}, {-2}, {1}});
  EXPECT_EQ(env_.RangeOf(c.sizes()[0][0]), Range{});
  EXPECT_EQ(env_.RangeOf(c.sizes()[2][0]), (Range{-5, 8}));
  EXPECT_EQ(env_.RangeOf(c.sizes()[3][0]), (Range{-5, 8}));
  EXPECT_TRUE(c.sizes()[4][0].is_symbol());
}

TEST_F(ConstraintsTest, ConditionsAreChecked) {
  EXPECT_EQ(Refusal("dim a\ndim b\nwhere a < b\nx: [a, b]\n", {{5, 3}}),
            "the example is not as asked for: where a < b");
  EXPECT_EQ(Refusal("dim a\ndim b\nwhere a < b\nx: [a]\n", {{5}}),
            "where a < b: no input has the dim b");
}

// A sample at the minimum of a range is no reason to specialise.
TEST_F(ConstraintsTest, AnExampleMayBeTheMinimum) {
  const ExportConstraints c = Declare("dim b = 1..8\nx: [b, dynamic(0..4)]\n", {{1, 0}});
  EXPECT_TRUE(c.sizes()[0][0].is_symbol());
  EXPECT_TRUE(c.sizes()[0][1].is_symbol());
  EXPECT_TRUE(c.Verify(env_).ok());
}

}  // namespace
}  // namespace lathe
