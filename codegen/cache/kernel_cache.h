#ifndef LATHE_CODEGEN_CACHE_KERNEL_CACHE_H_
#define LATHE_CODEGEN_CACHE_KERNEL_CACHE_H_

// Native kernels for specs: from memory, from disk, or compiled. The kernel is the unit: equal
// specs compile once, an edit of one recompiles one.
//
//   NativeReport report;
//   LATHE_ASSIGN_OR_RETURN(auto kernels, CompileKernels(specs, HostTarget(), {}, &report));
//   kernels[0]->Call(args);                  // kernels[k] is of specs[k]
//
// On disk an entry is named by a hash of all that decides its bits (code, header text, compiler,
// flags) and checked by a sum when it is read; a damaged one is built again. Files are written
// beside and renamed, so processes share a cache without locks.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "codegen/cpu/compiler.h"
#include "codegen/cpu/emit.h"
#include "ir/loops/kernel_spec.h"
#include "ir/loops/target.h"
#include "runtime/abi/kernel_interface.h"

namespace lathe {

struct NativeOptions {
  std::string cache_dir;  // "": LATHE_CACHE_DIR, else XDG_CACHE_HOME/lathe, else ~/.cache/lathe
  int jobs = 2;           // compilers at once
  bool use_disk = true;   // false: compile, and leave nothing behind
  bool use_memory = true;
};

struct NativeReport {
  int kernels = 0;       // specs asked for
  int deduplicated = 0;  // of these, equal to an earlier one
  int memory_hits = 0;   // already loaded in this process
  int disk_hits = 0;
  int compiled = 0;
  int units = 0;  // translation units
  double emit_seconds = 0, compile_seconds = 0;
  int damaged = 0;  // entries on disk that were not whole and were built again
  // Why the disk was not used, or what was damaged; "" if all is well: the caller says so in one
  // line.
  std::string cache_problem;
};

// What names a kernel's entry on disk: a hash of its code with the header text that it uses, of the
// compiler, and of the flags.
std::string KernelCacheKey(const cpu::EmittedKernel& kernel, const cpu::Compiler& compiler,
                           const std::vector<std::string>& flags, const Target& target);
// The compiler's flags for kernels of this target; `is_small` as in cpu::EmittedKernel.
std::vector<std::string> KernelFlags(const Target& target, bool is_small = false);

// Unimplemented for a spec that native code cannot express, NotFound without a compiler (and with
// something to compile): the tile tier remains.
absl::StatusOr<std::vector<std::shared_ptr<const Kernel>>> CompileKernels(
    absl::Span<const KernelSpec> specs, const Target& target, const NativeOptions& options,
    NativeReport* report);

}  // namespace lathe

#endif  // LATHE_CODEGEN_CACHE_KERNEL_CACHE_H_
