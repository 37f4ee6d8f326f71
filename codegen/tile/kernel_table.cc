#include "codegen/tile/kernel_table.h"

#include <map>
#include <memory>
#include <mutex>

#include "hwy/targets.h"

namespace lathe::tile {
namespace {

// The number of the target that dispatch takes. SupportedTargets itself asks the processor each
// time, which a virtual machine answers slowly.
size_t TargetIndex() {
  hwy::ChosenTarget& chosen = hwy::GetChosenTarget();
  if (!chosen.IsInitialized()) chosen.Update(hwy::SupportedTargets());
  return chosen.GetIndex();
}

}  // namespace

const KernelTable& Kernels() {
  static std::mutex mutex;
  static auto* tables = new std::map<size_t, std::unique_ptr<KernelTable>>();
  const std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<KernelTable>& table = (*tables)[TargetIndex()];
  if (table == nullptr) {
    table = std::make_unique<KernelTable>();
    AddFloatKernels(*table);
    AddIntegerKernels(*table);
    AddOrderedIntegerKernels(*table);
    AddMathKernelsF32(*table);
    AddMathKernelsF64(*table);
    AddReduceKernels(*table);
    AddNarrowReduceKernels(*table);
  }
  return *table;
}

}  // namespace lathe::tile
