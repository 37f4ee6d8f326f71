#include "codegen/tile/kernel_table.h"

#include <map>
#include <memory>
#include <mutex>

#include "hwy/targets.h"

namespace lathe::tile {

const KernelTable& Kernels() {
  static std::mutex mutex;
  static auto* tables = new std::map<int64_t, std::unique_ptr<KernelTable>>();
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<KernelTable>& table = (*tables)[hwy::SupportedTargets()];
  if (table == nullptr) {
    table = std::make_unique<KernelTable>();
    AddFloatKernels(*table);
    AddIntegerKernels(*table);
    AddOrderedIntegerKernels(*table);
    AddMathKernelsF32(*table);
    AddMathKernelsF64(*table);
    AddCastKernels(*table);
    AddReduceKernels(*table);
    AddNarrowReduceKernels(*table);
  }
  return *table;
}

}  // namespace lathe::tile
