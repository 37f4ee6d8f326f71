// Every model in third_party/models is scheduled into valid kernels, into no more of them than
// stated in kernel_counts.txt, and into little more memory than is live at one time.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "capture/pt2/load_pt2.h"
#include "codegen/plan/emit_plan.h"
#include "codegen/plan/memory_report.h"
#include "dtypes/base/status.h"
#include "ir/ops/registry.h"
#include "ir/passes/pipeline.h"
#include "ir/text/printer.h"
#include "runtime/abi/plan.h"

namespace lathe {
namespace {

std::vector<std::string> ModelPaths() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator("third_party/models")) {
    if (entry.path().extension() == ".pt2") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// "NAME COUNT" a line, # comments: at most so many kernels, externs apart.
std::map<std::string, int> KernelCounts() {
  std::map<std::string, int> counts;
  std::ifstream file("tests/models/kernel_counts.txt");
  std::string name;
  for (int count = 0; file >> std::ws, file.good();) {
    if (file.peek() == '#') {
      std::getline(file, name);
    } else if (file >> name >> count) {
      counts[name] = count;
    }
  }
  return counts;
}

class ScheduleModels : public testing::TestWithParam<std::string> {};

TEST_P(ScheduleModels, IntoValidKernels) {
  const OpRegistry& ops = OpRegistry::Builtin();
  absl::StatusOr<Program> program = LoadPt2(GetParam(), ops);
  ASSERT_TRUE(program.ok()) << Describe(program.status());
  const absl::Status passed = RunPasses(*program, ops, InferencePasses());
  ASSERT_TRUE(passed.ok()) << Describe(passed);
  absl::StatusOr<EmittedPlan> emitted = EmitPlan(*program);
  ASSERT_TRUE(emitted.ok()) << Describe(emitted.status()) << "\n" << PrintProgram(*program);
  for (const KernelSpec& spec : emitted->kernels) {
    const absl::Status valid = VerifyKernelSpec(spec);
    EXPECT_TRUE(valid.ok()) << Describe(valid) << "\n" << ToString(spec);
  }
  absl::StatusOr<Plan> again = ParsePlan(SerializePlan(emitted->plan));
  EXPECT_TRUE(again.ok()) << Describe(again.status());
  int kernels = 0, opaque = 0;
  for (const PlanStep& step : emitted->plan.steps) {
    kernels += std::holds_alternative<LaunchStep>(step);
    opaque += std::holds_alternative<OpaqueStep>(step);
    if (const auto* call = std::get_if<ExternStep>(&step)) {
      kernels += static_cast<int>(call->epilogues.size());
    }
  }
  const std::string name = std::filesystem::path(GetParam()).stem();
  const std::map<std::string, int> limits = KernelCounts();
  ASSERT_TRUE(limits.count(name)) << name << " makes " << kernels << " kernels";
  EXPECT_LE(kernels, limits.at(name));
  EXPECT_EQ(opaque, 0) << "a node runs by its reference evaluation";
  const absl::StatusOr<MemoryReport> memory = ReportMemory(emitted->plan, *program);
  ASSERT_TRUE(memory.ok()) << Describe(memory.status());
  for (const ArenaReport& arena : memory->arenas) {
    EXPECT_LE(static_cast<double>(arena.peak_bytes), 1.15 * static_cast<double>(arena.live_bytes))
        << ToString(*memory);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ScheduleModels, testing::ValuesIn(ModelPaths()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return std::filesystem::path(info.param).stem().string();
                         });

}  // namespace
}  // namespace lathe
