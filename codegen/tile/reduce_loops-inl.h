// Accumulation and folding of reductions, in the order of ir/loops/kernel_spec.h, once a Highway
// target.

#if defined(LATHE_CODEGEN_TILE_REDUCE_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATHE_CODEGEN_TILE_REDUCE_LOOPS_INL_H_
#undef LATHE_CODEGEN_TILE_REDUCE_LOOPS_INL_H_
#else
#define LATHE_CODEGEN_TILE_REDUCE_LOOPS_INL_H_
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "codegen/tile/kernel_table.h"
#include "hwy/highway.h"
#include "ir/loops/kernel_spec.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Each with its meaning on Highway's float vectors too.
struct Sum {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>(a + b);
  }
  template <class V>
  static V ApplyVector(V a, V b) {
    return hn::Add(a, b);
  }
};
struct Product {
  template <class T>
  static T Apply(T a, T b) {
    return static_cast<T>((T{1} * a) * b);
  }
  template <class V>
  static V ApplyVector(V a, V b) {
    return hn::Mul(a, b);
  }
};
struct Max {  // NaN wins
  template <class T>
  static T Apply(T a, T b) {
    return (a > b) | (a != a) ? a : b;
  }
  template <class V>
  static V ApplyVector(V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Gt(a, b), hn::IsNaN(a)), a, b);
  }
};
struct Min {
  template <class T>
  static T Apply(T a, T b) {
    return (a < b) | (a != a) ? a : b;
  }
  template <class V>
  static V ApplyVector(V a, V b) {
    return hn::IfThenElse(hn::Or(hn::Lt(a, b), hn::IsNaN(a)), a, b);
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

// Whole blocks of kLanes, the lanes of four vectors at a time in registers.
template <class T, class Op>
void CombineLaneVectors(T* lanes, const T* x, int64_t blocks) {
  const hn::ScalableTag<T> d;
  const int64_t width = hn::Lanes(d);
  for (int64_t lane = 0; lane < kLanes; lane += 4 * width) {
    T* acc = lanes + lane;
    const T* from = x + lane;
    auto v0 = hn::LoadU(d, acc), v1 = hn::LoadU(d, acc + width), v2 = hn::LoadU(d, acc + 2 * width),
         v3 = hn::LoadU(d, acc + 3 * width);
    for (int64_t b = 0; b < blocks; ++b, from += kLanes) {
      v0 = Op::ApplyVector(v0, hn::LoadU(d, from));
      v1 = Op::ApplyVector(v1, hn::LoadU(d, from + width));
      v2 = Op::ApplyVector(v2, hn::LoadU(d, from + 2 * width));
      v3 = Op::ApplyVector(v3, hn::LoadU(d, from + 3 * width));
    }
    hn::StoreU(v0, d, acc);
    hn::StoreU(v1, d, acc + width);
    hn::StoreU(v2, d, acc + 2 * width);
    hn::StoreU(v3, d, acc + 3 * width);
  }
}

template <class T, class Op>
__attribute__((noinline)) void CombineLanes(void* acc, const void* x, int64_t n) {
  T* __restrict lanes = static_cast<T*>(acc);
  const T* __restrict from = static_cast<const T*>(x);
  const int64_t whole = n / kLanes * kLanes;
  if constexpr (std::is_floating_point_v<T>) {
    CombineLaneVectors<T, Op>(lanes, from, n / kLanes);
  } else {
    for (int64_t i = 0; i < whole; i += kLanes) {
      for (int j = 0; j < kLanes; ++j) lanes[j] = Op::Apply(lanes[j], from[i + j]);
    }
  }
  if (whole < n) CombineInto<T, Op>(lanes, from + whole, n - whole);
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

// One step of FoldPairwise on rows of kLength or n elements: dst gets rows of half as many. dst may
// be x, for what is written lies before what is still to be read.
template <class T, class Op, int kLength>
void HalveRows(T* dst, const T* x, int64_t rows, int64_t n) {
  if (kLength != 0) n = kLength;
  const int64_t half = (n + 1) / 2;
  for (int64_t r = 0; r < rows; ++r) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n - half; ++i) {
      dst[r * half + i] = Op::Apply(x[r * n + i], x[r * n + i + half]);
    }
    if (n - half < half) dst[r * half + half - 1] = x[r * n + half - 1];
  }
}
// The same for rows of 2 * kHalf elements, few enough that vectors hold several rows: the halves of
// the rows are put together first.
template <class T, class Op, int kHalf>
void HalveShortRows(T* dst, const T* x, int64_t rows) {
  struct Half {
    T elements[kHalf];
  };
  using Bits =
      std::conditional_t<sizeof(Half) == 4, uint32_t,
                         std::conditional_t<sizeof(Half) == 8, uint64_t,
                                            std::conditional_t<sizeof(Half) == 2, uint16_t, Half>>>;
  constexpr int64_t kRows = 64;
  T first[kRows * kHalf], second[kRows * kHalf];
  for (int64_t start = 0; start < rows; start += kRows) {
    const int64_t count = std::min(kRows, rows - start);
    for (int64_t r = 0; r < count; ++r) {
      Bits halves[2];
      std::memcpy(halves, x + (start + r) * 2 * kHalf, sizeof(halves));
      std::memcpy(first + r * kHalf, &halves[0], sizeof(Bits));
      std::memcpy(second + r * kHalf, &halves[1], sizeof(Bits));
    }
    CombineInto<T, Op>(first, second, count * kHalf);
    std::memcpy(dst + start * kHalf, first, count * kHalf * sizeof(T));
  }
}

// Rows of at most kLanes elements that fill a tile: all rows fold at once.
template <class T, class Op>
void FoldRows(T* out, const T* x, int64_t rows, int64_t n) {
  T folded[1024];  // a tile is no larger, and each step leaves less
  if (n == 1) {
    std::memcpy(out, x, rows * sizeof(T));
    return;
  }
  constexpr bool kOften = std::is_floating_point_v<T>;  // worth loops of their own
  while (n > 2) {
    if constexpr (kOften) {
      if (n == 4 || n == 8 || n == 64) {
        n == 4   ? HalveShortRows<T, Op, 2>(folded, x, rows)
        : n == 8 ? HalveShortRows<T, Op, 4>(folded, x, rows)
                 : HalveRows<T, Op, 64>(folded, x, rows, n);
        x = folded;
        n /= 2;
        continue;
      }
    }
    HalveRows<T, Op, 0>(folded, x, rows, n);
    x = folded;
    n = (n + 1) / 2;
  }
  if constexpr (kOften) {
    HalveShortRows<T, Op, 1>(out, x, rows);
  } else {
    HalveRows<T, Op, 0>(out, x, rows, 2);
  }
}

template <class T, class Op>
__attribute__((noinline)) void ReduceRows(void* dst, const void* x, int64_t rows, int64_t n) {
  T* out = static_cast<T*>(dst);
  const T* from = static_cast<const T*>(x);
  if (n <= kLanes) return FoldRows<T, Op>(out, from, rows, n);
  T lanes[kLanes];
  for (int64_t r = 0; r < rows; ++r, from += n) {
    std::memcpy(lanes, from, kLanes * sizeof(T));
    CombineLanes<T, Op>(lanes, from + kLanes, n - kLanes);
    FoldRows<T, Op>(out + r, lanes, 1, kLanes);
  }
}

inline void StartProducts(void* acc, const void* x, const void* y, int64_t n) {
  float* lanes = static_cast<float*>(acc);
  const float *a = static_cast<const float*>(x), *b = static_cast<const float*>(y);
  for (int64_t i = 0; i < n; ++i) lanes[i] = a[i] * b[i];
}
inline void CombineProducts(void* acc, const void* x, const void* y, int64_t n) {
  float* lanes = static_cast<float*>(acc);
  const float *a = static_cast<const float*>(x), *b = static_cast<const float*>(y);
  int64_t i = 0;
#if HWY_NATIVE_FMA
  const hn::ScalableTag<float> d;
  const int64_t width = hn::Lanes(d);
  for (int64_t lane = 0; lane < kLanes && n >= kLanes; lane += 4 * width) {
    hn::Vec<decltype(d)> v[4];
    for (int k = 0; k < 4; ++k) v[k] = hn::LoadU(d, lanes + lane + k * width);
    for (i = 0; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < 4; ++k) {
        const int64_t at = i + lane + k * width;
        v[k] = hn::MulAdd(hn::LoadU(d, a + at), hn::LoadU(d, b + at), v[k]);
      }
    }
    for (int k = 0; k < 4; ++k) hn::StoreU(v[k], d, lanes + lane + k * width);
  }
#endif
  for (; i < n; ++i) lanes[i % kLanes] = std::fma(a[i], b[i], lanes[i % kLanes]);
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

template <class T, bool kMax>
void ArgReduceRows(int64_t* dst, const void* x, const int64_t* index, int64_t rows, int64_t n) {
  const T* from = static_cast<const T*>(x);
  for (int64_t r = 0; r < rows; ++r, from += n, index += n) {
    T best = from[0];
    int64_t best_index = index[0];
    for (int64_t i = 1; i < n; ++i) {
      const bool wins = Beats<T, kMax>(from[i], index[i], best, best_index);
      best = wins ? from[i] : best;
      best_index = wins ? index[i] : best_index;
    }
    dst[r] = best_index;
  }
}

inline ReduceFunctions& At(KernelTable& table, ReduceKind kind, DType dtype) {
  return table.reduce[static_cast<int>(kind)][static_cast<int>(dtype)];
}

template <class T>
void AddArg(KernelTable& table, DType dtype) {
  table.arg_reduce[0][static_cast<int>(dtype)] = {ArgCombine<T, true>, ArgReduceRows<T, true>};
  table.arg_reduce[1][static_cast<int>(dtype)] = {ArgCombine<T, false>, ArgReduceRows<T, false>};
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
