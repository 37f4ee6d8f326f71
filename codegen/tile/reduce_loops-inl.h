// Accumulation and folding of reductions, in the order of ir/loops/kernel_spec.h, once a Highway
// target.

#if defined(LATHE_CODEGEN_TILE_REDUCE_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATHE_CODEGEN_TILE_REDUCE_LOOPS_INL_H_
#undef LATHE_CODEGEN_TILE_REDUCE_LOOPS_INL_H_
#else
#define LATHE_CODEGEN_TILE_REDUCE_LOOPS_INL_H_
#endif

#include <algorithm>
#include <cstring>

#include "codegen/tile/kernel_table.h"
#include "hwy/highway.h"
#include "ir/loops/kernel_spec.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {

struct Sum {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct Product {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>((T{1} * a) * b);
  }
};
struct Max {  // NaN wins
  template <class T>
  static T Apply(T a, T b) {
    return (a > b) | (a != a) ? a : b;
  }
};
struct Min {
  template <class T>
  static T Apply(T a, T b) {
    return (a < b) | (a != a) ? a : b;
  }
};
struct Any {
  static uint8_t Apply(uint8_t a, uint8_t b) { return (a | b) != 0; }
};
struct All {
  static uint8_t Apply(uint8_t a, uint8_t b) { return (a != 0) & (b != 0); }
};

// One body for all callers: inlined everywhere, this file would take a minute to compile.
template <class T, class Op>
__attribute__((noinline)) void CombineInto(T* acc, const T* x, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) acc[i] = Op::Apply(acc[i], x[i]);
}

template <class T, class Op>
void Combine(void* acc, const void* x, int64_t n) {
  CombineInto<T, Op>(static_cast<T*>(acc), static_cast<const T*>(x), n);
}

template <class T, class Op>
void CombineRows(void* acc, const void* x, int64_t rows, int64_t n) {
  const T* from = static_cast<const T*>(x);
  for (int64_t r = 0; r < rows; ++r) {
    CombineInto<T, Op>(static_cast<T*>(acc), from + r * n, n);
  }
}

template <class T, class Op>
__attribute__((noinline)) void CombineLanes(void* acc, const void* x, int64_t n) {
  T* __restrict lanes = static_cast<T*>(acc);
  const T* __restrict from = static_cast<const T*>(x);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] = Op::Apply(lanes[j], from[i + j]);
  }
  if (i < n) CombineInto<T, Op>(lanes, from + i, n - i);
}

template <class T, class Op>
void Fold(void* v, int64_t n, int64_t width) {
  T* values = static_cast<T*>(v);
  while (n > 1) {
    const int64_t half = (n + 1) / 2;
    const int64_t count = (n - half) * width;
    if (count < 8) {
      for (int64_t i = 0; i < count; ++i) {
        values[i] = Op::Apply(values[i], values[i + half * width]);
      }
    } else {
      CombineInto<T, Op>(values, values + half * width, count);
    }
    n = half;
  }
}

template <class T, class Op>
void ReduceRows(void* dst, const void* x, int64_t rows, int64_t n) {
  T* out = static_cast<T*>(dst);
  const T* from = static_cast<const T*>(x);
  T lanes[kLanes];
  const int64_t first = std::min<int64_t>(n, kLanes);
  for (int64_t r = 0; r < rows; ++r, from += n) {
    std::memcpy(lanes, from, first * sizeof(T));
    if (n > first) CombineLanes<T, Op>(lanes, from + first, n - first);
    Fold<T, Op>(lanes, first, 1);
    out[r] = lanes[0];
  }
}

template <class T, class Op>
ReduceFunctions FunctionsOf() {
  return {Combine<T, Op>, CombineRows<T, Op>, CombineLanes<T, Op>, Fold<T, Op>, ReduceRows<T, Op>};
}

// Whether (b, j) beats (a, i): NaN beats all, among equals the smaller index.
template <class T, bool kMax>
bool Beats(T b, int64_t j, T a, int64_t i) {
  const bool a_nan = a != a, b_nan = b != b;
  if (a_nan != b_nan) return b_nan;
  if (!a_nan && a != b) return kMax ? b > a : b < a;
  return j < i;
}

template <class T, bool kMax>
void ArgCombine(void* acc, int64_t* acc_index, const void* x, const int64_t* index, int64_t n) {
  T* best = static_cast<T*>(acc);
  const T* from = static_cast<const T*>(x);
  for (int64_t i = 0; i < n; ++i) {
    const bool wins = Beats<T, kMax>(from[i], index[i], best[i], acc_index[i]);
    best[i] = wins ? from[i] : best[i];
    acc_index[i] = wins ? index[i] : acc_index[i];
  }
}

inline ReduceFunctions& At(KernelTable& table, ReduceKind kind, DType dtype) {
  return table.reduce[static_cast<int>(kind)][static_cast<int>(dtype)];
}

template <class T>
void AddArg(KernelTable& table, DType dtype) {
  table.arg_reduce[0][static_cast<int>(dtype)] = {ArgCombine<T, true>};
  table.arg_reduce[1][static_cast<int>(dtype)] = {ArgCombine<T, false>};
}

template <class T, class Wrapping>
void AddFor(KernelTable& table, DType dtype) {
  At(table, ReduceKind::kSum, dtype) = FunctionsOf<Wrapping, Sum>();
  At(table, ReduceKind::kProd, dtype) = FunctionsOf<Wrapping, Product>();
  At(table, ReduceKind::kMax, dtype) = FunctionsOf<T, Max>();
  At(table, ReduceKind::kMin, dtype) = FunctionsOf<T, Min>();
  AddArg<T>(table, dtype);
}

}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#endif  // LATHE_CODEGEN_TILE_REDUCE_LOOPS_INL_H_
