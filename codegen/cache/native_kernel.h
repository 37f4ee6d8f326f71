#ifndef LATHE_CODEGEN_CACHE_NATIVE_KERNEL_H_
#define LATHE_CODEGEN_CACHE_NATIVE_KERNEL_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/abi/kernel_interface.h"

namespace lathe {

// A shared object of kernels; its kernels keep it loaded.
class KernelLibrary : public std::enable_shared_from_this<KernelLibrary> {
 public:
  // Internal when it cannot be loaded.
  static absl::StatusOr<std::shared_ptr<KernelLibrary>> Open(const std::string& path);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;

  // NotFound when the object has no kernel of that name.
  absl::StatusOr<std::shared_ptr<const Kernel>> Find(const std::string& name);

 private:
  explicit KernelLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

}  // namespace lathe

#endif  // LATHE_CODEGEN_CACHE_NATIVE_KERNEL_H_
