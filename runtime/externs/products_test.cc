// Matrix products and convolutions against plain loops over scalars.

#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/externs/convolve/convolve.h"
#include "runtime/externs/extern.h"
#include "runtime/externs/gemm/gemm.h"
#include "runtime/externs/gemm/kernels.h"
#include "runtime/externs/test_tensors.h"
#include "runtime/threads/thread_pool.h"

namespace lathe {
namespace {

// Runs an extern and checks that every row was reported once.
absl::Status RunExtern(const char* id, std::vector<Tensor> inputs, Tensor& out,
                       const std::string& attributes, ThreadPool* pool) {
  const ExternAttributes parsed = ParseExternAttributes(attributes);
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < out.sizes().size(); ++d) rows *= out.sizes()[d];
  std::vector<std::atomic<int>> reported(static_cast<size_t>(rows));
  ExternCall call;
  call.inputs = inputs;
  call.outputs = absl::MakeSpan(&out, 1);
  call.attributes = &parsed;
  call.pool = pool;
  call.epilogue = [&](int64_t begin, int64_t end, int worker) {
    EXPECT_LT(worker, pool == nullptr ? 1 : pool->thread_count());
    for (int64_t k = begin; k < end; ++k) ++reported[static_cast<size_t>(k)];
    return absl::OkStatus();
  };
  absl::Status status = FindExtern(id)->Run(call);
  if (status.ok()) {
    for (const auto& count : reported) EXPECT_EQ(count.load(), 1);
  }
  return status;
}

Scalar ProductElement(const Tensor& a, const Tensor& b, std::vector<int64_t> batch, int64_t i,
                      int64_t j) {
  double sum = 0;
  int64_t exact = 0;
  for (int64_t p = 0; p < a.sizes().back(); ++p) {
    std::vector<int64_t> at = batch, bt = batch;
    at.insert(at.end(), {i, p});
    bt.insert(bt.end(), {p, j});
    const Scalar x = a.At(at), y = b.At(bt);
    sum += x.ToDouble() * y.ToDouble();
    exact += x.ToInt() * y.ToInt();
  }
  return IsFloat(a.dtype()) ? Scalar(sum) : Scalar(exact);
}

// Small integers: every type holds the sums exactly, or wraps.
void ExpectProduct(DType in, DType out_type, int64_t batch, int64_t m, int64_t n, int64_t k,
                   Layout la, Layout lb, Layout lc) {
  const auto sizes = [&](int64_t r, int64_t c) {
    return batch < 0 ? Dims{r, c} : Dims{batch, r, c};
  };
  const Tensor a = RandomTensor(in, sizes(m, k), la, 1), b = RandomTensor(in, sizes(k, n), lb, 2);
  Tensor c = MakeTensor(out_type, sizes(m, n), lc);
  const auto pool = NewThreadPool(2);
  ASSERT_TRUE(RunExtern("gemm", {a, b}, c, "", pool.get()).ok());
  for (int64_t z = 0; z < std::max<int64_t>(batch, 1); ++z) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        std::vector<int64_t> batch_index;
        if (batch >= 0) batch_index = {z};
        std::vector<int64_t> index = batch_index;
        index.insert(index.end(), {i, j});
        const Scalar expected = Convert(ProductElement(a, b, batch_index, i, j), out_type);
        ASSERT_TRUE(c.At(index) == expected)
            << Name(in) << " " << m << "x" << n << "x" << k << " at " << i << ", " << j << ": "
            << c.At(index).ToString() << " for " << expected.ToString();
      }
    }
  }
}

TEST(Gemm, EveryTypeAndLayout) {
  const std::pair<DType, DType> types[] = {
      {DType::kF32, DType::kF32},  {DType::kF64, DType::kF64}, {DType::kBF16, DType::kBF16},
      {DType::kBF16, DType::kF32}, {DType::kF16, DType::kF16}, {DType::kF16, DType::kF32},
      {DType::kI8, DType::kI8},    {DType::kU8, DType::kU8},   {DType::kI8, DType::kI32},
      {DType::kI16, DType::kI16},  {DType::kI32, DType::kI32}, {DType::kI64, DType::kI64},
      {DType::kU64, DType::kU64},  {DType::kU8, DType::kI64},  {DType::kF8E5M2, DType::kF32},
  };
  for (const auto& [in, out] : types) {
    for (const Layout layout : kLayouts) {
      ExpectProduct(in, out, -1, 13, 19, 21, layout, Layout::kContiguous, layout);
      ExpectProduct(in, out, -1, 3, 19, 37, Layout::kContiguous, layout, Layout::kContiguous);
    }
  }
}

TEST(Gemm, EveryShape) {
  const int64_t sizes[] = {0, 1, 2, 7, 16, 25, 33};
  for (const int64_t m : sizes) {
    for (const int64_t n : sizes) {
      for (const int64_t k : {0, 1, 15, 16, 40}) {
        ExpectProduct(DType::kF32, DType::kF32, -1, m, n, k, Layout::kContiguous,
                      Layout::kContiguous, Layout::kContiguous);
        ExpectProduct(DType::kF64, DType::kF64, 2, m, n, k, Layout::kContiguous,
                      Layout::kTransposed, Layout::kContiguous);
      }
    }
  }
  ExpectProduct(DType::kF32, DType::kF32, -1, 100, 50, 300, Layout::kTransposed,
                Layout::kContiguous, Layout::kContiguous);
  ExpectProduct(DType::kBF16, DType::kF32, -1, 97, 40, 520, Layout::kSliced, Layout::kTransposed,
                Layout::kTransposed);
}

TEST(Gemm, SharedOperands) {
  // b without a batch, and a expanded over it.
  const Tensor a = RandomTensor(DType::kF32, {3, 5, 7}, Layout::kContiguous, 1);
  const Tensor b = RandomTensor(DType::kF32, {7, 9}, Layout::kContiguous, 2);
  const Tensor expanded = b.AsStrided({3, 7, 9}, {0, 9, 1}, 0);
  Tensor c = Tensor::Zeros(DType::kF32, {3, 5, 9}), d = Tensor::Zeros(DType::kF32, {3, 5, 9});
  ASSERT_TRUE(RunExtern("gemm", {a, b}, c, "", nullptr).ok());
  ASSERT_TRUE(RunExtern("gemm", {a, expanded}, d, "", nullptr).ok());
  EXPECT_TRUE(SameBits(c, d));
  EXPECT_TRUE(c.At({2, 4, 8}) == ProductElement(a.AsStrided({5, 7}, {7, 1}, 70), b, {}, 4, 8));
}

TEST(Gemm, SeveralBatchDimensions) {
  // Heads of attention: [2, 5, 3, 4] as [batch 2, heads 3, rows 5, 4], b shared by the heads, c
  // written with heads inside rows; then dimensions that do not merge.
  const Tensor q = RandomTensor(DType::kF32, {2, 5, 3, 4}, Layout::kContiguous, 1);
  const Tensor a = q.AsStrided({2, 3, 5, 4}, {60, 4, 12, 1}, 0);
  const Tensor keys = RandomTensor(DType::kF32, {2, 1, 4, 6}, Layout::kContiguous, 2);
  const Tensor b = keys.AsStrided({2, 3, 4, 6}, {24, 0, 6, 1}, 0);
  Tensor storage = Tensor::Zeros(DType::kF32, {2, 5, 3, 6});
  Tensor c = storage.AsStrided({2, 3, 5, 6}, {90, 6, 18, 1}, 0),
         dense = Tensor::Zeros(DType::kF32, {2, 3, 5, 6});
  const auto pool = NewThreadPool(2);
  ASSERT_TRUE(RunExtern("gemm", {a, b}, c, "", pool.get()).ok());
  ASSERT_TRUE(RunExtern("gemm", {a, keys}, dense, "", nullptr).ok());
  EXPECT_TRUE(SameBits(c, dense));
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t h = 0; h < 3; ++h) {
      for (int64_t i = 0; i < 5; ++i) {
        for (int64_t j = 0; j < 6; ++j) {
          ASSERT_TRUE(c.At({n, h, i, j}) == ProductElement(a, b, {n, h}, i, j));
        }
      }
    }
  }
  Tensor wrong = Tensor::Zeros(DType::kF32, {2, 2, 5, 6});
  EXPECT_EQ(RunExtern("gemm", {a, b}, wrong, "", nullptr).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(Gemm, TheBitsDependOnNeitherThreadsNorInstructionSet) {
  const auto one = NewThreadPool(1), three = NewThreadPool(3);
  const struct {
    int64_t m, n, k;
    Layout b;
  } cases[] = {{200, 300, 700, Layout::kContiguous},
               {5, 500, 600, Layout::kContiguous},
               {1, 500, 601, Layout::kTransposed},
               {400, 1, 333, Layout::kContiguous},
               {64, 64, 64, Layout::kTransposed}};
  for (const auto& s : cases) {
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kBF16, DType::kF16}) {
      const Tensor a = RandomTensor(dtype, {s.m, s.k}, Layout::kContiguous, 3, 1000, true);
      const Tensor b = RandomTensor(dtype, {s.k, s.n}, s.b, 4, 1000, true);
      std::vector<Tensor> results;
      for (int t = 0; t < gemm::TableCount(); ++t) {
        for (ThreadPool* pool : {one.get(), three.get()}) {
          results.push_back(Tensor::Zeros(dtype, {s.m, s.n}));
          gemm::Problem p;
          p.m = s.m, p.n = s.n, p.k = s.k;
          const gemm::Element e = *gemm::ElementOf(dtype);
          p.a = {a.data(), e, {}, a.strides()[0], a.strides()[1]};
          p.b = {b.data(), e, {}, b.strides()[0], b.strides()[1]};
          p.c = {results.back().data(), e, {}, s.n, 1};
          ASSERT_TRUE(gemm::Run(p, gemm::TableAt(t), pool, nullptr).ok());
        }
      }
      for (const Tensor& r : results) {
        EXPECT_TRUE(SameBits(r, results[0])) << Name(dtype) << " " << s.m << " " << s.n;
      }
      // Close to the exact sums: f32 accumulation in blocks of 256.
      const double expected = ProductElement(a, b, {}, s.m - 1, s.n - 1).ToDouble();
      const double got = results[0].At({s.m - 1, s.n - 1}).ToDouble();
      const double size = 370.0 * 370.0 * static_cast<double>(s.k);
      const double unit = dtype == DType::kF64    ? 1e-15
                          : dtype == DType::kF32  ? 1e-6
                          : dtype == DType::kBF16 ? 1e-2
                                                  : 2e-3;
      if (dtype == DType::kF16) continue;  // infinite
      EXPECT_NEAR(got, expected, size * unit);
    }
  }
}

// Runs an extern twice on what it prepares for a constant input 1.
void ExpectPreparedAgrees(const char* id, const std::vector<Tensor>& inputs, const Dims& sizes,
                          const std::string& attributes) {
  const ExternAttributes parsed = ParseExternAttributes(attributes);
  const auto pool = NewThreadPool(2);
  const bool constant[] = {false, true};
  std::unique_ptr<PreparedInputs> prepared;
  std::vector<Tensor> results;
  for (int k = 0; k < 3; ++k) {
    results.push_back(Tensor::Zeros(inputs[0].dtype(), sizes));
    ExternCall call;
    call.inputs = inputs;
    call.outputs = absl::MakeSpan(&results.back(), 1);
    call.attributes = &parsed;
    call.pool = pool.get();
    if (k == 1) prepared = FindExtern(id)->Prepare(call, constant);
    if (k > 0) {
      ASSERT_NE(prepared, nullptr);
    }
    call.prepared = prepared.get();
    ASSERT_TRUE(FindExtern(id)->Run(call).ok());
    EXPECT_TRUE(SameBits(results.back(), results[0])) << id << " " << attributes;
  }
  // Another tensor in its place is noticed.
  const std::vector<Tensor> others = {
      inputs[0], RandomTensor(inputs[1].dtype(), inputs[1].sizes(), Layout::kContiguous, 77)};
  Tensor with = Tensor::Zeros(inputs[0].dtype(), sizes), without = with.Clone();
  for (Tensor* out : {&with, &without}) {
    ExternCall call;
    call.inputs = others;
    call.outputs = absl::MakeSpan(out, 1);
    call.attributes = &parsed;
    if (out == &with) call.prepared = prepared.get();
    ASSERT_TRUE(FindExtern(id)->Run(call).ok());
  }
  EXPECT_TRUE(SameBits(with, without));
}

TEST(Externs, PreparedWeightsGiveTheSameBits) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const Layout layout : kLayouts) {
      const Tensor b = RandomTensor(dtype, {300, 70}, layout, 2, 1000, true);
      for (const int64_t m : {1, 9, 130}) {
        const Tensor a = RandomTensor(dtype, {m, 300}, Layout::kContiguous, 1, 1000, true);
        ExpectPreparedAgrees("gemm", {a, b}, {m, 70}, "");
      }
    }
    const Tensor x = RandomTensor(dtype, {2, 24, 9, 9}, Layout::kContiguous, 1, 1000, true);
    for (const int64_t groups : {1, 24}) {
      const Tensor w = RandomTensor(dtype, {24, 24 / groups, 3, 3}, Layout::kTransposed, 2);
      ExpectPreparedAgrees("conv2d", {x, w}, {2, 24, 9, 9},
                           "padding=1;groups=" + std::to_string(groups));
    }
  }
}

TEST(Gemm, HalvesRoundAsTheLibraryDoes) {
  // 1 x 1 products run the store of every kind of value.
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const Tensor one = Tensor::FromSpan<float>({1, 1}, {1.0f});
    std::mt19937 random(9);
    for (int k = 0; k < 20000; ++k) {
      uint32_t bits = random();
      if (k < 64) bits = static_cast<uint32_t>(k) << 26 | (k % 2 ? 0x1000 : 0x8000);
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      const Tensor x = Tensor::FromSpan<float>({1, 1}, absl::MakeConstSpan(&value, 1));
      for (int t = 0; t < gemm::TableCount(); ++t) {
        uint16_t got = 0;
        gemm::TableAt(t).f32.store(&value, 1, *gemm::ElementOf(dtype), &got, 1);
        const uint16_t expected = dtype == DType::kF16 ? EncodeF16(value) : EncodeBF16(value);
        if (std::isnan(value)) {
          EXPECT_TRUE(std::isnan(dtype == DType::kF16 ? DecodeF16(got) : DecodeBF16(got)));
        } else {
          ASSERT_EQ(got, expected) << value;
        }
        float back = 0, want = dtype == DType::kF16 ? DecodeF16(got) : DecodeBF16(got);
        gemm::TableAt(t).f32.load(*gemm::ElementOf(dtype), &got, 1, 1, &back);
        if (!std::isnan(want)) {
          ASSERT_EQ(back, want);
        }
      }
    }
  }
}

TEST(Gemm, RefusesWhatDoesNotFit) {
  Tensor c = Tensor::Zeros(DType::kF32, {2, 2});
  const Tensor a = Tensor::Zeros(DType::kF32, {2, 3}), d = Tensor::Zeros(DType::kI32, {3, 2});
  EXPECT_EQ(RunExtern("gemm", {a, a}, c, "", nullptr).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RunExtern("gemm", {a, d}, c, "", nullptr).code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(RunExtern("gemm", {a}, c, "", nullptr).code(), absl::StatusCode::kInvalidArgument);
}

// --- Convolution ---

struct ConvCase {
  Dims x, w;  // x without the batch of 2
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups;
};

std::string Join(const std::vector<int64_t>& values) {
  std::string text;
  for (const int64_t v : values) text += (text.empty() ? "" : ",") + std::to_string(v);
  return text;
}

// One output element by the definition, over multi-indexes.
double ConvElement(const ConvCase& c, const Tensor& x, const Tensor& w,
                   const std::vector<int64_t>& out) {
  const size_t spatial = c.stride.size();
  const int64_t per_group = w.sizes()[0] / c.groups, group = out[1] / per_group;
  double sum = 0;
  const Tensor taps = w.AsStrided(w.sizes(), w.strides(), w.offset());
  for (int64_t t = 0; t < w.numel() / w.sizes()[0]; ++t) {
    std::vector<int64_t> wi(spatial + 2), xi(spatial + 2);
    int64_t rest = t;
    for (size_t d = spatial + 2; d-- > 1;) {
      wi[d] = rest % w.sizes()[d];
      rest /= w.sizes()[d];
    }
    wi[0] = out[1];
    xi[0] = out[0];
    xi[1] = group * w.sizes()[1] + wi[1];
    bool inside = true;
    for (size_t d = 0; d < spatial; ++d) {
      xi[d + 2] = out[d + 2] * c.stride[d] - c.padding[d] + wi[d + 2] * c.dilation[d];
      inside = inside && xi[d + 2] >= 0 && xi[d + 2] < x.sizes()[d + 2];
    }
    if (inside) sum += x.At(xi).ToDouble() * w.At(wi).ToDouble();
  }
  return sum;
}

void ExpectConvolution(const ConvCase& c, DType dtype, Layout layout, bool with_bias) {
  Dims x_sizes{2}, out_sizes{2, c.w[0]};
  for (const int64_t s : c.x) x_sizes.push_back(s);
  for (size_t d = 0; d < c.stride.size(); ++d) {
    out_sizes.push_back(
        (c.x[d + 1] + 2 * c.padding[d] - c.dilation[d] * (c.w[d + 2] - 1) - 1) / c.stride[d] + 1);
  }
  const Tensor x = RandomTensor(dtype, x_sizes, layout, 1), w = RandomTensor(dtype, c.w, layout, 2);
  std::vector<Tensor> inputs = {x, w};
  if (with_bias) inputs.push_back(RandomTensor(dtype, {c.w[0]}, layout, 3));
  const std::string attributes = "stride=" + Join(c.stride) + ";padding=" + Join(c.padding) +
                                 ";dilation=" + Join(c.dilation) +
                                 ";groups=" + std::to_string(c.groups);
  const auto pool = NewThreadPool(2);
  Tensor out = MakeTensor(dtype, out_sizes, layout), again = MakeTensor(dtype, out_sizes, layout);
  const char* id = c.stride.size() == 2 ? "conv2d" : "convnd";
  const absl::Status status = RunExtern(id, inputs, out, attributes, pool.get());
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_TRUE(RunExtern(id, inputs, again, attributes, nullptr).ok());
  EXPECT_TRUE(SameBits(out, again));
  for (int64_t k = 0; k < out.numel(); ++k) {
    std::vector<int64_t> index(out_sizes.size());
    int64_t rest = k;
    for (size_t d = index.size(); d-- > 0;) {
      index[d] = rest % out_sizes[d];
      rest /= out_sizes[d];
    }
    double expected = ConvElement(c, x, w, index);
    if (with_bias) expected += inputs[2].At({index[1]}).ToDouble();
    ASSERT_TRUE(out.At(index) == Convert(Scalar(expected), dtype))
        << attributes << " " << TypeString(x) << " at " << k << ": " << out.At(index).ToString()
        << " for " << expected;
  }
}

TEST(Convolution, MatchesTheDefinition) {
  const std::vector<ConvCase> cases = {
      {{3, 9, 11}, {16, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},   // tiles
      {{3, 20, 20}, {9, 3, 3, 3}, {2, 2}, {1, 0}, {1, 2}, 1},   // strided, dilated
      {{40, 5, 7}, {20, 40, 1, 1}, {1, 1}, {0, 0}, {1, 1}, 1},  // a matrix product
      {{8, 6, 6}, {16, 8, 1, 1}, {2, 2}, {0, 0}, {1, 1}, 1},    // one tap, strided
      {{12, 8, 8}, {32, 6, 2, 3}, {1, 1}, {0, 1}, {1, 1}, 2},   // groups
      {{6, 10, 70}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 6},   // depthwise, long rows
      {{6, 9, 9}, {12, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 6},    // depthwise, joined rows
      {{6, 9, 30}, {6, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1}, 6},    // depthwise, strided
      {{4, 23}, {5, 4, 3}, {1}, {1}, {1}, 1},                   // one dimension
      {{4, 23}, {24, 4, 5}, {3}, {2}, {1}, 1},
      {{3, 5, 6, 7}, {9, 3, 2, 3, 2}, {1, 2, 1}, {1, 0, 1}, {1, 1, 2}, 1},  // three
      {{2, 4, 5, 6}, {2, 1, 3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 2},
      {{64, 6, 6}, {8, 64, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 1},  // more taps than one block
  };
  for (const ConvCase& c : cases) {
    for (const Layout layout : kLayouts) ExpectConvolution(c, DType::kF32, layout, false);
    ExpectConvolution(c, DType::kBF16, Layout::kContiguous, false);
    ExpectConvolution(c, DType::kF64, Layout::kTransposed, true);
    ExpectConvolution(c, DType::kI32, Layout::kContiguous, true);
  }
}

TEST(Convolution, TheBitsDoNotDependOnTheInstructionSet) {
  const Tensor x = RandomTensor(DType::kF32, {1, 24, 20, 20}, Layout::kContiguous, 1, 1000, true);
  for (const int64_t groups : {1, 24}) {
    const Tensor w =
        RandomTensor(DType::kF32, {24, 24 / groups, 3, 3}, Layout::kContiguous, 2, 1000, true);
    const ExternAttributes attributes = {{"padding", "1"}, {"groups", std::to_string(groups)}};
    std::vector<Tensor> results;
    for (int t = 0; t < gemm::TableCount(); ++t) {
      results.push_back(Tensor::Zeros(DType::kF32, {1, 24, 20, 20}));
      const std::vector<Tensor> inputs = {x, w};
      ExternCall call;
      call.inputs = inputs;
      call.outputs = absl::MakeSpan(&results.back(), 1);
      call.attributes = &attributes;
      ASSERT_TRUE(convolve::Run(call, gemm::TableAt(t)).ok());
      EXPECT_TRUE(SameBits(results.back(), results[0]));
    }
  }
}

// Padding is no element: nothing is multiplied by it.
TEST(Convolution, LeavesPaddingOutForInfiniteWeights) {
  for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
    const auto ones = [&](const Dims& sizes) {
      Tensor t = Tensor::Empty(dtype, sizes);
      for (int64_t k = 0; k < t.numel(); ++k) t.SetLinear(k, Scalar(1.0));
      return t;
    };
    const Tensor x = ones({1, 1, 4, 4}), w = ones({2, 1, 3, 3});
    w.SetLinear(0, Scalar(std::numeric_limits<double>::infinity()));
    Tensor out = Tensor::Zeros(dtype, {1, 2, 4, 4});
    ASSERT_TRUE(RunExtern("conv2d", {x, w}, out, "padding=1", nullptr).ok());
    EXPECT_EQ(out.At({0, 0, 0, 0}).ToDouble(), 4) << Name(dtype);
    EXPECT_EQ(out.At({0, 0, 0, 2}).ToDouble(), 6) << Name(dtype);
    EXPECT_TRUE(std::isinf(out.At({0, 0, 2, 2}).ToDouble())) << Name(dtype);
    EXPECT_EQ(out.At({0, 1, 2, 2}).ToDouble(), 9) << Name(dtype);
  }
}

TEST(Convolution, RefusesWhatDoesNotFit) {
  const Tensor x = Tensor::Zeros(DType::kF32, {1, 3, 8, 8}),
               w = Tensor::Zeros(DType::kF32, {4, 3, 3, 3});
  Tensor out = Tensor::Zeros(DType::kF32, {1, 4, 6, 6});
  const auto code = [&](const char* attributes) {
    return RunExtern("conv2d", {x, w}, out, attributes, nullptr).code();
  };
  EXPECT_EQ(code(""), absl::StatusCode::kOk);
  EXPECT_EQ(code("padding=1"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("stride=0,1"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("stride=1,1,1"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("groups=2"), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code("transposed=1"), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace lathe
