#ifndef LATHE_COMPILER_H_
#define LATHE_COMPILER_H_

// The one call that composes the libraries: a program in, an executable out.
//
//   absl::StatusOr<lathe::Program> program = lathe::LoadProgram("model.pt2");
//   absl::StatusOr<lathe::Executable> model = lathe::Compile(*program, {});
//   absl::StatusOr<std::vector<lathe::RunValue>> out = model->Run({x});

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "ir/graph/program.h"
#include "ir/ops/registry.h"
#include "runtime/executor/executor.h"

namespace lathe {

enum class Tier : uint8_t {
  kAuto,       // tile at once; native code compiled in the background is swapped in
  kTile,       // precompiled vector kernels, nothing is compiled
  kNative,     // generated C++, compiled before Compile returns
  kReference,  // node by node, the slow, obvious meaning
};
absl::string_view TierName(Tier tier);

struct CompileOptions {
  Device device = Device::Cpu();
  Tier tier = Tier::kAuto;
  int threads = 0;      // 0: DefaultThreadCount()
  bool strict = false;  // a fallback is an error
  bool fuse_epilogues = true;
  // kEager: every operator rounds its result to its dtype, as eager does. kFast: f16 and bf16
  // values stay f32 inside a fused kernel.
  enum class Numerics : uint8_t { kEager, kFast };
  Numerics numerics = Numerics::kEager;
  // The tile tier's tiles have at most so many elements: a power of two from 64 to 1024. Results do
  // not depend on it.
  int tile = 1024;
  // Run from the Plan's serialised form, as a package would.
  bool through_serialized_plan = false;
  const OpRegistry* registry = nullptr;  // nullptr: the builtin one
};

// What compiling did: for --json, benchmarks and tests.
struct CompileReport {
  std::string tier;
  int64_t nodes_imported = 0, nodes_compiled = 0;
  int64_t kernels = 0;  // launches in the plan, epilogues included
  int64_t distinct_kernels = 0;
  int64_t externs = 0;
  int64_t opaque_calls = 0;
  int64_t deduplicated = 0;  // native: specs equal to an earlier one
  int64_t cache_hits = 0;    // native: kernels found in memory or on disk
  int64_t compiled = 0;      // native: kernels compiled now
  // One line each: what runs slower or elsewhere than asked for.
  std::vector<std::string> fallbacks;
  std::map<std::string, double> seconds;  // by phase: passes, schedule, codegen, load
};

// Reads a .pt2 archive or lathe's text ("-": standard input); weights are mapped.
absl::StatusOr<Program> LoadProgram(const std::string& path, const OpRegistry* registry = nullptr);

class Executable {
 public:
  struct Impl;  // compiler.cc
  Executable(Executable&&);
  Executable& operator=(Executable&&);
  ~Executable();

  // User inputs in order (tensors, or numbers for symbolic scalars) -> user outputs in order.
  // Inputs that the program mutates are changed in place. Any number of threads may call at once.
  absl::StatusOr<std::vector<RunValue>> Run(absl::Span<const RunValue> inputs) const;
  absl::StatusOr<std::vector<RunValue>> Run(std::initializer_list<RunValue> inputs) const {
    return Run(absl::MakeConstSpan(inputs.begin(), inputs.size()));
  }

  const CompileReport& report() const;
  // The program after the passes, as graph text; the schedule; the generated code...: what
  // `lathe show --stage` prints: import, decomposed, loops, schedule, code, plan, memory. NotFound
  // for a stage that this tier does not have.
  absl::StatusOr<std::string> Stage(absl::string_view stage) const;
  // Names of the user inputs, in order.
  const std::vector<std::string>& input_names() const;

 private:
  friend absl::StatusOr<Executable> Compile(const Program& program, const CompileOptions& options);
  explicit Executable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

absl::StatusOr<Executable> Compile(const Program& program, const CompileOptions& options = {});

}  // namespace lathe

#endif  // LATHE_COMPILER_H_
