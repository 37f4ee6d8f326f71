#ifndef LATHE_CODEGEN_TILE_KERNEL_TABLE_H_
#define LATHE_CODEGEN_TILE_KERNEL_TABLE_H_

// The precompiled loops that a tile program is made of, for the vector target in use.
//
// A tile is an array of up to some hundred elements; a scalar operand is one element repeated over
// 64 bytes. A function runs over whole groups of 64 / (size of its widest element) elements, so it
// may read and write past n up to the end of the group: registers have room for that, and user
// memory is touched directly only where n is a multiple of its group.
// dst may be one of the operands (same element size); otherwise it overlaps none.

#include <cstdint>

#include "dtypes/dtype.h"
#include "ir/loops/loop_body.h"

namespace lathe::tile {

// dst[i] = f(a[i], b[i], c[i]) for i < n. Bits 0, 1, 2 of `scalars`: a, b, c is a scalar operand.
using TileFunction = void (*)(void* dst, const void* a, const void* b, const void* c, int64_t n,
                              uint32_t scalars);

inline constexpr int kScalarBytes = 64;
inline constexpr int kOpKinds = static_cast<int>(OpKind::kFma) + 1;

// Accumulators of reductions over one element type; see reduce_kernels.cc.
struct ReduceFunctions {
  // acc[j] = op(acc[j], x[j]) for j < n.
  void (*combine)(void* acc, const void* x, int64_t n) = nullptr;
  // acc[j] = op(acc[j], x[r * n + j]) for rows r in order.
  void (*combine_rows)(void* acc, const void* x, int64_t rows, int64_t n) = nullptr;
  // Lanes j = i % kLanes of acc meet x[i] in order; x continues at a multiple of kLanes.
  void (*combine_lanes)(void* acc, const void* x, int64_t n) = nullptr;
  // v[0] = FoldPairwise(v, n) of vectors of `width` elements, in place.
  void (*fold)(void* v, int64_t n, int64_t width) = nullptr;
  // dst[r] = the whole reduction of the row of n <= kInnerBlock elements at x + r * n; rows * n is
  // at most 1024.
  void (*reduce_rows)(void* dst, const void* x, int64_t rows, int64_t n) = nullptr;
  // Of sums of f32 alone. acc[j] = x[j] * y[j]; and as combine_lanes, with x[i] * y[i] unrounded.
  void (*start_products)(void* acc, const void* x, const void* y, int64_t n) = nullptr;
  void (*combine_products)(void* acc, const void* x, const void* y, int64_t n) = nullptr;
};

// Argmax and argmin: accumulators are (value, i64 index).
struct ArgReduceFunctions {
  void (*combine)(void* acc, int64_t* acc_index, const void* x, const int64_t* index,
                  int64_t n) = nullptr;
  // dst[r] = the index that wins in row r of n elements.
  void (*reduce_rows)(int64_t* dst, const void* x, const int64_t* index, int64_t rows,
                      int64_t n) = nullptr;
};

struct KernelTable {
  // By operand dtype (for Where: of operand 1). Divisions of integers are not here.
  TileFunction arithmetic[kOpKinds][kDTypeCount] = {};
  ReduceFunctions reduce[8][kDTypeCount] = {};
  ArgReduceFunctions arg_reduce[2][kDTypeCount] = {};  // max, min

  TileFunction& at(OpKind kind, DType dtype) {
    return arithmetic[static_cast<int>(kind)][static_cast<int>(dtype)];
  }
  TileFunction Find(OpKind kind, DType dtype) const {
    return arithmetic[static_cast<int>(kind)][static_cast<int>(dtype)];
  }
};

// The table of the target that Highway chooses now (tests pin one). Lives for ever.
const KernelTable& Kernels();

// Each fills its part of the table for that target.
void AddFloatKernels(KernelTable& table);
void AddIntegerKernels(KernelTable& table);
void AddOrderedIntegerKernels(KernelTable& table);
void AddMathKernelsF32(KernelTable& table);
void AddMathKernelsF64(KernelTable& table);
void AddReduceKernels(KernelTable& table);
void AddNarrowReduceKernels(KernelTable& table);

}  // namespace lathe::tile

#endif  // LATHE_CODEGEN_TILE_KERNEL_TABLE_H_
