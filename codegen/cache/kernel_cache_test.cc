#include "codegen/cache/kernel_cache.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "codegen/cpu/emit.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

namespace fs = std::filesystem;

// y = x * factor, of any length.
KernelSpec Scaling(ExprContext& context, double factor) {
  auto spec = ParseKernelSpec(
      absl::StrCat("kernel k(s0: size) { buffer b0: in f32 buffer b1: out f32\n"
                   "axis i0: parallel s0\n stage [i0] { %0 = load b0[i0] : f32 %1 = constant ",
                   factor, " : f32 %2 = mul %0, %1 : f32 store b1[i0], %2 } }"),
      context);
  EXPECT_TRUE(spec.ok()) << spec.status();
  return *spec;
}

float RunOn(const Kernel& kernel, float x) {
  float y = -1;
  void* buffers[] = {&x, &y};
  const int64_t size = 1;
  LatheKernelError error{};
  const LatheKernelArgs args = {buffers, &size, 0, 1, nullptr, &error};
  EXPECT_EQ(kernel.Call(args), kLatheOk);
  return y;
}

class KernelCache : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = absl::StrCat(testing::TempDir(), "/cache-",
                           testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    options_.cache_dir = folder_;
    options_.use_memory = false;
  }
  std::vector<std::shared_ptr<const Kernel>> Compile(const std::vector<KernelSpec>& specs) {
    report_ = {};
    auto kernels = CompileKernels(specs, target_, options_, &report_);
    EXPECT_TRUE(kernels.ok()) << kernels.status();
    return kernels.ok() ? *kernels : std::vector<std::shared_ptr<const Kernel>>();
  }
  std::vector<fs::path> Files(const std::string& extension) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == extension) files.push_back(entry.path());
    }
    return files;
  }

  ExprContext context_;
  std::string folder_;
  const Target target_ = HostTarget();
  NativeOptions options_;
  NativeReport report_;
};

TEST_F(KernelCache, CompilesOnceThenReadsThenRebuildsWhatIsDamaged) {
  const std::vector<KernelSpec> specs = {Scaling(context_, 2), Scaling(context_, 3),
                                         Scaling(context_, 2)};
  auto kernels = Compile(specs);
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(report_.compiled, 2);
  EXPECT_EQ(report_.deduplicated, 1);
  EXPECT_EQ(RunOn(*kernels[0], 5), 10);
  EXPECT_EQ(RunOn(*kernels[1], 5), 15);
  EXPECT_EQ(kernels[2], kernels[0]);
  EXPECT_EQ(kernels[0]->tier(), "native");
  EXPECT_EQ(Files(".kernel").size(), 2u);
  EXPECT_EQ(Files(".cc").size(), 0u);

  kernels = Compile(specs);
  EXPECT_EQ(report_.compiled, 0);
  EXPECT_EQ(report_.disk_hits, 2);
  EXPECT_EQ(RunOn(*kernels[1], 5), 15);
  kernels.clear();

  // A flipped byte in each library: the sums tell.
  for (const fs::path& path : Files(".so")) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('\x55');
  }
  kernels = Compile(specs);
  EXPECT_EQ(report_.compiled, 2);
  EXPECT_EQ(report_.damaged, 2);
  EXPECT_NE(report_.cache_problem.find("built again, since the library of the entry"),
            std::string::npos)
      << report_.cache_problem;
  EXPECT_EQ(RunOn(*kernels[1], 5), 15);
  // An entry cut short.
  fs::resize_file(Files(".kernel")[0], 20);
  Compile(specs);
  EXPECT_EQ(report_.compiled, 1);
  EXPECT_EQ(report_.damaged, 1);
  EXPECT_EQ(report_.disk_hits, 1);
}

// Each has its kernels right, and the folder holds them once.
TEST_F(KernelCache, TwoProcessesAtOnce) {
  const std::vector<KernelSpec> specs = {Scaling(context_, 2), Scaling(context_, 3)};
  std::vector<pid_t> children;
  for (int process = 0; process < 2; ++process) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    auto kernels = CompileKernels(specs, target_, options_, nullptr);
    _exit(kernels.ok() && RunOn(*(*kernels)[0], 5) == 10 && RunOn(*(*kernels)[1], 5) == 15 ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Files(".kernel").size(), 2u);
  EXPECT_EQ(Files(".so").size(), 2u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 4);
  Compile(specs);
  EXPECT_EQ(report_.disk_hits, 2);
}

TEST_F(KernelCache, MemoryLayerHoldsWhatIsInUse) {
  options_.use_memory = true;
  options_.use_disk = false;
  auto held = Compile({Scaling(context_, 7)});
  auto again = Compile({Scaling(context_, 7), Scaling(context_, 7)});
  EXPECT_EQ(report_.memory_hits, 1);
  EXPECT_EQ(report_.deduplicated, 1);
  EXPECT_EQ(again[0], held[0]);
  EXPECT_EQ(again[1], held[0]);
  held.clear();
  again.clear();
  Compile({Scaling(context_, 7)});
  EXPECT_EQ(report_.compiled, 1);
}

TEST_F(KernelCache, WithoutACompilerOnlyWhatIsCachedWorks) {
  Compile({Scaling(context_, 2)});
  setenv("LATHE_CXX", "no-such-compiler", 1);
  const std::vector<KernelSpec> specs = {Scaling(context_, 4)};
  const absl::Status status = CompileKernels(specs, target_, options_, nullptr).status();
  unsetenv("LATHE_CXX");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_NE(status.message().find("the tile tier remains"), absl::string_view::npos) << status;
}

TEST_F(KernelCache, AFolderThatCannotBeWrittenIsReported) {
  options_.cache_dir = "/proc/lathe-cache";
  auto kernels = Compile({Scaling(context_, 9)});
  EXPECT_EQ(RunOn(*kernels[0], 2), 18);
  EXPECT_NE(report_.cache_problem.find("/proc/lathe-cache"), std::string::npos);
}

TEST_F(KernelCache, CompilerErrorsAreShown) {
  setenv("LATHE_CXX", "false", 1);
  const std::vector<KernelSpec> specs = {Scaling(context_, 11)};
  const absl::Status status = CompileKernels(specs, target_, options_, nullptr).status();
  unsetenv("LATHE_CXX");
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(Files(".so").empty());
}

}  // namespace
}  // namespace lathe
