#ifndef LATHE_CODEGEN_CPU_COMPILER_H_
#define LATHE_CODEGEN_CPU_COMPILER_H_

// The machine's C++ compiler as a process: an argument vector, no shell.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/loops/target.h"

namespace lathe::cpu {

struct Compiler {
  std::string path;
  std::string version;  // which file that is, with size and time: for cache keys
};

// LATHE_CXX, or g++ on PATH. NotFound when there is none: the tile tier remains.
absl::StatusOr<Compiler> FindCompiler();

// All but the files. The bits of a result do not depend on the -m flags, nor on how hard the
// compiler tries: with `fast` it takes a third less time, and kernels are up to a tenth slower.
std::vector<std::string> CompilerFlags(const Target& target, bool fast = false);

// Compiles many sources at once, `jobs` processes side by side: (source, object) paths. The first
// failure ends it: Internal with what the compiler said.
struct CompileTask {
  std::string source;
  std::string output;
  std::vector<std::string> flags;
};
absl::Status RunCompiler(const Compiler& compiler, const std::vector<CompileTask>& tasks, int jobs);

}  // namespace lathe::cpu

#endif  // LATHE_CODEGEN_CPU_COMPILER_H_
