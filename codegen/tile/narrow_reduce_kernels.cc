#include "codegen/tile/kernel_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codegen/tile/narrow_reduce_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Once a target.
#include "codegen/tile/reduce_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {

void AddNarrowReductions(KernelTable& table) {
  AddFor<uint8_t, uint8_t>(table, DType::kU8);
  AddFor<int8_t, uint8_t>(table, DType::kI8);
  AddFor<uint16_t, uint16_t>(table, DType::kU16);
  AddFor<int16_t, uint16_t>(table, DType::kI16);
  for (ReduceKind kind : {ReduceKind::kSum, ReduceKind::kMax, ReduceKind::kAny}) {
    At(table, kind, DType::kBool) = FunctionsOf<uint8_t, Any>();
  }
  for (ReduceKind kind : {ReduceKind::kProd, ReduceKind::kMin, ReduceKind::kAll}) {
    At(table, kind, DType::kBool) = FunctionsOf<uint8_t, All>();
  }
  AddArg<uint8_t>(table, DType::kBool);
}

}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::tile {
HWY_EXPORT(AddNarrowReductions);
void AddNarrowReduceKernels(KernelTable& table) {
  HWY_DYNAMIC_DISPATCH(AddNarrowReductions)(table);
}
}  // namespace lathe::tile
#endif
