// Texts that are read and texts that are refused, each with its column.

#include "symbolic/parser.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolic/expr.h"

namespace lathe::symbolic {
namespace {

TEST(Parser, OperatorsOfIntegersTakeNoFloats) {
  ExprContext context;
  for (const char* text : {"2 + s0 // 0.1", "2 + s0 % 1.5", "2 + s0 & 0.5", "2 + s0 << 1.5"}) {
    const absl::StatusOr<Expr> e = ParseExpr(text, context);
    ASSERT_FALSE(e.ok()) << text;
    EXPECT_EQ(e.status().message().substr(0, 10), "column 8: ") << e.status();
  }
  EXPECT_FALSE(ParseSympy("Mod(s0, 0.5)", context).ok());
}

TEST(Parser, SaysWhereAValueIsLost) {
  ExprContext context;
  size_t column = 0;
  ASSERT_TRUE(ParseExpr("s0 + (s0 - 1) // (2 - 2) + 1", context, &column)->IsOverflow());
  EXPECT_EQ(column, 15u);
}

TEST(ParseSympy, PiecewiseAsItIsPrinted) {
  ExprContext context;
  const absl::StatusOr<Expr> e = ParseSympy("1 + Piecewise((s0, s0 > 3), ((2*s0), True))", context);
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(*e, *ParseExpr("1 + where(s0 > 3, s0, 2*s0)", context));
  for (const char* text : {"(s0, 3)", "Max((s0, 3), 4)", "Piecewise((s0, s0 > 3, 4))",
                           "Piecewise((s0, s0 > 3) + 1, (4, True))"}) {
    EXPECT_EQ(ParseSympy(text, context).status().message().substr(0, 7), "column ") << text;
  }
}

// Each would be printed as another expression, or is no size.
TEST(ParseSympy, NamesThatAreNoSymbolsAreRefused) {
  ExprContext context;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"Symbol('s0 + 1')*2", "column 8: this name of a symbol would not read back"},
      {"2*Symbol('true')", "column 10: this name of a symbol would not read back"},
      {"Symbol('a\nb')", "column 8: this name of a symbol would not read back"},
      {"s0 + nan", "column 6: 'nan' is no size"},
      {"zoo", "column 1: 'zoo' is no size"},
      {"2*pi", "column 3: 'pi' is no size"},
      {"Integer + 1", "column 9: expected '(' after Integer"},
      {"s0 = s1", "column 4: unexpected '=': an equality is Eq(a, b) or a == b"},
      {"Max(1 + s0 = 3, 4)", "column 12: unexpected '=': an equality is Eq(a, b) or a == b"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_EQ(ParseSympy(text, context).status().message(), message) << text;
  }
  EXPECT_TRUE(ParseSympy("Symbol('E')", context).ok());
  EXPECT_TRUE(ParseSympy("Max(s0, 3, evaluate=False)", context).ok());
  const auto any = [&](absl::string_view) -> absl::StatusOr<Expr> { return Expr(1); };
  EXPECT_EQ(ParseGuard("L['x'] == None", context, any).status().message(),
            "column 11: 'None' is no size");
  EXPECT_TRUE(ParseGuard("None.x == 1", context, any).ok());
}

TEST(ParseSympy, HostileTextsAreRefusedWithTheColumn) {
  ExprContext context;
  for (const char* text : {"",
                           "(",
                           ")",
                           "s0 +",
                           "Symbol(",
                           "Symbol('s0'",
                           "Symbol(s0",

                           "Max(",
                           "Integer(99999999999999999999999)",

                           "s0**99999999999999999999",
                           "'s0'",
                           "__import__('os').system('x')",
                           "s0[0]",
                           "lambda: 0",
                           "s0;s1",
                           "\x01",
                           "Eq(s0)",
                           "Mod(s0, 1, 2)",
                           "s0 if s1 else s2",
                           "1e400000*s0)"}) {
    const absl::Status status = ParseSympy(text, context).status();
    EXPECT_FALSE(status.ok()) << text;
    EXPECT_EQ(status.message().substr(0, 7), "column ") << text << ": " << status;
  }
}

TEST(ParseSympy, Piecewise) {
  ExprContext context;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"Piecewise(ExprCondPair(Integer(3), StrictGreaterThan(Symbol('s0'), Integer(5))), "
       "ExprCondPair(Integer(4), true))",
       "where(6 <= s0, 3, 4)"},
      {"Add(Integer(1), Piecewise(ExprCondPair(s0, s0 < 2), ExprCondPair(7, s0 < 9), "
       "ExprCondPair(s1, true)))",
       "where(s0 <= 1, s0, where(s0 <= 8, 7, s1)) + 1"},
  };
  for (const auto& [text, printed] : cases) {
    absl::StatusOr<Expr> e = ParseSympy(text, context);
    ASSERT_TRUE(e.ok()) << text << ": " << e.status();
    EXPECT_EQ(ToString(*e), printed);
  }
  EXPECT_FALSE(ParseSympy("ExprCondPair(1, true) + 1", context).ok());
  EXPECT_FALSE(ParseSympy("Piecewise(ExprCondPair(1))", context).ok());
}

TEST(ParseExpr, ErrorsNameTheColumn) {
  ExprContext context;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "column 1: expected an expression"},
      {"s0 +", "column 5: expected an expression"},
      {"(s0", "column 4: expected ')'"},
      {"s0)", "column 3: unexpected ')'"},
      {"s0 s1", "column 4: expected an operator, not 's1'"},
      {"foo(1)", "column 1: unknown function 'foo'"},
      {"min()", "column 1: min takes 1 or more arguments, not 0"},
      {"99999999999999999999", "column 1: the integer does not fit 64 bits"},
      {"s0 $ 1", "column 4: unexpected character '$'"},
      {"s0, s1", "column 3: unexpected ','"},
  };
  for (const auto& [text, message] : cases) {
    const absl::StatusOr<Expr> e = ParseExpr(text, context);
    ASSERT_FALSE(e.ok()) << text;
    EXPECT_EQ(e.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(std::string(e.status().message()), message);
  }
}

TEST(ParseSympy, FormsOfArchives) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"Symbol('s31', positive=True, integer=True)", "s31"},
      {"Mul(Integer(64), Symbol('s0', positive=True, integer=True))", "64*s0"},
      {"Pow(Symbol('s53', positive=True, integer=True), Integer(2))", "s53**2"},
      {"Min(Integer(32), Mul(Integer(32), Symbol('s53', positive=True)))", "min(32*s53, 32)"},
      {"GreaterThan(Symbol('u0', integer=True), Integer(0))", "0 <= u0"},
      {"LessThan(Symbol('u0', integer=True), Integer(32))", "u0 <= 32"},
      {"s0*FloorDiv(s1, 2) + 1", "s0*(s1//2) + 1"},
      {"Mul(Rational(1, 2), Symbol('s0'), Integer(4))", "2*s0"},
      {"Mul(Rational(1, 2), Symbol('s0'))", "s0/2"},
      {"s0*s1/s1", "s0*s1/s1"},
      {"floor(s0/2)", "s0//2"},
      {"ceiling(s0/2)", "(s0 + 1)//2"},
      {"Mul(Symbol('s0'), Pow(Integer(2), Integer(-1)))", "s0/2"},
      {"Add(Integer(-1), Symbol('s0'))", "s0 - 1"},
      {"ModularIndexing(s0, 4, 8)", "(s0//4) % 8"},
      {"PythonMod(s0, 4)", "s0 % 4"},
      {"IntTrueDiv(s0, 2)", "s0/2"},
      {"ToFloat(s0)*Float('0.5', precision=53)", "0.5*float(s0)"},
      {"And(Eq(s0, 4), Ne(s1, 2), evaluate=False)", "s0 == 4 and s1 != 2"},
      {"-int_oo", "-inf"},
      {"oo", "inf"},
  };
  ExprContext context;
  for (const auto& [text, expected] : cases) {
    const absl::StatusOr<Expr> e = ParseSympy(text, context);
    ASSERT_TRUE(e.ok()) << text << ": " << e.status();
    EXPECT_EQ(ToString(*e), expected) << text;
  }
  EXPECT_EQ(context.FindSymbol("u0")->symbol_kind(), SymbolKind::kUnbacked);
  const absl::Status unknown = ParseSympy("Gamma(s0)", context).status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(unknown.message(), "column 1: function Gamma is not supported");
}

}  // namespace
}  // namespace lathe::symbolic
