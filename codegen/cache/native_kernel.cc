#include "codegen/cache/native_kernel.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "dtypes/base/status.h"

namespace lathe {
namespace {

using ScratchFunction = int64_t (*)(const int64_t* scalars, int64_t rows);

class NativeKernel final : public Kernel {
 public:
  NativeKernel(std::shared_ptr<KernelLibrary> library, LatheKernelFunction run,
               ScratchFunction scratch)
      : library_(std::move(library)), run_(run), scratch_(scratch) {}
  int32_t Call(const LatheKernelArgs& args) const override { return run_(&args); }
  int64_t ScratchBytes(const int64_t* scalars, int64_t rows) const override {
    return scratch_(scalars, rows);
  }
  absl::string_view tier() const override { return "native"; }

 private:
  std::shared_ptr<KernelLibrary> library_;
  LatheKernelFunction run_;
  ScratchFunction scratch_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<KernelLibrary>> KernelLibrary::Open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Internal("cannot load kernels: ", dlerror());
  return std::shared_ptr<KernelLibrary>(new KernelLibrary(handle));
}

KernelLibrary::~KernelLibrary() { dlclose(handle_); }

absl::StatusOr<std::shared_ptr<const Kernel>> KernelLibrary::Find(const std::string& name) {
  void* run = dlsym(handle_, name.c_str());
  void* scratch = dlsym(handle_, absl::StrCat(name, "_scratch").c_str());
  if (run == nullptr || scratch == nullptr) return NotFound("no kernel ", name);
  return std::make_shared<NativeKernel>(shared_from_this(),
                                        reinterpret_cast<LatheKernelFunction>(run),
                                        reinterpret_cast<ScratchFunction>(scratch));
}

}  // namespace lathe
