// Long sums and products share arrays of operands: whatever way one is reached, it is one node with
// the operands it should have.

#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "symbolic/expr.h"
#include "symbolic/expr_node.h"
#include "symbolic/shape_env.h"

namespace lathe::symbolic {
namespace {

std::vector<Expr> Symbols(ExprContext& context, int n) {
  std::vector<Expr> symbols;
  for (int i = 0; i < n; ++i) symbols.push_back(context.Symbol(absl::StrCat("s", i)));
  return symbols;
}

struct Known {
  Expr e;
  std::map<int, int64_t> of;  // coefficients, or exponents, by symbol
};

// Every expression is made from an earlier one by a symbol more or less, or by what two differ in.
void WalkAndCompare(bool products, unsigned seed) {
  ExprContext context;
  const std::vector<Expr> s = Symbols(context, 40);
  std::mt19937 random(seed);
  const auto roll = [&](size_t n) { return static_cast<size_t>(random() % n); };
  std::vector<Known> known = {{products ? Expr(1) : Expr(0), {}}};
  const auto anew = [&](const std::map<int, int64_t>& of) {
    std::vector<Expr> parts;
    for (const auto& [i, n] : of) {
      const Expr& x = s[static_cast<size_t>(i)];
      parts.push_back(products ? Pow(x, n) : x * n);
    }
    return products ? Product(parts) : Sum(parts);
  };
  for (int step = 0; step < 4000; ++step) {
    // Mostly the latest, so that long ones come about; mostly the symbol that comes next.
    Known next = known[roll(4) == 0 ? roll(known.size()) : known.size() - 1];
    const int last = next.of.empty() ? -1 : next.of.rbegin()->first;
    const int i =
        roll(3) == 0 ? static_cast<int>(roll(s.size())) : (last + 1) % static_cast<int>(s.size());
    const Expr& x = s[static_cast<size_t>(i)];
    if (roll(5) == 0 && !products) {
      const Known& other = known[roll(known.size())];
      next.e = next.e - other.e;
      for (const auto& [j, n] : other.of) {
        if ((next.of[j] -= n) == 0) next.of.erase(j);
      }
    } else if (roll(6) == 0 && !products) {
      next.e = next.e - x;
      if (--next.of[i] == 0) next.of.erase(i);
    } else {
      next.e = products ? next.e * x : next.e + x;
      if (++next.of[i] == 0) next.of.erase(i);
    }
    ASSERT_EQ(next.e, anew(next.of)) << ToString(next.e) << " is not " << ToString(anew(next.of));
    ASSERT_EQ(ToString(next.e), ToString(anew(next.of)));
    const bool restart = roll(60) == 0;
    known.push_back(restart ? known[0] : std::move(next));
  }
}

TEST(SharedOperands, SumsAreOneNodeByAllWays) {
  for (unsigned seed = 0; seed < 5; ++seed) WalkAndCompare(/*products=*/false, seed);
}
TEST(SharedOperands, ProductsAreOneNodeByAllWays) {
  for (unsigned seed = 0; seed < 5; ++seed) WalkAndCompare(/*products=*/true, seed);
}

TEST(SharedOperands, WhatIsLeftOfAProduct) {
  ShapeEnv env(std::make_shared<ExprContext>());
  std::vector<Expr> s;
  for (int i = 0; i < 24; ++i) {
    s.push_back(env.AddBacked(absl::StrCat("s", i), Source::InputSize(0, i), 8, {1, Range::kMax}));
  }
  const Expr all = Product(s);
  for (size_t i = 0; i <= s.size(); ++i) {
    const Expr first = Product(absl::MakeConstSpan(s).subspan(0, i));
    const Expr rest = Product(absl::MakeConstSpan(s).subspan(i));
    EXPECT_EQ(env.Simplify(all / first), rest);
    EXPECT_EQ(env.Simplify(all / rest), first);
    EXPECT_EQ(first * rest, all);
    if (i == s.size()) break;
    std::vector<Expr> others = s;
    others.erase(others.begin() + static_cast<int64_t>(i));
    EXPECT_EQ(env.Simplify(all / s[i]), Product(others));
    EXPECT_EQ(env.Simplify(3 * all / s[i]), 3 * Product(others));
    EXPECT_FALSE(env.IsKnownTrue(Eq(Mod(Product(others), s[i]), 0)));
  }
}

// Bounds of long sums follow what is learnt, whatever was kept of them before.
TEST(SharedOperands, RangesFollowFacts) {
  ShapeEnv env(std::make_shared<ExprContext>());
  std::vector<Expr> s;
  for (int i = 0; i < 30; ++i) {
    s.push_back(env.AddBacked(absl::StrCat("s", i), Source::InputSize(0, i), 8, {2, 100}));
  }
  std::vector<Expr> prefixes = {s[0]};
  for (size_t i = 1; i < s.size(); ++i) prefixes.push_back(prefixes.back() + s[i]);
  for (size_t i = 0; i < s.size(); ++i) {
    const int64_t n = static_cast<int64_t>(i) + 1;
    EXPECT_EQ(env.RangeOf(prefixes[i]), (Range{2 * n, 100 * n})) << i;
    EXPECT_EQ(env.RangeOf(prefixes.back() - prefixes[i]), (Range{2 * (30 - n), 100 * (30 - n)}));
  }
  ASSERT_TRUE(env.AddFact(Le(s[3], 10)).ok());
  EXPECT_EQ(env.RangeOf(prefixes[20]), (Range{42, 2010}));
  ASSERT_TRUE(env.AddFact(Le(prefixes[20], 500)).ok());
  EXPECT_EQ(env.RangeOf(prefixes[20]), (Range{42, 500}));
  ASSERT_TRUE(env.AddFact(Eq(s[3], 7)).ok());
  EXPECT_EQ(env.RangeOf(prefixes[5]), (Range{17, 507}));
  EXPECT_EQ(env.Simplify(prefixes[5]), prefixes[2] + s[4] + s[5] + 7);
}

TEST(SharedOperands, ManyThreadsGrowOneSum) {
  ExprContext context;
  const std::vector<Expr> s = Symbols(context, 200);
  std::vector<Expr> results(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      Expr sum = 0;
      for (size_t i = 0; i < s.size(); ++i) {
        if (i % 50 != 10 + t) sum = sum + s[i];
      }
      for (size_t i = 10 + t; i < s.size(); i += 50) sum = sum + s[i];
      results[t] = sum;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Expr& e : results) EXPECT_EQ(e, Sum(s));
}

}  // namespace
}  // namespace lathe::symbolic
