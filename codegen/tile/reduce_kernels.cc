#include "codegen/tile/kernel_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codegen/tile/reduce_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Once a target.
#include "codegen/tile/reduce_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {

void AddReductions(KernelTable& table) {
  AddFor<uint32_t, uint32_t>(table, DType::kU32);
  AddFor<int32_t, uint32_t>(table, DType::kI32);
  AddFor<uint64_t, uint64_t>(table, DType::kU64);
  AddFor<int64_t, uint64_t>(table, DType::kI64);
  AddFor<float, float>(table, DType::kF32);
  AddFor<double, double>(table, DType::kF64);
  ReduceFunctions& sum = At(table, ReduceKind::kSum, DType::kF32);
  sum.start_products = StartProducts;
  sum.combine_products = CombineProducts;
}

}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::tile {
HWY_EXPORT(AddReductions);
void AddReduceKernels(KernelTable& table) { HWY_DYNAMIC_DISPATCH(AddReductions)(table); }
}  // namespace lathe::tile
#endif
