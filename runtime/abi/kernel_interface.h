#ifndef LATHE_RUNTIME_ABI_KERNEL_INTERFACE_H_
#define LATHE_RUNTIME_ABI_KERNEL_INTERFACE_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "runtime/abi/kernel.h"

namespace lathe {

// A compiled KernelSpec of any tier: tile programs and native code look alike to the executor.
// Immutable and callable from many threads at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Runs [args.begin, args.end) of axis 0. Result as LatheKernelFunction.
  virtual int32_t Call(const LatheKernelArgs& args) const = 0;
  // Bytes of scratch one call over `rows` indexes of axis 0 needs, for these symbol values.
  virtual int64_t ScratchBytes(const int64_t* scalars, int64_t rows) const = 0;
  virtual absl::string_view tier() const = 0;  // "tile", "native"
};

}  // namespace lathe

#endif  // LATHE_RUNTIME_ABI_KERNEL_INTERFACE_H_
