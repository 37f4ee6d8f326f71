// sort, topk, cumulative, nonzero and copy against plain loops.

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/externs/extern.h"
#include "runtime/externs/test_tensors.h"
#include "runtime/threads/thread_pool.h"

namespace lathe {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

absl::Status RunExtern(const char* id, const Tensor& x, std::vector<Tensor>& outputs,
                       const std::string& attributes, std::vector<int64_t> integers = {},
                       ThreadPool* pool = nullptr) {
  const ExternAttributes parsed = ParseExternAttributes(attributes);
  ExternCall call;
  call.inputs = absl::MakeConstSpan(&x, 1);
  call.outputs = absl::MakeSpan(outputs);
  call.integers = integers;
  call.attributes = &parsed;
  call.pool = pool;
  return FindExtern(id)->Run(call);
}

std::vector<double> Values(const Tensor& t) {
  std::vector<double> values;
  for (int64_t k = 0; k < t.numel(); ++k) values.push_back(t.AtLinear(k).ToDouble());
  return values;
}

bool Less(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

// The lines of a 3-dimensional tensor along `dim`, by multi-index.
std::vector<int64_t> LineIndex(const Dims& sizes, size_t dim, int64_t line, int64_t k) {
  std::vector<int64_t> index(3);
  for (size_t d = 3; d-- > 0;) {
    if (d == dim) continue;
    index[d] = line % sizes[d];
    line /= sizes[d];
  }
  index[dim] = k;
  return index;
}

const DType kSortable[] = {DType::kBool, DType::kU3,  DType::kI5,      DType::kU8,
                           DType::kI8,   DType::kI16, DType::kI64,     DType::kF16,
                           DType::kF32,  DType::kF64, DType::kF8E4M3FN};

TEST(Sort, MatchesAStableSortOfEveryLine) {
  const auto pool = NewThreadPool(2);
  const Dims sizes{4, 9, 5};
  for (const DType dtype : kSortable) {
    for (const Layout layout : kLayouts) {
      if (IsSubByte(dtype) && layout != Layout::kContiguous) continue;
      for (size_t dim = 0; dim < 3; ++dim) {
        for (const bool descending : {false, true}) {
          const Tensor x = RandomTensor(dtype, sizes, layout, 5);
          std::vector<Tensor> out = {MakeTensor(dtype, sizes, layout),
                                     MakeTensor(DType::kI64, sizes, layout)};
          const std::string attributes = "dim=" + std::to_string(dim) +
                                         ";stable=1;descending=" + (descending ? "true" : "false");
          ASSERT_TRUE(RunExtern("sort", x, out, attributes, {}, pool.get()).ok());
          for (int64_t line = 0; line < x.numel() / sizes[dim]; ++line) {
            std::vector<int64_t> order(static_cast<size_t>(sizes[dim]));
            std::iota(order.begin(), order.end(), 0);
            const auto value = [&](int64_t k) {
              return x.At(LineIndex(sizes, dim, line, k)).ToDouble();
            };
            std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
              return descending ? Less(value(b), value(a)) : Less(value(a), value(b));
            });
            for (int64_t k = 0; k < sizes[dim]; ++k) {
              const auto index = LineIndex(sizes, dim, line, k);
              const int64_t from = order[static_cast<size_t>(k)];
              ASSERT_EQ(out[1].At(index).ToInt(), from) << Name(dtype) << attributes;
              ASSERT_EQ(out[0].At(index).ToDouble(), value(from));
            }
          }
        }
      }
    }
  }
}

TEST(Sort, NanIsLargestAndZerosAreEqual) {
  const Tensor x = Tensor::FromSpan<float>({7}, {kNan, 0.0f, kInf, -0.0f, -kInf, kNan, 1.0f});
  std::vector<Tensor> out = {Tensor::Zeros(DType::kF32, {7}), Tensor::Zeros(DType::kI64, {7})};
  ASSERT_TRUE(RunExtern("sort", x, out, "").ok());
  EXPECT_EQ(Values(out[1]), (std::vector<double>{4, 1, 3, 6, 2, 0, 5}));
  EXPECT_TRUE(std::signbit(out[0].AtLinear(2).ToDouble()));
  ASSERT_TRUE(RunExtern("sort", x, out, "descending=1").ok());
  EXPECT_EQ(Values(out[1]), (std::vector<double>{0, 5, 2, 6, 1, 3, 4}));
  std::vector<Tensor> top = {Tensor::Zeros(DType::kF32, {3}), Tensor::Zeros(DType::kI64, {3})};
  ASSERT_TRUE(RunExtern("topk", x, top, "dim=0", {3}).ok());
  EXPECT_EQ(Values(top[1]), (std::vector<double>{0, 5, 2}));
  ASSERT_TRUE(RunExtern("topk", x, top, "dim=0;largest=false", {3}).ok());
  EXPECT_EQ(Values(top[1]), (std::vector<double>{4, 1, 3}));
}

TEST(Sort, LargeIntegersAndScalars) {
  const Tensor x = Tensor::FromSpan<uint64_t>({3}, {uint64_t{1} << 63, 5, ~uint64_t{0}});
  std::vector<Tensor> out = {Tensor::Zeros(DType::kU64, {3}), Tensor::Zeros(DType::kI64, {3})};
  ASSERT_TRUE(RunExtern("sort", x, out, "").ok());
  EXPECT_EQ(Values(out[1]), (std::vector<double>{1, 0, 2}));
  const Tensor y = Tensor::FromSpan<int64_t>(
      {3}, {(int64_t{1} << 53) + 1, int64_t{1} << 53, std::numeric_limits<int64_t>::min()});
  out[0] = Tensor::Zeros(DType::kI64, {3});
  ASSERT_TRUE(RunExtern("sort", y, out, "").ok());
  EXPECT_EQ(Values(out[1]), (std::vector<double>{2, 1, 0}));
  std::vector<Tensor> zero = {Tensor::Zeros(DType::kF32, {}), Tensor::Zeros(DType::kI64, {})};
  EXPECT_TRUE(RunExtern("sort", Tensor::FromScalar(DType::kF32, 3.0), zero, "dim=0").ok());
  EXPECT_EQ(zero[0].AtLinear(0).ToDouble(), 3.0);
}

TEST(Sort, Refuses) {
  std::vector<Tensor> out = {Tensor::Zeros(DType::kF32, {3}), Tensor::Zeros(DType::kI64, {3})};
  const Tensor x = Tensor::Zeros(DType::kF32, {3});
  EXPECT_EQ(RunExtern("sort", x, out, "dim=1").code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(RunExtern("topk", x, out, "dim=0", {4}).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(RunExtern("sort", Tensor::Zeros(DType::kC64, {3}), out, "").code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RunExtern("sort", x, out, "descending=perhaps").code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Cumulative, SumsAndProducts) {
  const auto pool = NewThreadPool(2);
  const Dims sizes{3, 6, 4};
  for (const auto& [in, out_type] :
       std::vector<std::pair<DType, DType>>{{DType::kF32, DType::kF32},
                                            {DType::kF64, DType::kF64},
                                            {DType::kBF16, DType::kBF16},
                                            {DType::kI32, DType::kI64},
                                            {DType::kBool, DType::kI64},
                                            {DType::kU8, DType::kU8},
                                            {DType::kI8, DType::kF32},
                                            {DType::kU5, DType::kI64}}) {
    for (const bool product : {false, true}) {
      for (size_t dim = 0; dim < 3; ++dim) {
        const Tensor x = RandomTensor(in, sizes, Layout::kContiguous, 6, 2);
        std::vector<Tensor> out = {MakeTensor(out_type, sizes, Layout::kTransposed)};
        const std::string attributes =
            std::string("op=") + (product ? "prod" : "sum") + ";dim=" + std::to_string(dim);
        ASSERT_TRUE(RunExtern("cumulative", x, out, attributes, {}, pool.get()).ok());
        for (int64_t line = 0; line < x.numel() / sizes[dim]; ++line) {
          double expected = product ? 1 : 0;
          for (int64_t k = 0; k < sizes[dim]; ++k) {
            const auto index = LineIndex(sizes, dim, line, k);
            const double value = x.At(index).ToDouble();
            expected = product ? expected * value : expected + value;
            ASSERT_TRUE(out[0].At(index) == Convert(Scalar(expected), out_type))
                << Name(in) << " " << attributes;
          }
        }
      }
    }
  }
}

TEST(Cumulative, WrapsInTheResultsWidth) {
  const Tensor x = Tensor::FromSpan<int64_t>({2}, {std::numeric_limits<int64_t>::max(), 1});
  std::vector<Tensor> out = {Tensor::Zeros(DType::kI64, {2})};
  ASSERT_TRUE(RunExtern("cumulative", x, out, "op=sum;dim=0").ok());
  EXPECT_EQ(out[0].AtLinear(1).ToInt(), std::numeric_limits<int64_t>::min());
  const Tensor y = Tensor::FromSpan<uint8_t>({2}, {200, 100});
  out[0] = Tensor::Zeros(DType::kU8, {2});
  ASSERT_TRUE(RunExtern("cumulative", y, out, "op=sum;dim=0").ok());
  EXPECT_EQ(out[0].AtLinear(1).ToInt(), 44);
}

TEST(Cumulative, ExtremesKeepNanAndTheLastOfEquals) {
  const Tensor x = Tensor::FromSpan<float>({6}, {1, 3, 3, 2, kNan, 5});
  std::vector<Tensor> out = {Tensor::Zeros(DType::kF32, {6}), Tensor::Zeros(DType::kI64, {6})};
  ASSERT_TRUE(RunExtern("cumulative", x, out, "op=max;dim=0").ok());
  EXPECT_EQ(Values(out[1]), (std::vector<double>{0, 1, 2, 2, 4, 4}));
  EXPECT_TRUE(std::isnan(out[0].AtLinear(5).ToDouble()));
  ASSERT_TRUE(RunExtern("cumulative", x, out, "op=min;dim=0").ok());
  EXPECT_EQ(Values(out[1]), (std::vector<double>{0, 0, 0, 0, 4, 4}));
  const Tensor big = Tensor::FromSpan<uint64_t>({3}, {~uint64_t{0}, 3, 4});
  out = {Tensor::Zeros(DType::kU64, {3}), Tensor::Zeros(DType::kI64, {3})};
  ASSERT_TRUE(RunExtern("cumulative", big, out, "op=min;dim=0").ok());
  EXPECT_EQ(Values(out[1]), (std::vector<double>{0, 1, 1}));
  EXPECT_EQ(RunExtern("cumulative", x, out, "op=mean;dim=0").code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Nonzero, ListsIndexesInOrder) {
  const auto pool = NewThreadPool(2);
  for (const DType dtype :
       {DType::kBool, DType::kU1, DType::kF32, DType::kF16, DType::kI64, DType::kC64}) {
    for (const Layout layout : kLayouts) {
      if (IsSubByte(dtype) && layout != Layout::kContiguous) continue;
      const Tensor x = RandomTensor(dtype, {3, 50, 40}, layout, 8, 1);
      std::vector<Tensor> out(1);
      ASSERT_TRUE(RunExtern("nonzero", x, out, "", {}, pool.get()).ok());
      std::vector<double> expected;
      for (int64_t k = 0; k < x.numel(); ++k) {
        if (!x.AtLinear(k).ToBool()) continue;
        for (const int64_t i : {k / 2000, k / 40 % 50, k % 40}) {
          expected.push_back(static_cast<double>(i));
        }
      }
      EXPECT_EQ(out[0].dtype(), DType::kI64);
      EXPECT_EQ(out[0].rank(), 2);
      EXPECT_EQ(Values(out[0]), expected);
    }
  }
  std::vector<Tensor> out(1);
  ASSERT_TRUE(RunExtern("nonzero", Tensor::FromScalar(DType::kF32, 2.0), out, "").ok());
  EXPECT_TRUE(out[0].sizes() == (Dims{1, 0}));
  ASSERT_TRUE(RunExtern("nonzero", Tensor::FromSpan<float>({2}, {kNan, -0.0f}), out, "").ok());
  EXPECT_TRUE(out[0].sizes() == (Dims{1, 1}));
}

TEST(Copy, ConvertsAndFollowsStrides) {
  const Tensor x = RandomTensor(DType::kF32, {4, 6}, Layout::kTransposed, 9);
  std::vector<Tensor> out = {MakeTensor(DType::kI16, {4, 6}, Layout::kSliced)};
  ASSERT_TRUE(RunExtern("copy", x, out, "").ok());
  EXPECT_EQ(Values(out[0]), Values(x));
}

TEST(Externs, AttributesAreTextBothWays) {
  const ExternAttributes attributes = ParseExternAttributes("stride=1,2;dim=-1;empty=");
  EXPECT_EQ(attributes.at("stride"), "1,2");
  EXPECT_EQ(attributes.at("empty"), "");
  EXPECT_EQ(FormatExternAttributes(attributes), "dim=-1;empty=;stride=1,2");
  EXPECT_EQ(FindExtern("gemmm"), nullptr);
}

}  // namespace
}  // namespace lathe
