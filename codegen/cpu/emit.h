#ifndef LATHE_CODEGEN_CPU_EMIT_H_
#define LATHE_CODEGEN_CPU_EMIT_H_

// A KernelSpec as C++ for g++: one function of the kernel ABI (runtime/abi/kernel.h), in Highway's
// names over vectors of a fixed number of lanes.
//
//   LATHE_ASSIGN_OR_RETURN(EmittedKernel kernel, EmitKernel(spec, target));
//   std::string unit = TranslationUnit({kernel});      // complete, no #include
//   // defines  int32_t k_0123456789abcdef(const LatheKernelArgs*)
//   // and      int64_t k_0123456789abcdef_scratch(const int64_t* scalars, int64_t rows)
//
// Every name in the text is made here; nothing of the user's reaches it.

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "codegen/cpu/op_emitter.h"
#include "ir/loops/kernel_spec.h"
#include "ir/loops/target.h"

namespace lathe::cpu {

struct EmittedKernel {
  std::string name;  // KernelName(spec)
  std::string code;
  HeaderParts parts;
  bool is_small = false;  // little to do: compile it fast
};

std::string KernelName(const KernelSpec& spec);  // NameOfSpec

// Unimplemented for what kernels do not compute. The spec is verified.
absl::StatusOr<EmittedKernel> EmitKernel(const KernelSpec& spec, const Target& target);

// Kernels with the parts of the header they need.
std::string TranslationUnit(absl::Span<const EmittedKernel> kernels);

// One kernel as a whole translation unit, for reading.
absl::StatusOr<std::string> EmitCpp(const KernelSpec& spec, const Target& target);

}  // namespace lathe::cpu

#endif  // LATHE_CODEGEN_CPU_EMIT_H_
