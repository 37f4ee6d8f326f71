#include <string>
#include <vector>

#include "capture/constraints/export_constraints.h"
#include "capture/constraints/specification.h"
#include "gtest/gtest.h"

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
      "x: [batch, 2*batch + 1, auto, dynamic(2..8), static, 4]\n"
      "n: batch\n"
      "y: [heads, 3*batch - 1, any, long]\n"
      "z: []\n";
  EXPECT_EQ(ToString(Parse(text)), text);
  EXPECT_EQ(ToString(Parse("# sizes\n  dim a=2 .. 3 # of a\nx:[ a*2+1 ]\n")),
            "dim a = 2..3\nx: [2*a + 1]\n");
}

TEST(SpecificationTest, ErrorsNameLineAndColumn) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"dim a = 4..2", "line 1, column 8: the upper end of a range must exceed its lower end"},
      {"dim a = 4..4", "line 1, column 8: the upper end of a range must exceed its lower end"},
      {"dim a = -4..4", "line 1, column 8: a size is not negative"},
      {"dim a\ndim a", "line 2, column 4: the name 'a' is taken"},
      {"x: [b]", "line 1, column 5: unknown dim 'b'"},
      {"dim b\nx: [-1*b]", "line 2, column 8: a dim is multiplied by a positive integer only"},
      {"dim b\nx: [b - 1]", "line 2, column 5: the smallest b - 1 is negative or too large"},
      {"dim b\nx: [b*b]", "line 2, column 7: expected an integer of 64 bits"},
      {"x: [4", "line 1, column 6: expected ']'"},
      {"x [4]", "line 1, column 3: expected ':'"},
      {"x: [4] 5", "line 1, column 8: unexpected text"},
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
            "  seq (size 1 of x): asked for 2.., the program needs 3..\n"
            "    seq % 3 == 0: guard (asked by %view at m.py:7)\n"
            "  seq (size 1 of x): asked for 2.., the program needs a multiple of 3\n"
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

// A sample at the minimum of a range is no reason to specialise.
TEST_F(ConstraintsTest, AnExampleMayBeTheMinimum) {
  const ExportConstraints c = Declare("dim b = 1..8\nx: [b, dynamic(0..4)]\n", {{1, 0}});
  EXPECT_TRUE(c.sizes()[0][0].is_symbol());
  EXPECT_TRUE(c.sizes()[0][1].is_symbol());
  EXPECT_TRUE(c.Verify(env_).ok());
}

}  // namespace
}  // namespace lathe
