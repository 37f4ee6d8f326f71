#ifndef LATHE_RUNTIME_EXTERNS_GEMM_KERNELS_H_
#define LATHE_RUNTIME_EXTERNS_GEMM_KERNELS_H_

// The inner loops of matrix products and convolutions, compiled once per instruction set and chosen
// at run time. Every result element is one chain of fma over its own operands in blocks of kDepth,
// so the bits do not depend on the vector width.
//
// This header and kernels.inc use nothing from the standard library: an inline function compiled
// for a wide instruction set must not be the copy that the linker keeps for everyone.

#include <stdint.h>

namespace lathe::gemm {

// Steps accumulated in registers before they are added to the result.
inline constexpr int64_t kDepth = 256;
// Lanes of Kernels::dot, whatever the vector width.
inline constexpr int kDotLanes = 16;
// Columns that Kernels::dot takes at most.
inline constexpr int kDotColumns = 4;

// How an operand or a result is stored.
enum class Element : uint8_t {
  kF32,
  kF64,
  kF16,
  kBF16,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
};

// The code for one type of accumulator: float, double, uint32_t or uint64_t (signed integers wrap
// alike). `T` below is that type.
struct Kernels {
  int rows, columns;  // of the tile held in registers

  // c[i * c_row + j] = (add ? c : 0) + sum over p of a[p * rows + i] * b[p * b_step + j] for i <
  // row_count <= rows, j < column_count <= columns. Reads all `columns` lanes of b.
  void (*multiply)(int row_count, int column_count, int64_t depth, const void* a, const void* b,
                   int64_t b_step, void* c, int64_t c_row, bool add);

  // target[step * width + lane] = source[lane * lane_stride + step * step_stride] as T, 0 for lanes
  // past `lanes`. Width is `rows` (pack_rows) or `columns` (pack_columns).
  void (*pack_rows)(Element source_type, const void* source, int64_t lane_stride,
                    int64_t step_stride, int lanes, int64_t steps, void* target);
  void (*pack_columns)(Element source_type, const void* source, int64_t lane_stride,
                       int64_t step_stride, int lanes, int64_t steps, void* target);

  // out[j] = sum over p of a[p] * column j [p], columns `column_stride` elements apart.
  void (*dot)(const void* a, int64_t depth, Element column_type, const void* columns,
              int64_t column_stride, int column_count, void* out);

  // out[j] = sum over t of weights[t] * source[offsets[t] + j * stride], all of type T.
  void (*taps)(const void* source, const int64_t* offsets, const void* weights, int64_t tap_count,
               int64_t stride, int64_t count, void* out);

  // target[step * columns + lane] = source[offsets[step] + starts[lane]], all of type T; 0 for
  // lanes past `lanes`. The columns of a convolution, never written out in full.
  // Writes up to 64 bytes past the target; reads as much past the source when `reads_past`.
  void (*pack_taps)(const void* source, const int64_t* offsets, int64_t steps,
                    const int64_t* starts, int lanes, bool reads_past, void* target);

  // target[k] = source[k * stride] as T; target[k * stride] = source[k] as `target_type`.
  void (*load)(Element source_type, const void* source, int64_t stride, int64_t count,
               void* target);
  void (*store)(const void* source, int64_t count, Element target_type, void* target,
                int64_t stride);
};

struct KernelTable {
  Kernels f32, f64, u32, u64;
};

extern const KernelTable kBaseTable;
#if defined(__x86_64__)
extern const KernelTable kV3Table;  // AVX2, FMA, F16C
extern const KernelTable kV4Table;  // AVX-512
#endif

// The best table for this processor.
const KernelTable& BestTable();
// Which of the tables run here, worst first; for tests and benchmarks.
int TableCount();
const KernelTable& TableAt(int k);

}  // namespace lathe::gemm

#endif  // LATHE_RUNTIME_EXTERNS_GEMM_KERNELS_H_
