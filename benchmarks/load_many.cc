// A thousand times load, compile, run and free one model: the resident set must not grow.
//
//   ./bazelw run --config=opt //benchmarks:load_many -- third_party/models/mlp.pt2

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "compiler.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

double ResidentMegabytes() {
  FILE* file = std::fopen("/proc/self/statm", "r");
  long size = 0, resident = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &size, &resident) != 2) return -1;
  std::fclose(file);
  return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

absl::Status Once(const char* path) {
  LATHE_ASSIGN_OR_RETURN(Program program, LoadProgram(path));
  CompileOptions options;
  options.tier = Tier::kTile;
  LATHE_ASSIGN_OR_RETURN(Executable model, Compile(program, options));
  return model.Run({Tensor::Zeros(DType::kF32, {8, 64})}).status();
}

int Main(const char* path) {
  for (int k = 1; k <= 1000; ++k) {
    if (absl::Status s = Once(path); !s.ok()) {
      std::fprintf(stderr, "%s\n", Describe(s).c_str());
      return 2;
    }
    if (k == 10 || k == 100 || k == 500 || k == 1000) {
      std::printf("after %4d: %.1f MB resident\n", k, ResidentMegabytes());
    }
  }
  return 0;
}

}  // namespace
}  // namespace lathe

int main(int argc, char** argv) {
  return lathe::Main(argc > 1 ? argv[1] : "third_party/models/mlp.pt2");
}
