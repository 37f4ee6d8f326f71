// Expressions of a hundred thousand levels: nothing recurses over them.

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolic/evaluate.h"
#include "symbolic/parser.h"
#include "symbolic/shape_env.h"

namespace lathe::symbolic {
namespace {

Expr Parse(absl::string_view text, ExprContext& context) {
  const absl::StatusOr<Expr> e = ParseExpr(text, context);
  EXPECT_TRUE(e.ok()) << text.substr(0, 80) << ": " << e.status();
  return e.value_or(Expr::Overflow());
}

TEST(Depth, HundredThousandLevelsNeedNoStack) {
  constexpr int kDepth = 100000;
  ExprContext context;
  std::string nested, closing, sum = "s0", parentheses;
  for (int i = 0; i < kDepth; ++i) {
    absl::StrAppend(&nested, i % 2 == 0 ? "min(s0, 1 + " : "max(s1, -");
    closing += ')';
    absl::StrAppend(&sum, " + s", i);
    parentheses += '(';
  }
  const Expr deep = Parse(nested + "s2" + closing, context);
  EXPECT_EQ(Parse(ToString(deep), context), deep);
  EXPECT_TRUE(Evaluate(deep, [](const Expr&) { return std::optional<int64_t>(1); }).ok());
  EXPECT_EQ(FreeSymbols(deep).size(), 3u);
  EXPECT_NE(Substitute(deep, {{context.Symbol("s2"), Expr(5)}}, context), deep);
  std::string opening, rest;
  for (int i = 0; i < kDepth; ++i) {
    opening += '(';
    absl::StrAppend(&rest, ") % ", 400000 - 2 * i, i % 3 == 0 ? " + 2*s1" : "");
  }
  const Expr modular = Parse(absl::StrCat("(", opening, "s0", rest, ")//2"), context);
  EXPECT_TRUE(Evaluate(modular, [](const Expr&) { return std::optional<int64_t>(5); }).ok());
  const Expr wide = Parse(sum, context);
  EXPECT_EQ(Parse(ToString(wide), context), wide);
  EXPECT_FALSE(ParseExpr(parentheses, context).ok());
  Expr chain = 0;
  for (int i = 0; i < kDepth / 10; ++i) chain = chain + context.Symbol(absl::StrCat("s", i)) / 3;
  EXPECT_EQ(Parse(ToString(chain), context), chain);
}

TEST(Depth, HundredThousandLevelsAreProvedWithoutStack) {
  constexpr int kDepth = 100000;
  std::string nested, closing, sympy, nots, ands = "s0 <= 1";
  for (int i = 0; i < kDepth; ++i) {
    absl::StrAppend(&nested, i % 2 == 0 ? "min(s0, 1 + " : "max(s1, -");
    absl::StrAppend(&sympy, i % 2 == 0 ? "Max(s0, 1 + " : "Min(s1, -");
    closing += ')';
    nots += "not ";
    absl::StrAppend(&ands, " and s", i, " <= ", i + 1);
  }
  ShapeEnv env(std::make_shared<ExprContext>());
  const Expr deep = Parse(nested + "s2" + closing, env.context());
  EXPECT_TRUE(env.AddFact(Le(0, deep)).ok());
  EXPECT_FALSE(env.IsKnownTrue(Le(deep, 5)));
  EXPECT_TRUE(env.IsKnownTrue(Le(-1, deep)));
  EXPECT_FALSE(env.Simplify(deep).IsOverflow());
  EXPECT_EQ(env.KnownDivisor(deep), 1);
  EXPECT_GE(env.RangeOf(deep).lower, 0);
  EXPECT_TRUE(ParseSympy(sympy + "s2" + closing, env.context()).ok());
  const absl::Status cut = ParseSympy(sympy + "s2", env.context()).status();
  EXPECT_EQ(cut.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cut.message().substr(0, 7), "column ");
  EXPECT_EQ(Parse(nots + "s0 <= 1", env.context()), Parse("s0 <= 1", env.context()));
  EXPECT_TRUE(env.AddFact(Parse(ands, env.context())).ok());
  EXPECT_TRUE(env.IsKnownTrue(Le(env.context().Symbol("s5"), 6)));
}

}  // namespace
}  // namespace lathe::symbolic
