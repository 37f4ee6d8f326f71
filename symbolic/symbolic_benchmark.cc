// bazel run -c opt //symbolic:symbolic_benchmark: what sizes cost a compiler.
//
// Each case runs at several sizes. "slope" is the exponent by which its time grew since the size
// before: 1 is linear, 2 quadratic.

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "symbolic/expr.h"
#include "symbolic/expr_node.h"
#include "symbolic/guard_predicate.h"
#include "symbolic/shape_env.h"

namespace lathe::symbolic {
namespace {

std::vector<Expr> Backed(ShapeEnv& env, int64_t n, int64_t lower = 2) {
  std::vector<Expr> symbols;
  for (int64_t i = 0; i < n; ++i) {
    symbols.push_back(env.AddBacked(absl::StrCat("s", i), Source::InputSize(0, static_cast<int>(i)),
                                    8 + i, {lower, Range::kMax}));
  }
  return symbols;
}

double CpuSeconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Lives as long as the loop of a case.
class Slope {
 public:
  Slope(const char* name, benchmark::State& state)
      : name_(name), state_(state), begin_(CpuSeconds()) {}
  ~Slope() {
    const double iterations = static_cast<double>(std::max<int64_t>(state_.iterations(), 1));
    static std::map<std::string, std::map<int64_t, double>>& seconds =
        *new std::map<std::string, std::map<int64_t, double>>();
    std::map<int64_t, double>& of = seconds[name_];
    const int64_t n = state_.range(0);
    of[n] = (CpuSeconds() - begin_) / iterations;
    const auto at = of.find(n);
    if (at == of.begin()) return;
    const auto& [before, least] = *std::prev(at);
    state_.counters["slope"] =
        std::log(of[n] / least) / std::log(static_cast<double>(n) / static_cast<double>(before));
  }
  Slope(const Slope&) = delete;
  Slope& operator=(const Slope&) = delete;

 private:
  const std::string name_;
  benchmark::State& state_;
  const double begin_;
};

// The floor of all that follows: entries a second into an empty hash map.
void BM_HashMap(benchmark::State& state) {
  const int64_t n = state.range(0);
  for (auto _ : state) {
    absl::flat_hash_map<int64_t, int64_t> map;
    for (int64_t i = 0; i < n; ++i)
      map[static_cast<int64_t>(static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15u)] = i;
    benchmark::DoNotOptimize(map.size());
  }
  state.SetItemsProcessed(state.iterations() * n);
}
BENCHMARK(BM_HashMap)->Arg(10000)->Arg(100000)->Arg(1000000)->Unit(benchmark::kMillisecond);

// New nodes a second, through the operators.
void BM_Intern(benchmark::State& state) {
  const int64_t n = state.range(0);
  int64_t nodes = 0;
  for (auto _ : state) {
    ExprContext context;
    const Expr s0 = context.Symbol("s0"), s1 = context.Symbol("s1");
    for (int64_t i = 2; context.node_count() < n; ++i) {
      benchmark::DoNotOptimize(s0 * i + s1);
    }
    nodes += context.node_count();
    state.counters["bytes_per_node"] = static_cast<double>(ContextAccess::MemoryBytes(context)) /
                                       static_cast<double>(context.node_count());
  }
  state.SetItemsProcessed(nodes);
}
BENCHMARK(BM_Intern)->Arg(10000)->Arg(100000)->Arg(1000000)->Unit(benchmark::kMillisecond);

// Expressions that exist already.
void BM_InternAgain(benchmark::State& state) {
  ExprContext context;
  const Expr s0 = context.Symbol("s0"), s1 = context.Symbol("s1");
  for (auto _ : state) {
    for (int64_t i = 2; i < 1002; ++i) benchmark::DoNotOptimize(s0 * i + s1);
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(BM_InternAgain);

void BM_SumOneByOne(benchmark::State& state) {
  const Slope slope("sum", state);
  for (auto _ : state) {
    ShapeEnv env(std::make_shared<ExprContext>());
    const std::vector<Expr> symbols = Backed(env, state.range(0));
    Expr sum = 0;
    for (const Expr& s : symbols) sum = sum + s;
    benchmark::DoNotOptimize(env.Simplify(sum));
    benchmark::DoNotOptimize(env.IsKnownTrue(Ge(sum, 2 * state.range(0))));
  }
}
BENCHMARK(BM_SumOneByOne)->RangeMultiplier(2)->Range(200, 1600)->Unit(benchmark::kMillisecond);

void BM_Guards(benchmark::State& state) {
  const Slope slope("guards", state);
  for (auto _ : state) {
    ShapeEnv env(std::make_shared<ExprContext>());
    const std::vector<Expr> s = Backed(env, 64);
    const size_t n = static_cast<size_t>(state.range(0));
    for (size_t i = 0; i < n; ++i) {
      const Expr& a = s[i % 64];
      const Expr& b = s[(i * 7 + i / 64 + 1) % 64];
      const int64_t k = static_cast<int64_t>(i);
      const Expr condition = i % 4 == 0   ? Le(a + b, 1000 + k)
                             : i % 4 == 1 ? Ne(a * 2, b + k)
                             : i % 4 == 2 ? Lt(a, b * 3 + 17 + k)
                                          : Le(a * b, 100000 + k);
      benchmark::DoNotOptimize(env.GuardTrue(condition, {"%node", "model.py:1"}));
    }
    state.counters["guards"] = static_cast<double>(env.guards().size());
  }
}
BENCHMARK(BM_Guards)->Arg(500)->Arg(1089)->Arg(2178)->Arg(4355)->Unit(benchmark::kMillisecond);

void BM_ProductDividedByItsParts(benchmark::State& state) {
  const Slope slope("product", state);
  for (auto _ : state) {
    ShapeEnv env(std::make_shared<ExprContext>());
    const std::vector<Expr> symbols = Backed(env, state.range(0));
    const Expr product = Product(symbols);
    Expr part = 1;
    int64_t known = 0;
    for (const Expr& s : symbols) {
      known += env.IsKnownEqual(env.Simplify(product / s) * s, product);
      part = part * s;
      known += env.IsKnownTrue(Eq(product % part, 0));
      benchmark::DoNotOptimize(env.Simplify(product / part));
    }
    if (known != 2 * state.range(0)) state.SkipWithError("not all are known");
  }
}
BENCHMARK(BM_ProductDividedByItsParts)
    ->Arg(15)
    ->Arg(30)
    ->Arg(60)
    ->Arg(120)
    ->Arg(240)
    ->Unit(benchmark::kMillisecond);

// The output size, the offset of every piece, each inside the output.
void BM_Concatenation(benchmark::State& state) {
  const Slope slope("concatenation", state);
  for (auto _ : state) {
    ShapeEnv env(std::make_shared<ExprContext>());
    const std::vector<Expr> sizes = Backed(env, state.range(0), 0);
    const Expr total = Sum(sizes);
    Expr offset = 0;
    int64_t known = 0;
    for (const Expr& s : sizes) {
      known += env.IsKnownTrue(Le(offset, total));
      offset = offset + s;
    }
    if (offset != total || known != state.range(0)) state.SkipWithError("not all are known");
  }
}
BENCHMARK(BM_Concatenation)
    ->Arg(95)
    ->Arg(190)
    ->Arg(380)
    ->Arg(760)
    ->Arg(1520)
    ->Unit(benchmark::kMillisecond);

// One call's guards: contiguous tensors of four dimensions, the first of them dynamic.
void BM_Predicate(benchmark::State& state) {
  ShapeEnv env(std::make_shared<ExprContext>());
  std::vector<Source> layout;
  std::vector<int64_t> values;
  const int64_t sizes[] = {8, 16, 7, 64}, strides[] = {7168, 448, 64, 1};
  for (int i = 0; i < state.range(0); ++i) {
    std::vector<Expr> bound;
    for (int d = 0; d < 4; ++d) {
      const DimPolicy policy = d == 0 ? DimPolicy::kDuck : DimPolicy::kStatic;
      bound.push_back(
          *env.BindInput(Source::InputSize(i, d), sizes[d], {policy, true, {0, 1 << 20}}));
      layout.push_back(Source::InputSize(i, d));
      values.push_back(sizes[d]);
    }
    env.BindStrides(i, bound, strides);
    for (int d = 0; d < 4; ++d) {
      layout.push_back(Source::InputStride(i, d));
      values.push_back(strides[d]);
    }
  }
  const absl::StatusOr<bool> guard =
      env.GuardTrue(Eq(Mod(env.symbols()[0] * 3, 4), 0), {"%view", "model.py:1"});
  const absl::StatusOr<GuardPredicate> predicate = GuardPredicate::Compile(env, layout);
  if (!guard.ok() || !predicate.ok() || !predicate->Holds(values.data())) {
    state.SkipWithError("the predicate does not hold");
    return;
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(values.data());
    benchmark::DoNotOptimize(predicate->Holds(values.data()));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));  // tensors
}
BENCHMARK(BM_Predicate)->Arg(10)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace lathe::symbolic

// Memory stays with the process: what is measured is not how the kernel clears pages, anew for
// each iteration.
int main(int argc, char** argv) {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
