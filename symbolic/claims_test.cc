// Claims with recorded answers: none may be answered wrongly, 95 % of the decidable ones (of some
// files 99 %) must be decided.

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "symbolic/parser.h"
#include "symbolic/shape_env.h"

namespace lathe::symbolic {
namespace {

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line[0] != '#') lines.push_back(line);
  }
  return lines;
}

Expr Parse(absl::string_view text, ExprContext& context) {
  const absl::StatusOr<Expr> e = ParseExpr(text, context);
  EXPECT_TRUE(e.ok()) << text << ": " << e.status();
  return e.value_or(Expr::Overflow());
}

// At the commas outside parentheses.
std::vector<std::string> SplitFacts(const std::string& text) {
  std::vector<std::string> facts;
  int depth = 0;
  std::string fact;
  for (const char ch : text + ",") {
    depth += ch == '(' ? 1 : ch == ')' ? -1 : 0;
    if (ch == ',' && depth == 0) {
      if (fact.find_first_not_of(' ') != std::string::npos) facts.push_back(fact);
      fact.clear();
    } else {
      fact += ch;
    }
  }
  return facts;
}

// "a, b |- claim => answer"
struct Claim {
  std::vector<std::string> facts;
  std::string claim, answer;
};

Claim ParseClaim(const std::string& line) {
  const std::vector<std::string> sides = absl::StrSplit(line, " |- ");
  const std::vector<std::string> right = absl::StrSplit(sides.at(1), " => ");
  return {SplitFacts(sides.at(0)), right.at(0), right.at(1)};
}

std::string Answer(const ShapeEnv& env, const Expr& claim) {
  const bool yes = env.IsKnownTrue(claim), no = env.IsKnownFalse(claim);
  EXPECT_FALSE(yes && no) << ToString(claim);
  return yes ? "true" : no ? "false" : "unknown";
}

void CheckClaims(const std::string& path, size_t least_percent = 95) {
  const std::vector<std::string> lines = LinesOf(path);
  ASSERT_GT(lines.size(), 10u);
  size_t decided = 0, decidable = 0;
  for (const std::string& line : lines) {
    const Claim c = ParseClaim(line);
    ShapeEnv env(std::make_shared<ExprContext>());
    for (const std::string& fact : c.facts) {
      ASSERT_TRUE(env.AddFact(Parse(fact, env.context())).ok()) << line;
    }
    const std::string answer = Answer(env, Parse(c.claim, env.context()));
    decidable += c.answer != "unknown";
    if (answer == "unknown" && c.answer != "unknown") {
      std::printf("undecided: %s\n", line.c_str());
      continue;
    }
    EXPECT_EQ(answer, c.answer) << line;
    decided += answer != "unknown";
  }
  EXPECT_GE(decided * 100, decidable * least_percent) << decided << " of " << decidable;
}

TEST(Claims, Recorded) { CheckClaims("third_party/vectors/claims.txt"); }
TEST(Claims, Own) { CheckClaims("symbolic/testdata/claims.txt"); }
TEST(Claims, DecidedByTrying) { CheckClaims("symbolic/testdata/tried_claims.txt"); }
TEST(Claims, MadeAtRandom) { CheckClaims("symbolic/testdata/made_claims.txt"); }
// "contradiction: a, b": one of the facts is refused; "possible: a, b": none is.
TEST(Claims, ContradictionsAreRefused) {
  for (const std::string& line : LinesOf("symbolic/testdata/contradictions.txt")) {
    const std::vector<std::string> parts = absl::StrSplit(line, ": ");
    ShapeEnv env(std::make_shared<ExprContext>());
    std::vector<Expr> facts;
    bool refused = false;
    for (const std::string& fact : SplitFacts(parts.at(1))) {
      facts.push_back(Parse(fact, env.context()));
      const absl::Status added = env.AddFact(facts.back());
      refused = !added.ok();
      if (!refused) continue;
      EXPECT_EQ(added.code(), absl::StatusCode::kOutOfRange) << added;
      EXPECT_NE(added.message().find("contradicts what is known"), std::string::npos) << added;
      break;
    }
    EXPECT_EQ(refused, parts.at(0) == "contradiction") << line;
  }
}

// Squares, powers, congruences, products of sums, choices, rounded floats.
TEST(Claims, OfCombinedKinds) { CheckClaims("symbolic/testdata/kinds_claims.txt", 99); }
TEST(Claims, OfNewKinds) { CheckClaims("symbolic/testdata/new_kinds.txt"); }
// Written by shape: convolutions, tiles, offsets, slices, orders, truncation, bits, powers, floats.
TEST(Claims, OfTemplates) { CheckClaims("symbolic/testdata/template_claims.txt"); }
TEST(Claims, OfOtherShapes) { CheckClaims("symbolic/testdata/more_claims.txt"); }

}  // namespace
}  // namespace lathe::symbolic
