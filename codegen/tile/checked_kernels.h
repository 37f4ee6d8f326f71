#ifndef LATHE_CODEGEN_TILE_CHECKED_KERNELS_H_
#define LATHE_CODEGEN_TILE_CHECKED_KERNELS_H_

// Loops that may fail: integer division, checked indices, conditions. They look at exactly n
// elements.

#include <cstdint>

#include "dtypes/dtype.h"
#include "ir/loops/loop_body.h"

namespace lathe::tile {

// dst[i] = a[i] op b[i]; 0 where mask[i] is false (mask may be null). False when a divisor in force
// is 0. Bits 0, 1, 2 of `scalars`: a, b, mask repeat their first element.
using DivisionFunction = bool (*)(void* dst, const void* a, const void* b, const uint8_t* mask,
                                  int64_t n, uint32_t scalars);
// nullptr unless kind is FloorDiv, TruncDiv, Remainder or Fmod and dtype an integer or bool.
DivisionFunction FindDivision(OpKind kind, DType dtype);

// FloorDiv, Mod, TruncDiv, TruncMod and Pow of index expressions: of i64, 0 for what is undefined.
using IndexFunction = void (*)(int64_t* dst, const int64_t* a, const int64_t* b, int64_t n,
                               uint32_t scalars);
enum class IndexOp : uint8_t { kFloorDiv, kMod, kTruncDiv, kTruncMod, kPow };
IndexFunction FindIndexFunction(IndexOp op);

// dst[i] = a[i] wrapped once into [0, size), 0 where the mask is false. False, and the index in
// *bad, for one outside [-size, size) in force. Bits 0, 2 of `scalars`: a, mask.
bool CheckIndices(int64_t* dst, const int64_t* a, const uint8_t* mask, int64_t n, int64_t size,
                  uint32_t scalars, int64_t* bad);

// False when condition[i] is false and in force for some i. Bits 0, 2: condition, mask.
bool CheckConditions(const uint8_t* condition, const uint8_t* mask, int64_t n, uint32_t scalars);

}  // namespace lathe::tile

#endif  // LATHE_CODEGEN_TILE_CHECKED_KERNELS_H_
