// What lathe's kernels and calls reach of the machine's limits, in one run; ratios of medians of
// alternating runs.
//
//   ./bazelw run --config=opt //benchmarks:kernels_against_floors

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "compiler.h"
#include "dtypes/base/status.h"
#include "ir/ops/registry.h"
#include "ir/text/parser.h"

static std::atomic<int64_t> news{0};
void* operator new(size_t size) {
  news.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace lathe {
namespace {

double Seconds(const std::function<void()>& run) {
  const auto begin = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double Median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// Median seconds of each, run in turn.
std::vector<double> Alternate(const std::vector<std::function<void()>>& runs, int times) {
  std::vector<std::vector<double>> seconds(runs.size());
  for (const auto& run : runs) run();
  for (int t = 0; t < times; ++t) {
    for (size_t k = 0; k < runs.size(); ++k) seconds[k].push_back(Seconds(runs[k]));
  }
  std::vector<double> medians;
  for (auto& s : seconds) medians.push_back(Median(s));
  return medians;
}

Program Parse(const std::string& text) {
  absl::StatusOr<Program> program = ParseProgram(text, OpRegistry::Builtin());
  if (!program.ok()) {
    fprintf(stderr, "%s\n", Describe(program.status()).c_str());
    exit(1);
  }
  return *std::move(program);
}

Executable MustCompile(const Program& program, Tier tier, int threads) {
  CompileOptions options;
  options.tier = tier;
  options.threads = threads;
  options.strict = true;
  absl::StatusOr<Executable> executable = Compile(program, options);
  if (!executable.ok()) {
    fprintf(stderr, "%s\n", Describe(executable.status()).c_str());
    exit(1);
  }
  return *std::move(executable);
}

std::function<void()> Calling(const Executable& executable, const std::vector<RunValue>& inputs) {
  return [&executable, inputs] {
    if (absl::Status s = executable.Run(inputs).status(); !s.ok()) {
      fprintf(stderr, "%s\n", Describe(s).c_str());
      exit(1);
    }
  };
}

// Reads one buffer and writes another of as many bytes, with ordinary and with streaming stores.
__attribute__((target("avx2"))) void CopyOrdinary(const float* from, float* to, int64_t count) {
  for (int64_t k = 0; k < count; k += 32) {
    for (int64_t j = 0; j < 32; j += 8) {
      _mm256_storeu_ps(to + k + j, _mm256_loadu_ps(from + k + j));
    }
  }
}
__attribute__((target("avx2"))) void CopyStreaming(const float* from, float* to, int64_t count) {
  for (int64_t k = 0; k < count; k += 32) {
    for (int64_t j = 0; j < 32; j += 8) {
      _mm256_stream_ps(to + k + j, _mm256_loadu_ps(from + k + j));
    }
  }
  _mm_sfence();
}

std::function<void()> OnThreads(int threads, void (*copy)(const float*, float*, int64_t),
                                const Tensor& from, const Tensor& to) {
  return [=] {
    const int64_t part = from.numel() / threads;
    std::vector<std::thread> workers;
    for (int t = 1; t < threads; ++t) {
      workers.emplace_back([=] {
        copy(static_cast<const float*>(from.data()) + t * part,
             static_cast<float*>(to.data()) + t * part, part);
      });
    }
    copy(static_cast<const float*>(from.data()), static_cast<float*>(to.data()), part);
    for (std::thread& worker : workers) worker.join();
  };
}

Tensor Random(const Dims& sizes) {
  Tensor t = Tensor::Zeros(DType::kF32, sizes);
  float* data = static_cast<float*>(t.data());
  uint32_t state = 1;
  for (int64_t k = 0, n = t.numel(); k < n; ++k) {
    state = state * 1664525u + 1013904223u;
    data[k] = static_cast<float>(state >> 8) / 16777216.0f + 0.25f;
  }
  return t;
}

constexpr char kChain[] = R"(graph @f(%x: f32[N]) {
  %a = aten.mul.Scalar(%x, 1.5)
  %b = aten.add.Scalar(%a, 0.25)
  %c = aten.mul.Tensor(%b, %x)
  %d = aten.relu(%c)
  %e = aten.sub.Tensor(%d, %x)
  %f = aten.mul.Tensor(%e, %e)
  %g = aten.add.Tensor(%f, %b)
  %h = aten.neg(%g)
  %i = aten.maximum(%h, %c)
  %j = aten.add.Tensor(%i, %x)
  return %j
})";

std::string With(std::string text, const std::string& from, const std::string& to) {
  for (size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, from.size(), to);
  return text;
}

void Bandwidth(const char* name, const std::string& text, const std::vector<RunValue>& inputs,
               const Tensor& from, int times) {
  const Tensor to = Tensor::Zeros(DType::kF32, {from.numel()});
  const Program program = Parse(text);
  const Executable native = MustCompile(program, Tier::kNative, 1);
  const Executable native2 = MustCompile(program, Tier::kNative, 2);
  const Executable tile = MustCompile(program, Tier::kTile, 1);
  const std::vector<double> s =
      Alternate({Calling(native, inputs), Calling(native2, inputs), Calling(tile, inputs),
                 OnThreads(1, CopyOrdinary, from, to), OnThreads(1, CopyStreaming, from, to)},
                times);
  const double floor = std::min(s[3], s[4]);
  printf("%-22s native/ceiling %.2f, tile/native %.2f times slower, 2 threads %.2f times 1\n", name,
         floor / s[0], s[2] / s[0], s[0] / s[1]);
}

void Dynamic() {
  const Program fixed = Parse(With(kChain, "N", "4194304"));
  const Program dynamic = Parse(With(kChain, "N", "s0"));
  const std::vector<RunValue> inputs = {Random({4194304})};
  const Executable a = MustCompile(fixed, Tier::kNative, 1);
  const Executable b = MustCompile(dynamic, Tier::kNative, 1);
  const std::vector<double> s = Alternate({Calling(a, inputs), Calling(b, inputs)}, 41);
  printf("%-22s dynamic/static %.3f\n", "chain of 4 M", s[1] / s[0]);
}

// The sum of what is there: four streams of 32 bytes.
__attribute__((target("avx2"))) int64_t ReadAll(const void* from, int64_t bytes) {
  const __m256i* p = static_cast<const __m256i*>(from);
  __m256i sums[4] = {};
  for (int64_t k = 0; k + 4 <= bytes / 32; k += 4) {
    for (int64_t j = 0; j < 4; ++j) {
      sums[j] = _mm256_add_epi64(sums[j], _mm256_loadu_si256(p + k + j));
    }
  }
  return (sums[0][0] ^ sums[1][1]) + (sums[2][2] ^ sums[3][3]);
}

// One row of f32 times packed weights; more matrices than the last cache holds take turns.
void PackedProduct(const char* name, DType dtype, const std::string& unpack,
                   const std::vector<RunValue>& more) {
  constexpr int64_t kIn = 4096, kOut = 14336;
  constexpr int kMatrices = 8;
  const Program program = Parse(With("graph @f(%x: f32[1, 4096], %q: QTYPE[14336, 4096]" + unpack,
                                     "QTYPE", std::string(Name(dtype))));
  const Executable native = MustCompile(program, Tier::kNative, 1);
  const int64_t bytes = kIn * kOut * BitWidth(dtype) / 8;
  std::vector<Tensor> matrices;
  for (int m = 0; m < kMatrices; ++m) {
    matrices.push_back(Tensor::Zeros(dtype, {kOut, kIn}));
    uint32_t state = m + 1;
    uint8_t* data = static_cast<uint8_t*>(matrices.back().data());
    for (int64_t k = 0; k < bytes; ++k) {
      state = state * 1664525u + 1013904223u;
      data[k] = static_cast<uint8_t>(state >> 24);
    }
  }
  const Tensor x = Random({1, kIn});
  int turn = 0;
  int64_t sink = 0;
  const auto next = [&]() -> const Tensor& { return matrices[turn++ % kMatrices]; };
  const std::vector<double> s = Alternate({[&] {
                                             std::vector<RunValue> inputs = {x, next()};
                                             inputs.insert(inputs.end(), more.begin(), more.end());
                                             Calling(native, inputs)();
                                           },
                                           [&] { sink += ReadAll(next().data(), bytes); }},
                                          41);
  printf("%-24s native/read ceiling %.2f%s\n", name, s[1] / s[0], sink == 1 ? "." : "");
}

void PackedProducts() {
  PackedProduct("gemv of i4 4096x14336", DType::kI4, R"() {
    %w = aten._to_copy(%q, dtype=f32)
    %t = aten.t(%w)
    %y = aten.mm(%x, %t)
    return %y
  })",
                {});
  for (const DType dtype : {DType::kI3, DType::kI2}) {
    PackedProduct(dtype == DType::kI3 ? "gemv of i3 4096x14336" : "gemv of i2 4096x14336", dtype,
                  R"() {
    %w = aten._to_copy(%q, dtype=f32)
    %t = aten.t(%w)
    %y = aten.mm(%x, %t)
    return %y
  })",
                  {});
  }
  PackedProduct("gemv of i4, scaled", DType::kI4, R"(, %s: f32[14336]) {
    %w = aten._to_copy(%q, dtype=f32)
    %t = aten.t(%w)
    %y = aten.mm(%x, %t)
    %z = aten.mul.Tensor(%y, %s)
    return %z
  })",
                {Random({14336})});
  PackedProduct("gemv of u4, zero point", DType::kU4, R"(, %s: f32[14336, 1]) {
    %w = aten._to_copy(%q, dtype=f32)
    %c = aten.sub.Tensor(%w, 8)
    %m = aten.mul.Tensor(%c, %s)
    %t = aten.t(%m)
    %y = aten.mm(%x, %t)
    return %y
  })",
                {Random({14336, 1})});
  PackedProduct("gemv of u4, groups", DType::kU4,
                R"(, %s: f32[14336, 32, 1], %z: f32[14336, 32, 1]) {
    %w = aten._to_copy(%q, dtype=f32)
    %g = aten.view(%w, [14336, 32, 128])
    %c = aten.sub.Tensor(%g, %z)
    %m = aten.mul.Tensor(%c, %s)
    %v = aten.view(%m, [14336, 4096])
    %t = aten.t(%v)
    %y = aten.mm(%x, %t)
    return %y
  })",
                {Random({14336, 32, 1}), Random({14336, 32, 1})});
  PackedProduct("gemv of u4, groups of 32", DType::kU4,
                R"(, %s: f32[14336, 128, 1]) {
    %w = aten._to_copy(%q, dtype=f32)
    %g = aten.view(%w, [14336, 128, 32])
    %c = aten.sub.Tensor(%g, 8)
    %m = aten.mul.Tensor(%c, %s)
    %v = aten.view(%m, [14336, 4096])
    %t = aten.t(%v)
    %y = aten.mm(%x, %t)
    return %y
  })",
                {Random({14336, 128, 1})});
}

void SmallCall() {
  const Program program = Parse(R"(graph @f(%a: f32[16], %b: f32[16], %c: f32[16], %d: f32[16],
      %e: f32[16]) {
    %m = aten.mul.Tensor(%b, %c)
    %s = aten.add.Tensor(%a, %m)
    %q = aten.div.Tensor(%d, %e)
    %r = aten.sub.Tensor(%s, %q)
    return %r
  })");
  const Executable native = MustCompile(program, Tier::kNative, 1);
  std::vector<RunValue> inputs;
  for (int k = 0; k < 5; ++k) inputs.push_back(Random({16}));
  constexpr int kCalls = 100000;
  std::vector<double> seconds;
  int64_t before = 0;
  for (int t = 0; t < 11; ++t) {
    before = news.load();
    seconds.push_back(Seconds([&] {
      for (int k = 0; k < kCalls; ++k) {
        if (!native.Run(inputs).ok()) exit(1);
      }
    }));
  }
  printf("%-22s %.0f ns a call, %.2f calls of operator new\n", "a + b*c - d/e of 16",
         Median(seconds) / kCalls * 1e9, static_cast<double>(news.load() - before) / kCalls);
}

int Main() {
  SmallCall();
  PackedProducts();
  Dynamic();
  {
    const Tensor x = Random({32 << 20});
    Bandwidth("chain of 32 M", With(kChain, "N", "33554432"), {x}, x, 11);
  }
  const Tensor x = Random({8192, 4096});
  const Tensor w = Random({4096}), b = Random({4096});
  Bandwidth("softmax 8192 x 4096", R"(graph @f(%x: f32[8192, 4096]) {
    %y = aten.softmax.int(%x, -1)
    return %y
  })",
            {x}, x, 11);
  Bandwidth("layer_norm 8192 x 4096",
            R"(graph @f(%x: f32[8192, 4096], %w: f32[4096], %b: f32[4096]) {
    %y = aten.layer_norm(%x, [4096], %w, %b)
    return %y
  })",
            {x, w, b}, x, 11);
  const Tensor square = Random({4096, 4096});
  Bandwidth("transposed 4096 x 4096", R"(graph @f(%x: f32[4096, 4096]) {
    %t = aten.t(%x)
    %y = aten.add.Scalar(%t, 1.0)
    %z = aten.clone(%y, memory_format=contiguous_format)
    return %z
  })",
            {square}, square, 11);
  return 0;
}

}  // namespace
}  // namespace lathe

int main() { return lathe::Main(); }
