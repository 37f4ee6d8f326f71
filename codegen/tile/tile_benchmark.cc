// What a call of a tile program costs beside hand-written loops and one pass an operation:
//   ./bazelw run //codegen/tile:tile_benchmark

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "codegen/tile/tile.h"
#include "ir/loops/kernel_spec.h"

namespace lathe {
namespace {

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds of the fastest of many short runs, which a busy machine disturbs least.
template <typename F>
double Best(F f) {
  double start = Now();
  f();
  const double first = Now() - start;
  const int inner = static_cast<int>(std::clamp(2e-5 / first, 1.0, 1000.0));
  const int repeats = static_cast<int>(std::clamp(0.5 / (first * inner), 5.0, 5000.0));
  double best = first;
  for (int k = 0; k < repeats; ++k) {
    start = Now();
    for (int j = 0; j < inner; ++j) f();
    best = std::min(best, (Now() - start) / inner);
  }
  return best;
}

// Floats at a cache line's start, as runtime memory gives them.
struct Floats {
  Floats(int64_t n, float value)
      : n(n), memory(std::aligned_alloc(64, (n * 4 + 127) & -64), &std::free) {
    std::fill(data(), data() + n, value);
  }
  float* data() const { return static_cast<float*>(memory.get()); }
  int64_t n;
  std::unique_ptr<void, void (*)(void*)> memory;
};

struct Compiled {
  std::shared_ptr<const Kernel> kernel;
  double microseconds = 0;
};

Compiled Compile(const std::string& text) {
  ExprContext context;
  absl::StatusOr<KernelSpec> spec = ParseKernelSpec(text, context);
  if (!spec.ok()) std::printf("%s\n", std::string(spec.status().message()).c_str());
  Compiled result;
  result.microseconds = 1e6 * Best([&] { result.kernel = *CompileTile(*spec); });
  return result;
}

void Call(const Kernel& kernel, std::initializer_list<void*> buffers,
          std::initializer_list<int64_t> scalars, int64_t rows) {
  static std::vector<char> scratch(1 << 24);
  LatheKernelError error;
  LatheKernelArgs args{buffers.begin(), scalars.begin(), 0, rows, scratch.data(), &error};
  if (kernel.Call(args) != 0) std::printf("failed\n");
}

constexpr const char* kHead = R"(
kernel k(s0: size) {
  buffer b0: in f32 align 64
  buffer b1: in f32 align 64
  buffer b2: out f32 align 64
  axis i0: parallel s0
  outer [] grain 64
  stage [i0] {
    %0 = load b0[i0] : f32
    %1 = load b1[i0] : f32
)";

std::string Chain() {
  return std::string(kHead) + R"(
    %2 = add %0, %1 : f32
    %3 = mul %2, %0 : f32
    %4 = sub %3, %1 : f32
    %5 = mul %4, %4 : f32
    %6 = add %5, %0 : f32
    %7 = maximum %6, %1 : f32
    %8 = mul %7, %0 : f32
    %9 = sub %8, %2 : f32
    %10 = minimum %9, %5 : f32
    %11 = add %10, %1 : f32
    store b2[i0], %11
  }
})";
}

// The chain's operations one pass each, through a kernel for each.
std::string OneOperation(const std::string& name) {
  return std::string(kHead) + "    %2 = " + name + " %0, %1 : f32\n    store b2[i0], %2\n  }\n}";
}

__attribute__((target("avx2,fma"), optimize("O3"))) void NativeChain(const float* a, const float* b,
                                                                     float* out, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const float x = a[i], y = b[i];
    const float t2 = x + y, t3 = t2 * x, t4 = t3 - y, t5 = t4 * t4, t6 = t5 + x;
    const float t7 = (t6 > y) | (t6 != t6) ? t6 : y, t8 = t7 * x, t9 = t8 - t2;
    const float t10 = (t9 < t5) | (t9 != t9) ? t9 : t5;
    out[i] = t10 + y;
  }
}

void BenchChain() {
  const Compiled chain = Compile(Chain());
  std::printf("chain of 10: compiled in %.1f us\n", chain.microseconds);
  std::vector<Compiled> passes;
  for (const char* name :
       {"add", "mul", "sub", "mul", "add", "maximum", "mul", "sub", "minimum", "add"}) {
    passes.push_back(Compile(OneOperation(name)));
  }
  for (int64_t n :
       {int64_t{16}, int64_t{128}, int64_t{256}, int64_t{512}, int64_t{1024}, int64_t{2048},
        int64_t{4096}, int64_t{65536}, int64_t{1} << 20, int64_t{32} << 20}) {
    const Floats a(n, 1.5f), b(n, 0.25f), out(n, 0), temporary(n, 0);
    const double tile = Best([&] {
      Call(*chain.kernel, {a.data(), b.data(), out.data()}, {n}, n);
    });
    const double native = Best([&] { NativeChain(a.data(), b.data(), out.data(), n); });
    const double each = Best([&] {
      for (const Compiled& pass : passes) {
        Call(*pass.kernel, {a.data(), b.data(), temporary.data()}, {n}, n);
      }
    });
    std::printf("  n %9ld: tile %10.1f ns, native %10.1f ns (%.2fx), a pass each %.2fx slower\n",
                static_cast<long>(n), 1e9 * tile, 1e9 * native, tile / native, each / tile);
  }
}

std::string Softmax() {
  return R"(
kernel softmax(s0: size, s1: size) {
  buffer b0: in f32 align 64
  buffer b1: out f32 align 64
  axis i0: parallel s0
  axis i1: reduce s1
  axis i2: reduce s1
  axis i3: parallel s1
  local l0: f32 []
  local l1: f32 []
  outer [i0] grain 4
  stage [i1] {
    %0 = load b0[s1*i0 + i1] : f32   %1 = reduce max %0 : f32   store_local l0, %1
  }
  stage [i2] {
    %0 = load b0[s1*i0 + i2] : f32
    %1 = load_local l0 : f32
    %2 = sub %0, %1 : f32
    %3 = exp %2 : f32
    %4 = reduce sum %3 : f32
    store_local l1, %4
  }
  stage [i3] {
    %0 = load b0[s1*i0 + i3] : f32
    %1 = load_local l0 : f32
    %2 = sub %0, %1 : f32
    %3 = exp %2 : f32
    %4 = load_local l1 : f32
    %5 = div %3, %4 : f32
    store b1[s1*i0 + i3], %5
  }
})";
}

std::string LayerNorm() {
  return R"(
kernel layer_norm(s0: size, s1: size) {
  buffer b0: in f32 align 64
  buffer b1: in f32 align 64
  buffer b2: in f32 align 64
  buffer b3: out f32 align 64
  axis i0: parallel s0
  axis i1: reduce s1
  axis i2: reduce s1
  axis i3: parallel s1
  local l0: f32 []
  local l1: f32 []
  outer [i0] grain 4
  stage [i1] {
    %0 = load b0[s1*i0 + i1] : f32
    %1 = reduce sum %0 : f32
    %2 = index s1 : f32
    %3 = div %1, %2 : f32
    store_local l0, %3
  }
  stage [i2] {
    %0 = load b0[s1*i0 + i2] : f32
    %1 = load_local l0 : f32
    %2 = sub %0, %1 : f32
    %3 = mul %2, %2 : f32
    %4 = reduce sum %3 : f32
    %5 = index s1 : f32
    %6 = div %4, %5 : f32
    %7 = constant 1e-05 : f32
    %8 = add %6, %7 : f32
    %9 = rsqrt %8 : f32
    store_local l1, %9
  }
  stage [i3] {
    %0 = load b0[s1*i0 + i3] : f32
    %1 = load_local l0 : f32
    %2 = sub %0, %1 : f32
    %3 = load_local l1 : f32
    %4 = mul %2, %3 : f32
    %5 = load b1[i3] : f32
    %6 = mul %4, %5 : f32
    %7 = load b2[i3] : f32
    %8 = add %6, %7 : f32
    store b3[s1*i0 + i3], %8
  }
})";
}

void BenchRows(const char* name, const std::string& text, int buffers,
               const std::vector<int64_t>& widths) {
  const Compiled kernel = Compile(text);
  std::printf("%s: compiled in %.1f us\n", name, kernel.microseconds);
  for (int64_t cols : widths) {
    const int64_t rows = (1 << 20) / cols;
    const Floats x(rows * cols, 0), w(cols, 1.0f), b(cols, 0.5f), out(rows * cols, 0);
    for (int64_t i = 0; i < x.n; ++i) x.data()[i] = std::sin(static_cast<float>(i));
    const double seconds = Best([&] {
      if (buffers == 4) {
        Call(*kernel.kernel, {x.data(), w.data(), b.data(), out.data()}, {rows, cols}, rows);
      } else {
        Call(*kernel.kernel, {x.data(), out.data()}, {rows, cols}, rows);
      }
    });
    std::printf("  %ld x %ld: %.3f ns an element\n", static_cast<long>(rows),
                static_cast<long>(cols), 1e9 * seconds / static_cast<double>(rows * cols));
  }
}

void BenchMath() {
  const int64_t n = 1 << 16;
  const Floats a(n, 0), b(n, 1.0f), out(n, 0);
  for (int64_t i = 0; i < n; ++i) a.data()[i] = 0.0001f * static_cast<float>(i % 20000);
  for (const char* name : {"exp", "log", "tanh", "sigmoid", "erf", "sin", "sqrt", "floor", "neg"}) {
    const Compiled kernel = Compile(std::string(kHead) + "    %2 = " + name +
                                    " %0 : f32\n    store b2[i0], %2\n  }\n}");
    const double seconds = Best([&] {
      Call(*kernel.kernel, {a.data(), b.data(), out.data()}, {n}, n);
    });
    std::printf("%-8s %.3f ns an element\n", name, 1e9 * seconds / static_cast<double>(n));
  }
}

}  // namespace
}  // namespace lathe

// With arguments, one thing alone: softmax 512.
int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  std::vector<int64_t> widths = {8, 64, 512, 4096};
  if (argc > 2) widths = {std::atoll(argv[2])};
  if (only.empty() || only == "chain") lathe::BenchChain();
  if (only.empty() || only == "softmax") lathe::BenchRows("softmax", lathe::Softmax(), 2, widths);
  if (only.empty() || only == "layer_norm") {
    lathe::BenchRows("layer_norm", lathe::LayerNorm(), 4, widths);
  }
  if (only.empty() || only == "math") lathe::BenchMath();
  return 0;
}
