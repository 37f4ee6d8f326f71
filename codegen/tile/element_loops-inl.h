// Loops over tiles that g++ turns into vectors, once a Highway target: include after
// hwy/foreach_target.h. An Op is a struct with `static R Apply(T...)`.
//
// dst may equal an operand, which `ivdep` allows: element i depends on elements i alone. The count
// is rounded up to whole groups, so the compiler leaves no loop of single elements behind.

#if defined(LATHE_CODEGEN_TILE_ELEMENT_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATHE_CODEGEN_TILE_ELEMENT_LOOPS_INL_H_
#undef LATHE_CODEGEN_TILE_ELEMENT_LOOPS_INL_H_
#else
#define LATHE_CODEGEN_TILE_ELEMENT_LOOPS_INL_H_
#endif

#include <cstdint>

#include "codegen/tile/kernel_table.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {

template <class T, class R>
constexpr int64_t RoundUpToGroup(int64_t n) {
  constexpr int64_t kGroup = 64 / (sizeof(T) > sizeof(R) ? sizeof(T) : sizeof(R));
  return (n + kGroup - 1) & -kGroup;
}

template <class R>
void FillTile(R* dst, R value, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = value;
}

template <class T, class R, class Op>
void UnaryLoop(void* dst, const void* a, const void*, const void*, int64_t n, uint32_t scalars) {
  R* d = static_cast<R*>(dst);
  const T* x = static_cast<const T*>(a);
  n = RoundUpToGroup<T, R>(n);
  if (scalars & 1) return FillTile<R>(d, Op::Apply(*x), n);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) d[i] = Op::Apply(x[i]);
}

template <class T, class R, class Op>
void BinaryLoop(void* dst, const void* a, const void* b, const void*, int64_t n, uint32_t scalars) {
  R* d = static_cast<R*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  n = RoundUpToGroup<T, R>(n);
  switch (scalars & 3) {
    case 0:
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) d[i] = Op::Apply(x[i], y[i]);
      return;
    case 1: {
      const T v = *x;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) d[i] = Op::Apply(v, y[i]);
      return;
    }
    case 2: {
      const T v = *y;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) d[i] = Op::Apply(x[i], v);
      return;
    }
    default:
      FillTile<R>(d, Op::Apply(*x, *y), n);
  }
}

// Op with its operands exchanged: a > b as b < a.
template <TileFunction kFunction>
void Exchanged(void* dst, const void* a, const void* b, const void* c, int64_t n,
               uint32_t scalars) {
  kFunction(dst, b, a, c, n, (scalars & 1) << 1 | (scalars & 2) >> 1);
}

// condition ? a : b, the condition any byte but 0.
template <class T>
void WhereLoop(void* dst, const void* condition, const void* a, const void* b, int64_t n,
               uint32_t scalars) {
  T* d = static_cast<T*>(dst);
  const uint8_t* m = static_cast<const uint8_t*>(condition);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  n = RoundUpToGroup<T, T>(n);
  if (scalars & 1) {  // one of the two, whole
    const T* from = *m != 0 ? x : y;
    if (scalars & (*m != 0 ? 2 : 4)) return FillTile<T>(d, *from, n);
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) d[i] = from[i];
    return;
  }
  switch (scalars >> 1 & 3) {
    case 0:
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        const T p = x[i], q = y[i];
        d[i] = m[i] != 0 ? p : q;
      }
      return;
    case 1: {
      const T p = *x;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        const T q = y[i];
        d[i] = m[i] != 0 ? p : q;
      }
      return;
    }
    case 2: {
      const T q = *y;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        const T p = x[i];
        d[i] = m[i] != 0 ? p : q;
      }
      return;
    }
    default: {
      const T p = *x, q = *y;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) d[i] = m[i] != 0 ? p : q;
    }
  }
}

// Highway functions over tiles. A scalar operand is a step of 0: its 64 bytes hold a vector.
template <class T, class Op>
void VectorUnary(void* dst, const void* a, const void*, const void*, int64_t n, uint32_t scalars) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<T> d;
  const int64_t lanes = hn::Lanes(d);
  T* out = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const int64_t step = scalars & 1 ? 0 : lanes;
  for (int64_t i = 0; i < n; i += lanes, x += step) {
    hn::StoreU(Op::Apply(d, hn::LoadU(d, x)), d, out + i);
  }
}
template <class T, class Op>
void VectorBinary(void* dst, const void* a, const void* b, const void*, int64_t n,
                  uint32_t scalars) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<T> d;
  const int64_t lanes = hn::Lanes(d);
  T* out = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  const int64_t step_x = scalars & 1 ? 0 : lanes, step_y = scalars & 2 ? 0 : lanes;
  for (int64_t i = 0; i < n; i += lanes, x += step_x, y += step_y) {
    hn::StoreU(Op::Apply(d, hn::LoadU(d, x), hn::LoadU(d, y)), d, out + i);
  }
}
template <class T, class Op>
void VectorTernary(void* dst, const void* a, const void* b, const void* c, int64_t n,
                   uint32_t scalars) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<T> d;
  const int64_t lanes = hn::Lanes(d);
  T* out = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  const T* z = static_cast<const T*>(c);
  const int64_t step_x = scalars & 1 ? 0 : lanes, step_y = scalars & 2 ? 0 : lanes,
                step_z = scalars & 4 ? 0 : lanes;
  for (int64_t i = 0; i < n; i += lanes, x += step_x, y += step_y, z += step_z) {
    hn::StoreU(Op::Apply(d, hn::LoadU(d, x), hn::LoadU(d, y), hn::LoadU(d, z)), d, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#endif  // LATHE_CODEGEN_TILE_ELEMENT_LOOPS_INL_H_
