#ifndef LATHE_CODEGEN_TILE_MEMORY_KERNELS_H_
#define LATHE_CODEGEN_TILE_MEMORY_KERNELS_H_

// Tiles from and to memory. A tile is rows * cols elements, row after row; element (r, c) lies in
// memory at base[r * row_stride + c * col_stride], strides in elements.
//
// Sub-byte dtypes lie in tiles as bytes, sign- or zero-extended, and in memory packed; for them
// `base` is the buffer's first byte and `first` the number of element (0, 0). For the others
// `first` has been added to base and is not looked at.

#include <cstdint>

#include "dtypes/dtype.h"

namespace lathe::tile {

struct Plane {
  int64_t rows = 1, cols = 0;
  int64_t row_stride = 0, col_stride = 0;
  int64_t first = 0;
};

// What lies where: element size in bytes, or bits for sub-byte dtypes.
struct ElementLayout {
  uint8_t bytes = 4;     // in tiles
  uint8_t sub_bits = 0;  // 1..7: packed in memory
  bool is_signed = false;
};
ElementLayout LayoutOf(DType dtype);

void LoadPlane(void* dst, const void* base, ElementLayout layout, const Plane& plane);
// Only where mask[i] (or mask[0] for all) is true; 0 elsewhere.
void LoadPlaneMasked(void* dst, const void* base, ElementLayout layout, const Plane& plane,
                     const uint8_t* mask, bool mask_is_scalar);
// dst[i] = base[first + index[i]], where the mask (may be null) is true.
void Gather(void* dst, const void* base, ElementLayout layout, int64_t first, const int64_t* index,
            const uint8_t* mask, bool mask_is_scalar, int64_t n);

// `scalar`: src is one element repeated. The mask may be null.
void StorePlane(void* base, const void* src, bool scalar, ElementLayout layout, const Plane& plane,
                const uint8_t* mask, bool mask_is_scalar);
void Scatter(void* base, const void* src, bool scalar, ElementLayout layout, int64_t first,
             const int64_t* index, const uint8_t* mask, bool mask_is_scalar, int64_t n);

// base[first + index[i]] += src[i] atomically, in the dtype's compute type. Here nothing has been
// added to base.
void AtomicAdd(void* base, const void* src, bool scalar, DType dtype, int64_t first,
               const int64_t* index, const uint8_t* mask, bool mask_is_scalar, int64_t n);

// dst[r * cols + c] = base + r * row_step + c * col_step.
void FillIndices(int64_t* dst, int64_t base, int64_t rows, int64_t cols, int64_t row_step,
                 int64_t col_step);

// The first element of src n times.
void Repeat(void* dst, const void* src, int64_t bytes, int64_t n);

// A step of a conversion (dtypes/convert_steps.h) to elements of `bytes`; `scalar` repeats one.
using ConversionLoop = void (*)(const void* in, void* out, int64_t count);
void ConvertTile(ConversionLoop loop, void* dst, int bytes, const void* src, bool scalar,
                 int64_t n);

}  // namespace lathe::tile

#endif  // LATHE_CODEGEN_TILE_MEMORY_KERNELS_H_
