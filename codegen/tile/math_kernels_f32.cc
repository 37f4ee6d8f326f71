#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codegen/tile/math_kernels_f32.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Once a target.
#include "codegen/tile/math_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {
void AddMathF32(KernelTable& table) { AddMathKernels<float>(table, DType::kF32); }
}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::tile {
HWY_EXPORT(AddMathF32);
void AddMathKernelsF32(KernelTable& table) { HWY_DYNAMIC_DISPATCH(AddMathF32)(table); }
}  // namespace lathe::tile
#endif
