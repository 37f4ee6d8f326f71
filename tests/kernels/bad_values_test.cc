// Data and arguments that name no result: every tier refuses them as eager does, and none ends the
// process.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "ir/reference/conform.h"
#include "tests/kernels/run_text.h"

namespace lathe {
namespace {

constexpr Tier kTiers[] = {Tier::kReference, Tier::kTile, Tier::kNative};

Tensor Numbers(DType dtype, const std::vector<Scalar>& values) {
  Tensor t = Tensor::Empty(dtype, {static_cast<int64_t>(values.size())});
  for (size_t k = 0; k < values.size(); ++k) t.SetLinear(static_cast<int64_t>(k), values[k]);
  return t;
}

std::string Graph(const std::string& inputs, const std::string& body) {
  return absl::StrCat("graph @f(", inputs, ") { ", body, " return %a }");
}

void ExpectRefused(const std::string& text, const std::vector<RunValue>& inputs,
                   const std::string& words = "") {
  for (Tier tier : kTiers) {
    const absl::Status status = RunText(text, tier, inputs).status();
    EXPECT_EQ(ExitCode(status), 2) << text << " on " << TierName(tier) << ": " << status;
    EXPECT_NE(std::string(status.message()).find(words), std::string::npos)
        << text << " on " << TierName(tier) << ": " << status;
  }
}

void ExpectGives(const std::string& text, const std::vector<RunValue>& inputs,
                 const Tensor& expected) {
  for (Tier tier : kTiers) {
    const auto result = RunText(text, tier, inputs);
    ASSERT_TRUE(result.ok()) << text << " on " << TierName(tier) << ": " << result.status();
    EXPECT_EQ(CompareTensors(std::get<Tensor>((*result)[0]), expected, true), "")
        << text << " on " << TierName(tier);
  }
}

TEST(BadValues, U64IsOrderedAsUnsigned) {
  const Scalar half = uint64_t{1} << 63, most = UINT64_MAX;
  const Tensor sorted = Numbers(DType::kU64, {0, 5, half, most});
  const Tensor values = Numbers(DType::kU64, {7, half, most});
  const std::string inputs = "%x: u64[4], %y: u64[3]";
  ExpectGives(Graph(inputs, "%a = aten.searchsorted.Tensor(%x, %y)"), {sorted, values},
              Numbers(DType::kI64, {2, 2, 3}));
  ExpectGives(Graph(inputs, "%a = aten.bucketize.Tensor(%y, %x, right=true)"), {sorted, values},
              Numbers(DType::kI64, {2, 3, 4}));
  ExpectGives(Graph("%x: u64[4]", "%a = aten.searchsorted.Scalar(%x, 18446744073709551615)"),
              {sorted}, Tensor::FromScalar(DType::kI64, 3));
  ExpectGives(Graph("%x: u64[4]", "%a, %b = aten.sort(%x, 0, true)"), {sorted},
              Numbers(DType::kU64, {most, half, 5, 0}));
}

TEST(BadValues, MediansOfDynamicSizes) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor odd = Numbers(DType::kF32, {3.0, 1.0, 2.0});
  const Tensor even = Numbers(DType::kF32, {4.0, 1.0, 3.0, 2.0});
  const Tensor with_nan = Numbers(DType::kF32, {nan, 1.0, 3.0, 2.0});
  const auto number = [](double v) { return Tensor::FromScalar(DType::kF32, v); };
  for (const std::string name : {"median", "nanmedian"}) {
    const std::string all = Graph("%x: f32[s0]", absl::StrCat("%a = aten.", name, "(%x)"));
    ExpectGives(all, {odd}, number(2));
    ExpectGives(all, {even}, number(2));
    ExpectGives(all, {with_nan}, number(name == "median" ? nan : 2));
    ExpectGives(all, {Ones({0})}, number(nan));
    const std::string line =
        Graph("%x: f32[s0]", absl::StrCat("%a, %b = aten.", name, ".dim(%x, 0)"));
    ExpectGives(line, {even}, number(2));
    ExpectRefused(line, {Ones({0})});
    const std::string kept =
        Graph("%x: f32[s0, s1]", absl::StrCat("%a, %b = aten.", name, ".dim(%x, 1, true)"));
    ExpectGives(kept, {Counted(DType::kF32, {2, 3})}, Counted(DType::kF32, {2, 1}, 1, 3));
    ExpectRefused(kept, {Ones({2, 0})});
    ExpectRefused(Graph("%x: i64[s0, s1]", absl::StrCat("%a, %b = aten.", name, ".dim(%x, 1)")),
                  {Tensor::Zeros(DType::kI64, {2, 0})});
  }
}

TEST(BadValues, CountsThatNoMemoryHolds) {
  for (const std::string size : {"1", "s0"}) {
    const std::string x = absl::StrCat("%x: i64[", size, "]");
    for (int64_t count : {INT64_MAX, INT64_MAX - 1, int64_t{1} << 62, int64_t{1} << 50}) {
      for (const char* call : {"aten.bincount(%x)", "aten.repeat_interleave.Tensor(%x)"}) {
        ExpectRefused(Graph(x, absl::StrCat("%a = ", call)), {Numbers(DType::kI64, {count})},
                      "memory");
      }
      ExpectRefused(Graph(x, absl::StrCat("%a = aten.bincount(%x, none, ", count, ")")),
                    {Numbers(DType::kI64, {1})});
    }
    ExpectRefused(Graph(x, "%a = aten.bincount(%x, none, -1)"), {Numbers(DType::kI64, {1})});
    ExpectRefused(Graph(x, "%a = aten.repeat_interleave.Tensor(%x)"), {Numbers(DType::kI64, {-1})},
                  "negative");
    ExpectRefused(Graph(x, "%a = aten.nonzero_static(%x, size=-2)"), {Numbers(DType::kI64, {1})});
  }
  ExpectRefused(Graph("%x: f32[s0]", absl::StrCat("%a = aten.histc(%x, ", int64_t{1} << 50, ")")),
                {Ones({3})}, "memory");
  // The sum overflows, no count does.
  ExpectRefused(Graph("%x: i64[s0]", "%a = aten.repeat_interleave.Tensor(%x)"),
                {Numbers(DType::kI64, {int64_t{1} << 62, int64_t{1} << 62, int64_t{1} << 62})});
  // It would not end.
  for (const char* call :
       {"tril_indices(4611686018427387904, 4)", "triu_indices(1, 68719476736)"}) {
    const std::string text = Graph("", absl::StrCat("%a = aten.", call));
    EXPECT_EQ(ExitCode(RunText(text, Tier::kTile, {}).status()), 3) << text;
  }
}

TEST(BadValues, ResultsLargerThan64BitsCount) {
  for (const std::string size : {"4", "s0"}) {
    for (const char* call :
         {"aten.constant_pad_nd(%x, [9223372036854775807, 9223372036854775807])",
          "aten.repeat(%x, [4611686018427387904])", "aten.tile(%x, [4611686018427387904])",
          "aten.diag_embed(%x, 9223372036854775807)", "aten.unfold(%x, 0, -1, 1)"}) {
      ExpectRefused(Graph(absl::StrCat("%x: f32[", size, "]"), absl::StrCat("%a = ", call)),
                    {Ones({4})});
    }
  }
}

TEST(BadValues, StepsOfConvolutions) {
  const std::string inputs = "%x: f32[1, 1, s0, 4], %w: f32[1, 1, 2, 2]";
  const auto refused = [&](const std::string& lists, const std::string& words) {
    const std::string call =
        absl::StrCat("%a = aten.convolution(%x, %w, none, ", lists, ", false, [0, 0], 1)");
    ExpectRefused(Graph(inputs, call), {Ones({1, 1, 4, 4}), Ones({1, 1, 2, 2})}, words);
  };
  refused("[0, 1], [0, 0], [1, 1]", "non-positive stride is not supported");
  refused("[1, -1], [0, 0], [1, 1]", "non-positive stride is not supported");
  refused("[1, 1], [-1, 0], [1, 1]", "negative padding is not supported");
  refused("[1, 1], [0, 0], [0, 1]", "dilation should be greater than zero");
  refused("[1, 1], [4611686018427387904, 0], [1, 1]", "");
  refused("[1, 1], [0, 0], [9223372036854775807, 1]", "");
  for (const char* call : {"aten.avg_pool2d(%x, [2, 2], [0, 1])",
                           "aten.max_pool2d(%x, [2, 2], [1, 1], [0, 0], [0, 1])",
                           "aten.max_pool2d(%x, [2, 2], [1, 1], [0, 0], [9223372036854775807, 1])",
                           "aten.avg_pool2d(%x, [9223372036854775807, 2], [1, 1], [1, 1])"}) {
    ExpectRefused(Graph("%x: f32[1, 1, s0, 4]", absl::StrCat("%a = ", call)), {Ones({1, 1, 4, 4})});
  }
}

TEST(BadValues, CircularPaddingThatWrapsTwice) {
  for (const std::string size : {"4", "s0"}) {
    const std::string x = absl::StrCat("%x: f32[", size, "]");
    const Tensor four = Counted(DType::kF32, {4});
    for (const char* pad : {"[7, 0]", "[0, 5]", "[9, 1]"}) {
      ExpectRefused(Graph(x, absl::StrCat("%a = aten.pad(%x, ", pad, ", mode=\"circular\")")),
                    {four});
    }
    ExpectGives(Graph(x, "%a = aten.pad(%x, [4, 1], mode=\"circular\")"), {four},
                Numbers(DType::kF32, {0.0, 1.0, 2.0, 3.0, 0.0, 1.0, 2.0, 3.0, 0.0}));
  }
}

TEST(BadValues, ClassesThatOneHotHasNot) {
  for (const std::string size : {"1", "s0"}) {
    const std::string text = Graph(absl::StrCat("%x: i64[", size, "]"), "%a = aten.one_hot(%x, 5)");
    for (int64_t bad : {int64_t{-1}, int64_t{5}, int64_t{7}, INT64_MAX, INT64_MIN}) {
      ExpectRefused(text, {Numbers(DType::kI64, {bad})});
    }
    ExpectGives(text, {Numbers(DType::kI64, {4})},
                Numbers(DType::kI64, {0, 0, 0, 0, 1}).AsStrided({1, 5}, {5, 1}, 0));
  }
  ExpectRefused(Graph("%x: i64[2, s0]", "%h = aten.one_hot(%x, 3) %a = aten.sum(%h)"),
                {Counted(DType::kI64, {2, 2})});
}

TEST(BadValues, MeanOfBool) {
  for (const std::string size : {"3", "s0"}) {
    ExpectRefused(Graph(absl::StrCat("%x: bool[", size, "], %i: i64[2], %y: bool[2]"),
                        "%a = aten.scatter_reduce.two(%x, 0, %i, %y, \"mean\")"),
                  {Tensor::Zeros(DType::kBool, {3}), Tensor::Zeros(DType::kI64, {2}),
                   Tensor::Zeros(DType::kBool, {2})});
  }
}

TEST(BadValues, DiagonalsFarAway) {
  const Tensor x = Counted(DType::kF32, {3, 2}, 1), none = Tensor::Zeros(DType::kF32, {3, 2});
  for (const std::string sizes : {"[3, 2]", "[s0, 2]", "[s0, s1]"}) {
    const auto check = [&](const std::string& call, const Tensor& expected) {
      ExpectGives(Graph("%x: f32" + sizes, "%a = " + call), {x}, expected);
    };
    check("aten.tril(%x, 9223372036854775807)", x);
    check("aten.tril(%x, -9223372036854775808)", none);
    check("aten.triu(%x, 9223372036854775807)", none);
    check("aten.triu(%x, -9223372036854775808)", x);
    check("aten.tril(%x, 4294967296)", x);
    check("aten.triu(%x, -4294967296)", x);
  }
}

}  // namespace
}  // namespace lathe
