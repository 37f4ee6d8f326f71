#ifndef LATHE_CODEGEN_TILE_NAN_KERNELS_H_
#define LATHE_CODEGEN_TILE_NAN_KERNELS_H_

#include "codegen/tile/kernel_table.h"

namespace lathe::tile {

// dst[i] = a[i], the positive quiet NaN for every NaN; of f32 and f64.
TileFunction CanonicalNan(DType dtype);

}  // namespace lathe::tile

#endif  // LATHE_CODEGEN_TILE_NAN_KERNELS_H_
