#include "codegen/tile/nan_kernels.h"

#include <limits>

#include "dtypes/base/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codegen/tile/nan_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Once a target.
#include "codegen/tile/element_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {
namespace {  // names are used again in other files

struct Canonical {
  template <class T>
  static T Apply(T x) {
    return x != x ? std::numeric_limits<T>::quiet_NaN() : x;
  }
};

}  // namespace

TileFunction CanonicalNanOf(DType dtype) {
  if (dtype == DType::kF32) return UnaryLoop<float, float, Canonical>;
  LATHE_CHECK(dtype == DType::kF64);
  return UnaryLoop<double, double, Canonical>;
}

}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::tile {
HWY_EXPORT(CanonicalNanOf);
TileFunction CanonicalNan(DType dtype) { return HWY_DYNAMIC_DISPATCH(CanonicalNanOf)(dtype); }
}  // namespace lathe::tile
#endif
