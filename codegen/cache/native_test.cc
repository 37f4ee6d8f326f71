// Every kernel of codegen/testdata, compiled by the machine's compiler, against the evaluator
// (vector math nearly, all else bit for bit) and against the tile tier (all bit for bit).

#include <algorithm>
#include <cstdlib>

#include "codegen/cache/kernel_cache.h"
#include "codegen/cpu/compiler.h"
#include "codegen/cpu/emit.h"
#include "codegen/testing/spec_cases.h"
#include "codegen/tile/tile.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

NativeOptions Fresh() {
  NativeOptions options;
  options.use_disk = false;
  return options;
}

// LATHE_TEST_FILTER: the cases whose title holds it.
std::vector<SpecCase> Cases(const std::string& file) {
  auto cases = LoadSpecCases("codegen/testdata/" + file);
  EXPECT_TRUE(cases.ok()) << cases.status();
  const char* filter = std::getenv("LATHE_TEST_FILTER");
  std::vector<SpecCase> wanted;
  for (SpecCase& test : *cases) {
    if (filter == nullptr || test.title.find(filter) != std::string::npos) {
      wanted.push_back(std::move(test));
    }
  }
  return wanted;
}

// Kernels of the cases; nullptr, and a failure, for a batch that does not compile.
std::vector<std::shared_ptr<const Kernel>> Compile(const std::vector<SpecCase>& cases,
                                                   const Target& target) {
  std::vector<std::shared_ptr<const Kernel>> all;
  NativeReport total;
  for (size_t first = 0; first < cases.size(); first += 64) {
    std::vector<KernelSpec> specs;
    for (size_t k = first; k < std::min(first + 64, cases.size()); ++k) {
      specs.push_back(cases[k].spec);
    }
    NativeReport report;
    auto kernels = CompileKernels(specs, target, Fresh(), &report);
    EXPECT_TRUE(kernels.ok()) << kernels.status();
    if (kernels.ok()) {
      all.insert(all.end(), kernels->begin(), kernels->end());
    } else {
      all.resize(first + specs.size());
    }
    total.compiled += report.compiled;
    total.units += report.units;
    total.emit_seconds += report.emit_seconds;
    total.compile_seconds += report.compile_seconds;
  }
  std::printf("%d kernels in %d units: %.2f s to emit, %.2f s to compile\n", total.compiled,
              total.units, total.emit_seconds, total.compile_seconds);
  return all;
}

class NativeKernels : public testing::TestWithParam<const char*> {};

TEST_P(NativeKernels, DoAsTheEvaluatorAndTheTileTier) {
  const std::vector<SpecCase> cases = Cases(GetParam());
  const auto kernels = Compile(cases, HostTarget());
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (kernels[k] == nullptr) continue;
    const absl::Status status = CheckAgainstEvaluator(cases[k], *kernels[k]);
    EXPECT_TRUE(status.ok()) << status << "\n"
                             << cpu::EmitKernel(cases[k].spec, HostTarget())->code;
    auto tile = CompileTile(cases[k].spec);
    ASSERT_TRUE(tile.ok()) << cases[k].title << ": " << tile.status();
    const absl::Status same = CheckSameBits(cases[k], *kernels[k], **tile);
    EXPECT_TRUE(same.ok()) << same;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, NativeKernels,
                         testing::Values("indexing.spec", "reductions.spec", "packed_rows.spec",
                                         "pointwise.spec"));

// One combination of each case.
std::vector<SpecCase> FirstCases(const std::string& file) {
  std::vector<SpecCase> first;
  for (SpecCase& test : Cases(file)) {
    const std::string title = test.title.substr(0, test.title.find(" ["));
    if (first.empty() || first.back().title.substr(0, title.size()) != title) {
      first.push_back(std::move(test));
    }
  }
  return first;
}

void ExpectSameBits(const std::vector<SpecCase>& cases, const Target& target) {
  const auto expected = Compile(cases, HostTarget());
  const auto kernels = Compile(cases, target);
  for (size_t k = 0; k < cases.size(); ++k) {
    if (expected[k] == nullptr || kernels[k] == nullptr) continue;
    const absl::Status status = CheckSameBits(cases[k], *expected[k], *kernels[k]);
    EXPECT_TRUE(status.ok()) << status;
  }
}

// No instruction past the baseline, not even fma.
TEST(NativeKernel, NarrowVectorsGiveTheSameBits) {
  Target narrow = HostTarget();
  narrow.vector_bytes = 16;
  narrow.features.clear();
  for (const char* file : {"reductions.spec", "packed_rows.spec", "indexing.spec"}) {
    ExpectSameBits(FirstCases(file), narrow);
  }
}

// Compiled everywhere, run where the machine can.
TEST(NativeKernel, WideVectorsGiveTheSameBits) {
  Target wide = HostTarget();
  wide.vector_bytes = 64;
  wide.features = {"avx2",     "avx512bw", "avx512cd", "avx512dq", "avx512f",
                   "avx512vl", "bmi",      "bmi2",     "f16c",     "fma"};
  const bool runs = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  for (const char* file :
       {"reductions.spec", "packed_rows.spec", "indexing.spec", "pointwise.spec"}) {
    const std::vector<SpecCase> cases = FirstCases(file);
    if (runs) {
      ExpectSameBits(cases, wide);
    } else {
      Compile(cases, wide);
    }
  }
}

}  // namespace
}  // namespace lathe
