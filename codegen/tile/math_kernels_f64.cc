#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codegen/tile/math_kernels_f64.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Once a target.
#include "codegen/tile/math_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {
void AddMathF64(KernelTable& table) { AddMathKernels<double>(table, DType::kF64); }
}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::tile {
HWY_EXPORT(AddMathF64);
void AddMathKernelsF64(KernelTable& table) { HWY_DYNAMIC_DISPATCH(AddMathF64)(table); }
}  // namespace lathe::tile
#endif
