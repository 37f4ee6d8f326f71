#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "symbolic/evaluate.h"
#include "symbolic/expr.h"
#include "symbolic/expr_node.h"
#include "symbolic/parser.h"
#include "symbolic/shape_env.h"

namespace lathe::symbolic {
namespace {

// LATHE_FUZZ_SEED=n: other cases than those of every run, and twenty times as many.
uint32_t Seed(uint32_t usual) {
  const char* seed = std::getenv("LATHE_FUZZ_SEED");
  return seed == nullptr ? usual : usual + static_cast<uint32_t>(std::atoi(seed));
}
int Rounds(int usual) { return std::getenv("LATHE_FUZZ_SEED") == nullptr ? usual : usual * 20; }

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

TEST(Simplify, CasesOfTheDataFile) {
  for (const std::string& line : LinesOf("symbolic/testdata/simplify.txt")) {
    const std::vector<std::string> parts = absl::StrSplit(line, " => ");
    ASSERT_EQ(parts.size(), 2u) << line;
    ExprContext context;
    const Expr e = Parse(parts[0], context);
    EXPECT_EQ(ToString(e), parts[1]) << line;
    EXPECT_EQ(Parse(ToString(e), context), e) << line;
  }
}

TEST(Expr, EqualPolynomialsAreOnePointer) {
  ExprContext context;
  const Expr s0 = context.Symbol("s0"), s1 = context.Symbol("s1");
  EXPECT_EQ((s0 * 2 + 4) / 2, s0 + 2);
  EXPECT_EQ((s0 + s1) * (s0 + s1), s0 * s0 + 2 * s1 * s0 + s1 * s1);
  EXPECT_EQ(s0 + s1 - s0, s1);
  EXPECT_EQ(Ge(s0, 2), Not(Lt(s0, 2)));
  EXPECT_EQ(Expr(4), Expr(2) + 2);
  EXPECT_EQ(FreeSymbols(s1 * 2 + s0), (std::vector<Expr>{s0, s1}));
  EXPECT_TRUE((Expr(INT64_MAX) + 1).IsOverflow());
  EXPECT_TRUE(((s0 * INT64_MAX) * 2 + 1).IsOverflow());
}

TEST(Expr, TextDoesNotDependOnTheOrderOfCreation) {
  ExprContext a, b;
  b.Symbol("s9");
  Parse("s1*s0 + max(s1, s0)", b);
  const std::string text = "s0//3 + min(s0, s1//2) + s1 % 4 + s0*s1";
  EXPECT_EQ(ToString(Parse(text, a)), ToString(Parse(text, b)));
}

// Random texts over small symbols, with their meaning computed apart from the library.
struct Sample {
  std::string text;
  std::optional<int64_t> value;  // none: undefined
};

class SampleMaker {
 public:
  SampleMaker(uint32_t seed, std::vector<int64_t> values)
      : random_(seed), values_(std::move(values)) {}

  Sample Make(int depth) {
    if (depth == 0 || Roll(6) == 0) return Leaf();
    switch (Roll(13)) {
      case 0:
      case 1:
        return Binary(" + ", depth, [](int64_t a, int64_t b) { return Some(a + b); });
      case 2:
        return Binary(" - ", depth, [](int64_t a, int64_t b) { return Some(a - b); });
      case 3:
      case 4:
        return Binary("*", depth, [](int64_t a, int64_t b) { return Some(a * b); });
      case 5:
      case 6:
        return Binary("//", depth,
                      [](int64_t a, int64_t b) { return b ? Some(Floor(a, b)) : None(); });
      case 7:
      case 8:
        return Binary(" % ", depth,
                      [](int64_t a, int64_t b) { return b ? Some(a - b * Floor(a, b)) : None(); });
      case 9:
        return Call("min", depth, [](int64_t a, int64_t b) { return Some(std::min(a, b)); });
      case 10:
        return Call("max", depth, [](int64_t a, int64_t b) { return Some(std::max(a, b)); });
      case 11:
        return Choice(depth);
      default:
        return Other(depth);
    }
  }

  Sample MakeCondition(int depth) {
    if (depth > 0 && Roll(4) == 0) {
      const Sample a = MakeCondition(depth - 1), b = MakeCondition(depth - 1);
      const bool both = Roll(2) == 0;
      Sample r{absl::StrCat("((", a.text, both ? ") and (" : ") or (", b.text, "))"), None()};
      if (a.value && b.value) r.value = both ? *a.value && *b.value : *a.value || *b.value;
      return r;
    }
    if (depth > 0 && Roll(6) == 0) {
      const Sample a = MakeCondition(depth - 1);
      return {absl::StrCat("(not ", a.text, ")"), a.value ? Some(!*a.value) : None()};
    }
    const Sample a = Make(depth), b = Make(depth);
    const char* const texts[] = {"==", "!=", "<", "<=", ">", ">="};
    const int op = Roll(6);
    Sample r{absl::StrCat("(", a.text, " ", texts[op], " ", b.text, ")"), None()};
    if (a.value && b.value) {
      const int64_t x = *a.value, y = *b.value;
      const bool results[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
      r.value = results[op];
    }
    return r;
  }

 private:
  static std::optional<int64_t> Some(int64_t v) { return v; }
  static std::optional<int64_t> None() { return std::nullopt; }
  static int64_t Floor(int64_t a, int64_t b) {
    const int64_t q = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
  }
  int Roll(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  Sample Leaf() {
    if (Roll(3) == 0) {
      const int64_t v = Roll(3) == 0 ? Roll(40) - 20 : Roll(8) - 1;
      return {absl::StrCat("(", v, ")"), v};
    }
    const int i = Roll(static_cast<int>(values_.size()));
    return {absl::StrCat("s", i), values_[static_cast<size_t>(i)]};
  }

  template <typename F>
  Sample Binary(const char* op, int depth, F f) {
    const Sample a = Make(depth - 1), b = Make(depth - 1);
    Sample r{absl::StrCat("(", a.text, op, b.text, ")"), None()};
    if (a.value && b.value) r.value = f(*a.value, *b.value);
    return r;
  }
  template <typename F>
  Sample Call(const char* name, int depth, F f) {
    const Sample a = Make(depth - 1), b = Make(depth - 1);
    Sample r{absl::StrCat(name, "(", a.text, ", ", b.text, ")"), None()};
    if (a.value && b.value) r.value = f(*a.value, *b.value);
    return r;
  }
  Sample Choice(int depth) {
    const Sample c = MakeCondition(depth - 1), a = Make(depth - 1), b = Make(depth - 1);
    Sample r{absl::StrCat("where(", c.text, ", ", a.text, ", ", b.text, ")"), None()};
    if (c.value && a.value && b.value) r.value = *c.value ? *a.value : *b.value;
    return r;
  }
  Sample Other(int depth) {
    switch (Roll(7)) {
      case 0:
        return Call("truncdiv", depth,
                    [](int64_t a, int64_t b) { return b ? Some(a / b) : None(); });
      case 1:
        return Call("truncmod", depth,
                    [](int64_t a, int64_t b) { return b ? Some(a % b) : None(); });
      case 2:
        return Binary(" & ", depth, [](int64_t a, int64_t b) { return Some(a & b); });
      case 3:
        return Binary(" | ", depth, [](int64_t a, int64_t b) { return Some(a | b); });
      case 4:
        return Binary(" ^ ", depth, [](int64_t a, int64_t b) { return Some(a ^ b); });
      case 5:
        return Call("ceildiv", depth,
                    [](int64_t a, int64_t b) { return b ? Some(-Floor(-a, b)) : None(); });
      default: {
        const Sample a = Make(depth - 1);
        return {absl::StrCat("abs(", a.text, ")"), a.value ? Some(std::abs(*a.value)) : None()};
      }
    }
  }

  std::mt19937 random_;
  std::vector<int64_t> values_;
};

// Expressions are small enough that nothing leaves 64 bits.
TEST(Simplify, KeepsTheMeaningOfRandomExpressions) {
  std::mt19937 random(Seed(20240607));
  int defined = 0;
  for (int i = 0; i < Rounds(15000); ++i) {
    const uint32_t seed = random();
    std::vector<int64_t> values;
    for (int s = 0; s < 3; ++s) values.push_back(static_cast<int64_t>(random() % 13) - 5);
    SampleMaker maker(seed, values);
    const Sample sample = i % 3 == 0 ? maker.MakeCondition(3) : maker.Make(4);
    if (!sample.value) continue;
    ++defined;
    ExprContext context;
    const Expr e = Parse(sample.text, context);
    const absl::StatusOr<int64_t> value = Evaluate(e, [&](const Expr& symbol) {
      int64_t index = 0;
      EXPECT_TRUE(absl::SimpleAtoi(symbol.symbol_name().substr(1), &index));
      return std::optional<int64_t>(values[static_cast<size_t>(index)]);
    });
    ASSERT_TRUE(value.ok()) << sample.text << " -> " << ToString(e) << ": " << value.status();
    ASSERT_EQ(*value, *sample.value) << sample.text << " -> " << ToString(e) << " at " << values[0]
                                     << " " << values[1] << " " << values[2];
    ASSERT_TRUE(e.node() == nullptr || IntrinsicRange(e).Contains(*value)) << sample.text;
    ASSERT_EQ(Parse(ToString(e), context), e) << sample.text << " -> " << ToString(e);
    ASSERT_EQ(ToString(Substitute(e, {}, context)), ToString(e));
  }
  EXPECT_GT(defined, 7000);
}

TEST(Substitute, ReplacesAtOnceAndSimplifies) {
  ExprContext context, other;
  const Expr s0 = context.Symbol("s0"), s1 = context.Symbol("s1");
  const Expr e = s0 * s1 + s0 / 2;
  EXPECT_EQ(Substitute(e, {{s0, s1}, {s1, s0}}, context), s0 * s1 + s1 / 2);
  EXPECT_EQ(Substitute(e, {{s0, Expr(4)}}, context), 4 * s1 + 2);
  EXPECT_EQ(ToString(Substitute(e, {{s0, 2 * s1}}, other)), "2*s1**2 + s1");
}

TEST(Evaluate, NamesWhatIsWrong) {
  ExprContext context;
  const Expr s0 = context.Symbol("s0"), s1 = context.Symbol("s1");
  const auto zero = [](const Expr&) { return std::optional<int64_t>(0); };
  const auto huge = [](const Expr&) { return std::optional<int64_t>(INT64_MAX); };
  const auto none = [](const Expr&) { return std::optional<int64_t>(); };
  EXPECT_EQ(Evaluate(s0 / s1, zero).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Evaluate(s0 * s1, huge).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(*Evaluate(s0 * 4 - s1 * 4 + 1, huge), 1);
  EXPECT_EQ(Evaluate(s0 + 1, none).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(*Evaluate(Where(Eq(s1, 0), 7, s0 / s1), zero), 7);
  EXPECT_EQ(*EvaluateFloat(TrueDiv(s0 + 1, 4), zero), 0.25);
}

TEST(ParseGuard, PythonOverSources) {
  ExprContext context;
  const auto resolve = [&](absl::string_view source) -> absl::StatusOr<Expr> {
    if (source == "L['x'].size()[1]") return context.Symbol("s0");
    if (source == "L['args'][0].size()[0]") return context.Symbol("s1");
    return absl::NotFoundError(absl::StrCat("no source ", source));
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"L['x'].size()[1] == L['args'][0].size()[0]", "s0 == s1"},
      {"((L['x'].size()[1]*L['args'][0].size()[0]) % L['x'].size()[1]) == 0", "s0*s1 % s0 == 0"},
      {"2 <= L['x'].size()[1] <= 64 and not L['x'].size()[1] == 3",
       "s0 != 3 and s0 <= 64 and 2 <= s0"},
      {"min(8*L['x'].size()[1], 16*L['x'].size()[1]) == (8*L['x'].size()[1])",
       "8*s0 == min(8*s0, 16*s0)"},
      {"math.floor(L['x'].size()[1] / 2) == 1", "s0 <= 3 and 2 <= s0"},
  };
  for (const auto& [text, expected] : cases) {
    const absl::StatusOr<Expr> e = ParseGuard(text, context, resolve);
    ASSERT_TRUE(e.ok()) << text << ": " << e.status();
    EXPECT_EQ(ToString(*e), expected) << text;
  }
  const absl::Status missing = ParseGuard("1 <= L['y'].size()[0]", context, resolve).status();
  EXPECT_EQ(missing.message(), "column 6: no source L['y'].size()[0]");
}

TEST(ShapeEnv, RandomFactsNeverProveWhatIsFalse) {
  std::mt19937 random(Seed(77));
  const std::vector<int64_t> domain = {-4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 12};
  int known = 0, contradictions = 0;
  for (int round = 0; round < Rounds(2500); ++round) {
    const uint32_t seed = random();
    auto context = std::make_shared<ExprContext>();
    ShapeEnv env(context);
    const std::vector<Expr> symbols = {context->Symbol("s0"), context->Symbol("s1")};
    std::vector<Range> ranges;
    for (const Expr& s : symbols) {
      const int64_t lower = static_cast<int64_t>(random() % 8) - 4;
      ranges.push_back({lower, lower + static_cast<int64_t>(random() % 12)});
      env.AddBacked(s.symbol_name(), Source(), std::nullopt, ranges.back());
    }
    SampleMaker maker(seed, {0, 0});
    std::vector<Expr> facts;
    const uint32_t fact_count = random() % 4;
    for (uint32_t i = 0; i < fact_count; ++i)
      facts.push_back(Parse(maker.MakeCondition(2).text, *context));
    std::vector<std::vector<int64_t>> points;
    std::vector<int64_t> v(2);
    const auto at = [&](const Expr& e) {
      return Evaluate(
          e, [&](const Expr& s) { return std::optional<int64_t>(v[s == symbols[0] ? 0 : 1]); });
    };
    for (v[0] = ranges[0].lower; v[0] <= ranges[0].upper; ++v[0]) {
      for (v[1] = ranges[1].lower; v[1] <= ranges[1].upper; ++v[1]) {
        bool all = true;
        for (const Expr& f : facts) {
          const absl::StatusOr<int64_t> value = at(f);
          all = all && value.ok() && *value != 0;
        }
        if (all) points.push_back(v);
      }
    }
    std::string text;
    for (const Expr& f : facts) {
      absl::StrAppend(&text, ToString(f), ", ");
      if (f.IsOverflow()) continue;
      const absl::Status added = env.AddFact(f);
      if (added.ok()) continue;
      ++contradictions;
      ASSERT_TRUE(points.empty()) << text << " at " << points[0][0] << ", " << points[0][1];
    }
    if (points.empty()) continue;
    for (int i = 0; i < 12; ++i) {
      const bool condition = i % 2 == 0;
      const Expr e = Parse(condition ? maker.MakeCondition(2).text : maker.Make(3).text, *context);
      const Expr simple = env.Simplify(e);
      const Range range = env.RangeOf(e);
      const int64_t divisor = env.KnownDivisor(e);
      const bool yes = condition && env.IsKnownTrue(e), no = condition && env.IsKnownFalse(e);
      known += yes || no;
      for (const std::vector<int64_t>& point : points) {
        v = point;
        const absl::StatusOr<int64_t> value = at(e);
        if (!value.ok()) continue;
        const std::string where =
            absl::StrCat(text, "|- ", ToString(e), " = ", *value, " at ", v[0], ", ", v[1]);
        ASSERT_FALSE(yes && *value == 0) << where;
        ASSERT_FALSE(no && *value != 0) << where;
        const absl::StatusOr<int64_t> simplified = at(simple);
        ASSERT_TRUE(simplified.ok()) << where << " simplified " << ToString(simple);
        ASSERT_EQ(*value, *simplified) << where << " simplified " << ToString(simple);
        if (condition) continue;
        ASSERT_TRUE(range.Contains(*value))
            << where << " range " << range.lower << " " << range.upper;
        ASSERT_TRUE(divisor == 0 ? *value == 0 : *value % divisor == 0)
            << where << " divisor " << divisor;
      }
    }
  }
  EXPECT_GT(known, 1000);
  EXPECT_GT(contradictions, 10);
}

TEST(ShapeEnv, GuardsAndUnbackedSymbols) {
  ShapeEnv env(std::make_shared<ExprContext>());
  const Expr s0 = env.AddBacked("s0", Source::InputSize(0, 1), 8, {2, 64});
  const Expr u0 = env.FreshUnbacked(Source::Item("%nonzero"), {0, Range::kMax});
  EXPECT_EQ(ToString(u0), "u0");
  const Asker asker{"%add", "m.py:3"};
  EXPECT_TRUE(*env.GuardTrue(Ge(s0, 2), asker));
  EXPECT_TRUE(env.guards().empty());
  EXPECT_TRUE(*env.GuardTrue(Lt(s0, 16), asker));
  EXPECT_FALSE(*env.GuardTrue(Eq(s0, 3), asker));
  EXPECT_EQ(env.guards().size(), 2u);
  EXPECT_EQ(env.guards()[1].condition, Ne(s0, 3));
  EXPECT_EQ(env.RangeOf(s0), (Range{2, 15}));
  const absl::Status unbacked = env.GuardTrue(Eq(u0, 1), asker).status();
  EXPECT_EQ(unbacked.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(unbacked.message()),
            "the data-dependent condition u0 == 1 cannot be decided: u0 is item of %nonzero and "
            "has no value before the program runs (asked by %add at m.py:3)");
  EXPECT_TRUE(env.TrueOrDefault(Eq(u0, 1), true, asker));
  EXPECT_FALSE(env.TrueOrDefault(Eq(u0, 1), false, asker));
  EXPECT_EQ(env.guards().size(), 2u);
  EXPECT_TRUE(env.TrueOrDefault(Ge(u0, 0), false, asker));
  ASSERT_TRUE(env.AddFact(Eq(u0, s0 * 2)).ok());
  EXPECT_EQ(env.Simplify(u0 + 1), s0 * 2 + 1);
  EXPECT_EQ(env.KnownDivisor(u0), 2);
  const absl::Status bad = env.AddFact(Ge(s0, 17));
  EXPECT_EQ(bad.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(
      std::string(bad.message()),
      "fact 17 <= s0 contradicts what is known: s0 in [2, 64], s0 <= 15, s0 != 3, u0 == 2*s0");
}

}  // namespace
}  // namespace lathe::symbolic
