// What generated kernels stand on: Highway's names over the vector types of g++, as far as kernels
// and codegen/math/vector_math.h use them. No #include: a kernel compiles in a tenth of the time
// that hwy/highway.h takes, with the same bits (vectors of any number of lanes; what is wider than
// the machine's g++ splits).

typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long size_t;

struct LatheKernelError {
  int64_t value;
};
struct LatheKernelArgs {
  void* const* buffers;
  const int64_t* scalars;
  int64_t begin, end;
  void* scratch;
  LatheKernelError* error;
};

#define LATHE_MINI_HIGHWAY 1
#define HWY_NAMESPACE N_LATHE
#define HWY_BEFORE_NAMESPACE() static_assert(true, "")
#define HWY_AFTER_NAMESPACE() static_assert(true, "")
#define HWY_NATIVE_FMA 1
// The compiler may leave the large functions out of line: one copy serves body and tail.
#define LATHE_MATH_INLINE static inline
#define LATHE_INLINE static inline __attribute__((always_inline))
#define LATHE_TRY(call) \
  if (const int32_t lathe_code = (call); __builtin_expect(lathe_code != 0, 0)) return lathe_code

#if defined(__AVX512F__)
#define LATHE_NATIVE_BYTES 64
#elif defined(__AVX__)
#define LATHE_NATIVE_BYTES 32
#else
#define LATHE_NATIVE_BYTES 16
#endif

namespace hwy {
namespace HWY_NAMESPACE {

template <int kBytes>
struct IntOf;
template <>
struct IntOf<1> {
  using Signed = int8_t;
  using Unsigned = uint8_t;
};
template <>
struct IntOf<2> {
  using Signed = int16_t;
  using Unsigned = uint16_t;
};
template <>
struct IntOf<4> {
  using Signed = int32_t;
  using Unsigned = uint32_t;
};
template <>
struct IntOf<8> {
  using Signed = int64_t;
  using Unsigned = uint64_t;
};

template <class T, int N>
struct FixedTag {
  using Lane = T;
  static constexpr int kLanes = N;
};
template <class T, int N>
struct VecOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class D>
using Vec = typename VecOf<typename D::Lane, D::kLanes>::type;
template <class D>
using TFromD = typename D::Lane;
template <class D>
using RebindToSigned = FixedTag<typename IntOf<sizeof(TFromD<D>)>::Signed, D::kLanes>;
template <class D>
using RebindToUnsigned = FixedTag<typename IntOf<sizeof(TFromD<D>)>::Unsigned, D::kLanes>;

template <class T>
struct NoReference {
  using type = T;
};
template <class T>
struct NoReference<T&> {
  using type = T;
};
template <class T>
struct NoReference<T&&> {
  using type = T;
};
template <class V>
using LaneOf = typename NoReference<decltype(V{}[0])>::type;
template <class V>
inline constexpr int kLanesOf = sizeof(V) / sizeof(LaneOf<V>);
// A mask holds -1 or 0 in lanes of the size of what was compared.
template <class V>
using MaskOf = decltype(V{} < V{});
template <class T>
inline constexpr bool kIsFloat = static_cast<T>(0.5) != static_cast<T>(0);
template <class T>
inline constexpr bool kIsSignedLane = static_cast<T>(-1) < static_cast<T>(0);

template <class D>
LATHE_INLINE constexpr size_t Lanes(D) {
  return D::kLanes;
}
template <class D>
constexpr size_t MaxLanes(D) {
  return D::kLanes;
}

// ---- Memory. Full is the count of a whole vector, Part of the last one.
struct Full {
  static constexpr bool kFull = true;
  template <class D>
  static constexpr int Count() {
    return D::kLanes;
  }
};
struct Part {
  static constexpr bool kFull = false;
  int count;
};

template <class D>
LATHE_INLINE Vec<D> Zero(D) {
  return Vec<D>{};
}
template <class D>
LATHE_INLINE Vec<D> Set(D, TFromD<D> x) {
  return x - Vec<D>{};  // keeps -0.0
}
template <class D>
LATHE_INLINE Vec<D> LoadU(D, const TFromD<D>* p) {
  Vec<D> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V, class D>
LATHE_INLINE void StoreU(V v, D, TFromD<D>* p) {
  __builtin_memcpy(p, &v, sizeof v);
}
template <int... I>
struct Ints {};
template <class D, int... I>
LATHE_INLINE constexpr Vec<D> IotaOf(Ints<I...>) {
  return Vec<D>{static_cast<TFromD<D>>(I)...};
}
// 0, 1, 2...
template <class D>
LATHE_INLINE constexpr Vec<D> Iota(D) {
  return IotaOf<D>(Ints<__integer_pack(D::kLanes)...>());
}

// The lanes that exist.
template <class M>
LATHE_INLINE M FirstN(M, Full) {
  return ~M{};
}
template <class M>
LATHE_INLINE M FirstN(M, Part n) {
  using T = LaneOf<M>;
  return Iota(FixedTag<T, kLanesOf<M>>()) < static_cast<T>(n.count);
}

// Where the machine can leave out lanes of a load or a store.
#ifdef __AVX2__
template <class D>
inline constexpr bool kMasksMemory = sizeof(TFromD<D>) >= 4 &&
                                     (sizeof(Vec<D>) == 16 || sizeof(Vec<D>) == 32);
typedef int I32x4 __attribute__((vector_size(16)));
typedef int I32x8 __attribute__((vector_size(32)));
typedef long long I64x2 __attribute__((vector_size(16)));
typedef long long I64x4 __attribute__((vector_size(32)));
template <class D, class M>
LATHE_INLINE Vec<D> MaskLoad(M m, D, const TFromD<D>* p) {
  if constexpr (sizeof(TFromD<D>) == 4) {
    if constexpr (sizeof(M) == 16)
      return (Vec<D>)__builtin_ia32_maskloadd((const I32x4*)p, (I32x4)m);
    else
      return (Vec<D>)__builtin_ia32_maskloadd256((const I32x8*)p, (I32x8)m);
  } else {
    if constexpr (sizeof(M) == 16)
      return (Vec<D>)__builtin_ia32_maskloadq((const I64x2*)p, (I64x2)m);
    else
      return (Vec<D>)__builtin_ia32_maskloadq256((const I64x4*)p, (I64x4)m);
  }
}
template <class D, class M>
LATHE_INLINE void MaskStore(Vec<D> v, M m, D, TFromD<D>* p) {
  if constexpr (sizeof(TFromD<D>) == 4) {
    if constexpr (sizeof(M) == 16)
      __builtin_ia32_maskstored((I32x4*)p, (I32x4)m, (I32x4)v);
    else
      __builtin_ia32_maskstored256((I32x8*)p, (I32x8)m, (I32x8)v);
  } else {
    if constexpr (sizeof(M) == 16)
      __builtin_ia32_maskstoreq((I64x2*)p, (I64x2)m, (I64x2)v);
    else
      __builtin_ia32_maskstoreq256((I64x4*)p, (I64x4)m, (I64x4)v);
  }
}
#else
template <class D>
inline constexpr bool kMasksMemory = false;
template <class D, class M>
Vec<D> MaskLoad(M, D, const TFromD<D>*);
template <class D, class M>
void MaskStore(Vec<D>, M, D, TFromD<D>*);
#endif

template <class D>
LATHE_INLINE Vec<D> LoadN(D d, const TFromD<D>* p, Full) {
  return LoadU(d, p);
}
template <class D>
LATHE_INLINE Vec<D> LoadN(D d, const TFromD<D>* p, Part n) {
  if constexpr (kMasksMemory<D>) {
    return MaskLoad(FirstN(MaskOf<Vec<D>>(), n), d, p);
  } else {
    Vec<D> v{};
    __builtin_memcpy(&v, p, n.count * sizeof(TFromD<D>));
    return v;
  }
}
template <class V, class D>
LATHE_INLINE void StoreN(V v, D d, TFromD<D>* p, Full) {
  StoreU(v, d, p);
}
template <class V, class D>
LATHE_INLINE void StoreN(V v, D d, TFromD<D>* p, Part n) {
  if constexpr (kMasksMemory<D>) {
    MaskStore(v, FirstN(MaskOf<V>(), n), d, p);
  } else {
    __builtin_memcpy(p, &v, n.count * sizeof(TFromD<D>));
  }
}

// Past the caches: p is a multiple of the vector's size.
template <class V, class D>
LATHE_INLINE void Stream(V v, D d, TFromD<D>* p) {
#if defined(__AVX__)
  typedef long long Two __attribute__((vector_size(16)));
  typedef long long Four __attribute__((vector_size(32)));
  if constexpr (sizeof(V) == 16) return __builtin_ia32_movntdq((Two*)p, (Two)v);
  if constexpr (sizeof(V) == 32) return __builtin_ia32_movntdq256((Four*)p, (Four)v);
#if defined(__AVX512F__)
  typedef long long Eight __attribute__((vector_size(64)));
  if constexpr (sizeof(V) == 64) return __builtin_ia32_movntdq512((Eight*)p, (Eight)v);
#endif
#endif
  StoreU(v, d, p);
}
template <class V, class D, class N>
LATHE_INLINE void StreamN(V v, D d, TFromD<D>* p, N n, bool stream) {
  if constexpr (N::kFull) {
    if (stream && reinterpret_cast<size_t>(p) % sizeof(V) == 0) return Stream(v, d, p);
  }
  StoreN(v, d, p, n);
}
LATHE_INLINE void FlushStream() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}
template <class T>
LATHE_INLINE void Prefetch(const T* p) {
  __builtin_prefetch(p);
}

// ---- Bits.
template <class D, class V>
LATHE_INLINE Vec<D> BitCast(D, V v) {
  return (Vec<D>)v;
}
template <class V>
LATHE_INLINE V And(V a, V b) {
  return (V)((MaskOf<V>)a & (MaskOf<V>)b);
}
template <class V>
LATHE_INLINE V Or(V a, V b) {
  return (V)((MaskOf<V>)a | (MaskOf<V>)b);
}
template <class V>
LATHE_INLINE V Xor(V a, V b) {
  return (V)((MaskOf<V>)a ^ (MaskOf<V>)b);
}
template <class V>
LATHE_INLINE V AndNot(V a, V b) {
  return (V)(~(MaskOf<V>)a & (MaskOf<V>)b);
}
template <class V>
LATHE_INLINE V Not(V a) {
  return (V)(~(MaskOf<V>)a);
}
template <int kBits, class V>
LATHE_INLINE V ShiftLeft(V v) {
  return v << kBits;
}
template <int kBits, class V>
LATHE_INLINE V ShiftRight(V v) {
  return v >> kBits;
}
template <class V>
LATHE_INLINE MaskOf<V> SignMask() {
  using Bits = LaneOf<MaskOf<V>>;
  using Unsigned = typename IntOf<sizeof(Bits)>::Unsigned;
  return static_cast<Bits>(static_cast<Unsigned>(1) << (8 * sizeof(Bits) - 1)) - MaskOf<V>{};
}

// ---- Arithmetic.
template <class V>
LATHE_INLINE V Add(V a, V b) {
  return a + b;
}
template <class V>
LATHE_INLINE V Sub(V a, V b) {
  return a - b;
}
template <class V>
LATHE_INLINE V Mul(V a, V b) {
  return a * b;
}
template <class V>
LATHE_INLINE V Div(V a, V b) {
  return a / b;
}
template <class V>
LATHE_INLINE V Neg(V a) {
  if constexpr (kIsFloat<LaneOf<V>>) return (V)((MaskOf<V>)a ^ SignMask<V>());
  return -a;
}
template <class V>
LATHE_INLINE V Abs(V a) {
  if constexpr (kIsFloat<LaneOf<V>>) return (V)((MaskOf<V>)a & ~SignMask<V>());
  return a < V{} ? -a : a;
}
template <class V>
LATHE_INLINE V CopySign(V magnitude, V sign) {
  const MaskOf<V> s = SignMask<V>();
  return (V)(((MaskOf<V>)magnitude & ~s) | ((MaskOf<V>)sign & s));
}

// ---- Masks.
template <class V>
LATHE_INLINE MaskOf<V> Eq(V a, V b) {
  return a == b;
}
template <class V>
LATHE_INLINE MaskOf<V> Ne(V a, V b) {
  return a != b;
}
template <class V>
LATHE_INLINE MaskOf<V> Lt(V a, V b) {
  return a < b;
}
template <class V>
LATHE_INLINE MaskOf<V> Le(V a, V b) {
  return a <= b;
}
template <class V>
LATHE_INLINE MaskOf<V> Gt(V a, V b) {
  return a > b;
}
template <class V>
LATHE_INLINE MaskOf<V> Ge(V a, V b) {
  return a >= b;
}
template <class V>
LATHE_INLINE MaskOf<V> IsNaN(V a) {
  return a != a;
}
template <class M, class V>
LATHE_INLINE V IfThenElse(M mask, V a, V b) {
  return (MaskOf<V>)mask ? a : b;
}
template <class M, class V>
LATHE_INLINE V IfThenElseZero(M mask, V a) {
  return (V)((MaskOf<V>)mask & (MaskOf<V>)a);
}
template <class M, class V>
LATHE_INLINE V IfThenZeroElse(M mask, V b) {
  return (V)(~(MaskOf<V>)mask & (MaskOf<V>)b);
}
template <class D, class M>
LATHE_INLINE MaskOf<Vec<D>> RebindMask(D, M mask) {
  return (MaskOf<Vec<D>>)mask;
}
template <class V>
LATHE_INLINE bool AnyBit(V v) {
  typedef int64_t Two __attribute__((vector_size(16)));
  typedef long long Four __attribute__((vector_size(32)));
  if constexpr (sizeof(V) <= 8) {
    uint64_t bits = 0;
    __builtin_memcpy(&bits, &v, sizeof v);
    return bits != 0;
  } else if constexpr (sizeof(V) > 32 || (sizeof(V) > LATHE_NATIVE_BYTES)) {
    typedef LaneOf<V> Half __attribute__((vector_size(sizeof(V) / 2)));
    Half h[2];
    __builtin_memcpy(h, &v, sizeof v);
    return AnyBit(h[0] | h[1]);
#ifdef __AVX__
  } else if constexpr (sizeof(V) == 32) {
    return !__builtin_ia32_ptestz256((Four)v, (Four)v);
#endif
  } else {
    const Two t = (Two)v;
    return (t[0] | t[1]) != 0;
  }
}
template <class D, class M>
LATHE_INLINE bool AllFalse(D, M mask) {
  return !AnyBit(mask);
}
template <class D, class M>
LATHE_INLINE bool AllTrue(D, M mask) {
  return !AnyBit(~mask);
}

// ---- What the machine has one instruction for, on vectors of any size.
template <class Op, class V, class... Vs>
LATHE_INLINE V Natively(V a, Vs... rest) {
  using T = LaneOf<V>;
  if constexpr (sizeof(V) > LATHE_NATIVE_BYTES) {
    typedef T Half __attribute__((vector_size(sizeof(V) / 2)));
    struct Halves {
      Half h[2];
    };
    const auto half = [](V v, int k) {
      Halves halves;
      __builtin_memcpy(&halves, &v, sizeof v);
      return halves.h[k];
    };
    const Halves r = {
        {Natively<Op>(half(a, 0), half(rest, 0)...), Natively<Op>(half(a, 1), half(rest, 1)...)}};
    V v;
    __builtin_memcpy(&v, &r, sizeof v);
    return v;
  } else if constexpr (sizeof(V) < 16) {
    typedef T Wide __attribute__((vector_size(16)));
    const auto wide = [](V v) {
      Wide w{};
      __builtin_memcpy(&w, &v, sizeof v);
      return w;
    };
    const Wide w = Op::Run(wide(a), wide(rest)...);
    V v;
    __builtin_memcpy(&v, &w, sizeof v);
    return v;
  } else {
    return Op::Run(a, rest...);
  }
}

typedef float F32x4 __attribute__((vector_size(16)));
typedef double F64x2 __attribute__((vector_size(16)));
typedef float F32x8 __attribute__((vector_size(32)));
typedef double F64x4 __attribute__((vector_size(32)));
typedef float F32x16 __attribute__((vector_size(64)));
typedef double F64x8 __attribute__((vector_size(64)));

struct SqrtOp {
  static F32x4 Run(F32x4 a) { return __builtin_ia32_sqrtps(a); }
  static F64x2 Run(F64x2 a) { return __builtin_ia32_sqrtpd(a); }
#ifdef __AVX__
  static F32x8 Run(F32x8 a) { return __builtin_ia32_sqrtps256(a); }
  static F64x4 Run(F64x4 a) { return __builtin_ia32_sqrtpd256(a); }
#endif
#ifdef __AVX512F__
  static F32x16 Run(F32x16 a) { return __builtin_ia32_sqrtps512_mask(a, a, -1, 4); }
  static F64x8 Run(F64x8 a) { return __builtin_ia32_sqrtpd512_mask(a, a, -1, 4); }
#endif
};
template <class V>
LATHE_INLINE V Sqrt(V a) {
  return Natively<SqrtOp>(a);
}

// a > b ? a : b and a < b ? a : b on floats, in one instruction.
struct MaxOp {
  static F32x4 Run(F32x4 a, F32x4 b) { return __builtin_ia32_maxps(a, b); }
  static F64x2 Run(F64x2 a, F64x2 b) { return __builtin_ia32_maxpd(a, b); }
#ifdef __AVX__
  static F32x8 Run(F32x8 a, F32x8 b) { return __builtin_ia32_maxps256(a, b); }
  static F64x4 Run(F64x4 a, F64x4 b) { return __builtin_ia32_maxpd256(a, b); }
#endif
#ifdef __AVX512F__
  static F32x16 Run(F32x16 a, F32x16 b) { return __builtin_ia32_maxps512_mask(a, b, a, -1, 4); }
  static F64x8 Run(F64x8 a, F64x8 b) { return __builtin_ia32_maxpd512_mask(a, b, a, -1, 4); }
#endif
};
struct MinOp {
  static F32x4 Run(F32x4 a, F32x4 b) { return __builtin_ia32_minps(a, b); }
  static F64x2 Run(F64x2 a, F64x2 b) { return __builtin_ia32_minpd(a, b); }
#ifdef __AVX__
  static F32x8 Run(F32x8 a, F32x8 b) { return __builtin_ia32_minps256(a, b); }
  static F64x4 Run(F64x4 a, F64x4 b) { return __builtin_ia32_minpd256(a, b); }
#endif
#ifdef __AVX512F__
  static F32x16 Run(F32x16 a, F32x16 b) { return __builtin_ia32_minps512_mask(a, b, a, -1, 4); }
  static F64x8 Run(F64x8 a, F64x8 b) { return __builtin_ia32_minpd512_mask(a, b, a, -1, 4); }
#endif
};
template <class V>
LATHE_INLINE V Max(V a, V b) {
  if constexpr (kIsFloat<LaneOf<V>>) return Natively<MaxOp>(a, b);
  return a > b ? a : b;
}
template <class V>
LATHE_INLINE V Min(V a, V b) {
  if constexpr (kIsFloat<LaneOf<V>>) return Natively<MinOp>(a, b);
  return a < b ? a : b;
}

struct FmaOp {
#ifdef __FMA__
  static F32x4 Run(F32x4 a, F32x4 b, F32x4 c) { return __builtin_ia32_vfmaddps(a, b, c); }
  static F64x2 Run(F64x2 a, F64x2 b, F64x2 c) { return __builtin_ia32_vfmaddpd(a, b, c); }
  static F32x8 Run(F32x8 a, F32x8 b, F32x8 c) { return __builtin_ia32_vfmaddps256(a, b, c); }
  static F64x4 Run(F64x4 a, F64x4 b, F64x4 c) { return __builtin_ia32_vfmaddpd256(a, b, c); }
#ifdef __AVX512F__
  static F32x16 Run(F32x16 a, F32x16 b, F32x16 c) {
    return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);
  }
  static F64x8 Run(F64x8 a, F64x8 b, F64x8 c) {
    return __builtin_ia32_vfmaddpd512_mask(a, b, c, -1, 4);
  }
#endif
#else
  template <class V>
  static V Run(V a, V b, V c) {
    for (int i = 0; i < kLanesOf<V>; ++i) {
      a[i] = sizeof(a[0]) == 4 ? __builtin_fmaf(a[i], b[i], c[i]) : __builtin_fma(a[i], b[i], c[i]);
    }
    return a;
  }
#endif
};
// Rounded once, also where there is no such instruction; integers wrap.
template <class V>
LATHE_INLINE V MulAdd(V a, V b, V c) {
  if constexpr (kIsFloat<LaneOf<V>>) return Natively<FmaOp>(a, b, c);
  return a * b + c;
}
template <class V>
LATHE_INLINE V MulSub(V a, V b, V c) {
  return MulAdd(a, b, Neg(c));
}
template <class V>
LATHE_INLINE V NegMulAdd(V a, V b, V c) {
  return MulAdd(Neg(a), b, c);
}

#ifdef __SSE4_1__
template <int kMode>  // 0: nearest even, 1: down, 2: up, 3: to zero; 8: no exceptions
struct RoundOp {
  static F32x4 Run(F32x4 a) { return __builtin_ia32_roundps(a, kMode | 8); }
  static F64x2 Run(F64x2 a) { return __builtin_ia32_roundpd(a, kMode | 8); }
#ifdef __AVX__
  static F32x8 Run(F32x8 a) { return __builtin_ia32_roundps256(a, kMode | 8); }
  static F64x4 Run(F64x4 a) { return __builtin_ia32_roundpd256(a, kMode | 8); }
#endif
#ifdef __AVX512F__
  static F32x16 Run(F32x16 a) { return __builtin_ia32_rndscaleps_mask(a, kMode | 8, a, -1, 4); }
  static F64x8 Run(F64x8 a) { return __builtin_ia32_rndscalepd_mask(a, kMode | 8, a, -1, 4); }
#endif
};
#else
template <int kMode>
struct RoundOp {
  static float One(float x) {
    return kMode == 0   ? __builtin_nearbyintf(x)
           : kMode == 1 ? __builtin_floorf(x)
           : kMode == 2 ? __builtin_ceilf(x)
                        : __builtin_truncf(x);
  }
  static double One(double x) {
    return kMode == 0   ? __builtin_nearbyint(x)
           : kMode == 1 ? __builtin_floor(x)
           : kMode == 2 ? __builtin_ceil(x)
                        : __builtin_trunc(x);
  }
  template <class V>
  static V Run(V a) {
    for (int i = 0; i < kLanesOf<V>; ++i) a[i] = One(a[i]);
    return a;
  }
};
#endif
template <class V>
LATHE_INLINE V Round(V a) {
  return Natively<RoundOp<0>>(a);
}
template <class V>
LATHE_INLINE V Floor(V a) {
  return Natively<RoundOp<1>>(a);
}
template <class V>
LATHE_INLINE V Ceil(V a) {
  return Natively<RoundOp<2>>(a);
}
template <class V>
LATHE_INLINE V Trunc(V a) {
  return Natively<RoundOp<3>>(a);
}

// ---- What kernels need beyond Highway.

// Lane-wise f(0), f(1)...; f is called for the lanes that exist alone.
template <class D, class F, int... I>
LATHE_INLINE Vec<D> LanesOfPack(F f, Ints<I...>) {
  return Vec<D>{f(I)...};
}
template <class D, class F>
LATHE_INLINE Vec<D> FromLanes(D, Full, F f) {
  if constexpr (D::kLanes <= 8) {
    return LanesOfPack<D>(f, Ints<__integer_pack(D::kLanes)...>());
  } else {
    TFromD<D> lanes[D::kLanes];
    for (int l = 0; l < D::kLanes; ++l) lanes[l] = f(l);
    return LoadU(D(), lanes);
  }
}
template <class D, class F>
static inline Vec<D> FromLanes(D, Part n, F f) {
  TFromD<D> lanes[D::kLanes] = {};
  for (int l = 0; l < n.count; ++l) lanes[l] = f(l);
  return LoadU(D(), lanes);
}
template <class D, class F>
LATHE_INLINE void ForLanes(D, Full, F f) {
  for (int l = 0; l < D::kLanes; ++l) f(l);
}
template <class D, class F>
LATHE_INLINE void ForLanes(D, Part n, F f) {
  for (int l = 0; l < n.count; ++l) f(l);
}

// Integers in lanes of another size, cut or extended. g++ takes vectors shorter than a register
// apart lane by lane; the machine has instructions for them.
#ifdef __AVX2__
typedef char B8x16 __attribute__((vector_size(16)));
typedef short I16x8 __attribute__((vector_size(16)));
template <class Register, class V>
LATHE_INLINE Register Padded(V v) {
  Register r{};
  __builtin_memcpy(&r, &v, sizeof v < sizeof r ? sizeof v : sizeof r);
  return r;
}
template <bool kSigned, class To, class V>
LATHE_INLINE To Extend(V v) {
  constexpr int kFrom = sizeof(LaneOf<V>), kTo = sizeof(LaneOf<To>), kLanes = kLanesOf<V>;
  if constexpr (kFrom == 1 && kTo == 2) {
    const B8x16 b = Padded<B8x16>(v);
    return (To)(kSigned ? __builtin_ia32_pmovsxbw128(b) : __builtin_ia32_pmovzxbw128(b));
  } else if constexpr (kFrom == 1 && kTo == 4 && kLanes == 4) {
    const B8x16 b = Padded<B8x16>(v);
    return (To)(kSigned ? __builtin_ia32_pmovsxbd128(b) : __builtin_ia32_pmovzxbd128(b));
  } else if constexpr (kFrom == 1 && kTo == 4) {
    const B8x16 b = Padded<B8x16>(v);
    return (To)(kSigned ? __builtin_ia32_pmovsxbd256(b) : __builtin_ia32_pmovzxbd256(b));
  } else {
    const I16x8 h = Padded<I16x8>(v);
    return (To)(kSigned ? __builtin_ia32_pmovsxwd128(h) : __builtin_ia32_pmovzxwd128(h));
  }
}
// Of 4 or 8 lanes of 2 or 4 bytes: their low bytes.
template <class To, class V>
LATHE_INLINE To LowBytes(V v) {
  constexpr int kFrom = sizeof(LaneOf<V>);
  const V low = v & static_cast<LaneOf<V>>(255);
  I16x8 halves;
  if constexpr (kFrom == 2) {
    halves = Padded<I16x8>(low);
  } else if constexpr (sizeof(V) == 16) {
    halves = __builtin_ia32_packusdw128((I32x4)low, I32x4{});
  } else {
    I32x4 part[2];
    __builtin_memcpy(part, &low, sizeof low);
    halves = __builtin_ia32_packusdw128(part[0], part[1]);
  }
  return Padded<To>(__builtin_ia32_packuswb128(halves, I16x8{}));
}
template <class To, class V>
LATHE_INLINE To Resize(V v) {
  constexpr int kFrom = sizeof(LaneOf<V>), kTo = sizeof(LaneOf<To>), kLanes = kLanesOf<V>;
  constexpr bool kSigned = kIsSignedLane<LaneOf<V>>;
  typedef int32_t Words __attribute__((vector_size(4 * kLanes)));
  if constexpr (kLanes > 8 || kFrom == kTo) {
    return __builtin_convertvector(v, To);
  } else if constexpr (kFrom + kTo == 9 || (kFrom + kTo == 10 && kLanes == 4)) {
    return Resize<To>(Resize<Words>(v));  // between 8 bytes and 1 or 2
  } else if constexpr ((kFrom == 1 && kTo <= 4 && (kTo == 4 || kLanes == 8)) ||
                       (kFrom == 2 && kTo == 4 && kLanes == 4)) {
    return Extend<kSigned, To>(v);
  } else if constexpr (kTo == 1 && kFrom <= 4 && (kFrom == 4 || kLanes == 8)) {
    return LowBytes<To>(v);
  } else {
    return __builtin_convertvector(v, To);
  }
}
#else
template <class To, class V>
LATHE_INLINE To Resize(V v) {
  return __builtin_convertvector(v, To);
}
#endif

// A mask in lanes of kBytes; of bool bytes in memory; as such bytes.
template <int kBytes, class M>
LATHE_INLINE auto ResizeMask(M mask) {
  typedef typename IntOf<kBytes>::Signed T __attribute__((vector_size(kLanesOf<M> * kBytes)));
  return Resize<T>(mask);
}
template <class V>
LATHE_INLINE MaskOf<V> MaskFromBytes(V bytes) {
  return bytes != 0;
}
template <class M>
LATHE_INLINE auto BytesFromMask(M mask) {
  typedef uint8_t Bytes __attribute__((vector_size(kLanesOf<M>)));
  return (Bytes)ResizeMask<1>(mask) & 1;
}
// Loads and stores where the mask is true; 0 elsewhere.
template <class M, class D, class N>
LATHE_INLINE Vec<D> MaskedLoadN(M mask, D d, const TFromD<D>* p, N n) {
  if constexpr (kMasksMemory<D>) return MaskLoad(mask & FirstN(mask, n), d, p);
  if (N::kFull && AllTrue(d, mask)) return LoadU(d, p);
  if (AllFalse(d, mask)) return Zero(d);
  return FromLanes(d, n, [=](int l) { return mask[l] ? p[l] : TFromD<D>(); });
}
template <class M, class V, class D, class N>
LATHE_INLINE void MaskedStoreN(V v, M mask, D d, TFromD<D>* p, N n) {
  if constexpr (kMasksMemory<D>) return MaskStore(v, mask & FirstN(mask, n), d, p);
  if (N::kFull && AllTrue(d, mask)) return StoreU(v, d, p);
  if (AllFalse(d, mask)) return;
  ForLanes(d, n, [=](int l) {
    if (mask[l]) p[l] = v[l];
  });
}

LATHE_INLINE int64_t FloorDiv(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
LATHE_INLINE int64_t Mod(int64_t a, int64_t b) {
  const int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
LATHE_INLINE int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }
LATHE_INLINE int64_t Most(int64_t a, int64_t b) { return a > b ? a : b; }

// a + l*sa compared with b + l*sb, as (b - a) against l*(sa - sb): 32 bits hold the latter, and the
// former may be clamped to what they hold.
LATHE_INLINE int32_t ClampDistance(int64_t a, int64_t b) {
  int64_t distance;
  if (__builtin_sub_overflow(b, a, &distance)) distance = a < b ? 1 << 30 : -(1 << 30);
  return static_cast<int32_t>(Least(Most(distance, -(1 << 30)), 1 << 30));
}

// Conversions that C++ does alike for all values: int to int, int to float, float to float.
template <class D, class V>
LATHE_INLINE Vec<D> ConvertTo(D, V v) {
  using From = LaneOf<V>;
  if constexpr (!kIsFloat<From> && kIsFloat<TFromD<D>> && sizeof(From) < 4) {
    typedef int32_t Wide __attribute__((vector_size(4 * kLanesOf<V>)));
    return __builtin_convertvector(Resize<Wide>(v), Vec<D>);
  } else if constexpr (!kIsFloat<From> && !kIsFloat<TFromD<D>>) {
    return Resize<Vec<D>>(v);
  } else {
    return __builtin_convertvector(v, Vec<D>);
  }
}
// Float to integer: NaN gives 0, else truncate, clamp to [-2^63, 2^64), wrap.
LATHE_INLINE uint64_t Bits64(double x) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (x != x) return 0;
  if (x >= 2 * kTwo63) return ~uint64_t{0};
  if (x >= kTwo63) return static_cast<uint64_t>(x);
  if (x <= -kTwo63) return uint64_t{1} << 63;
  return static_cast<uint64_t>(static_cast<int64_t>(x));
}
template <class D, class V>
static inline Vec<D> FloatToIntSlow(D d, V v) {
  return FromLanes(d, Full(), [=](int l) { return static_cast<TFromD<D>>(Bits64(v[l])); });
}
template <class D, class V>
LATHE_INLINE Vec<D> FloatToInt(D d, V v) {
  if constexpr (sizeof(TFromD<D>) <= 4) {
    typedef int32_t Wide __attribute__((vector_size(4 * kLanesOf<V>)));
    if (AllTrue(d, Abs(v) < static_cast<LaneOf<V>>(2147483648.0))) {
      return Resize<Vec<D>>(__builtin_convertvector(v, Wide));
    }
  }
  return FloatToIntSlow(d, v);
}
// first, first + stride...
template <class D>
LATHE_INLINE Vec<D> Ramp(D d, int64_t first, int64_t stride) {
  using T = TFromD<D>;
  if constexpr (kIsFloat<T>) {
    return FromLanes(d, Full(), [=](int l) { return static_cast<T>(first + l * stride); });
  } else {
    return Set(d, static_cast<T>(first)) + Iota(d) * static_cast<T>(stride);
  }
}

// The operations of ir/loops/ops_list.inc that Highway has otherwise.
template <class V>
LATHE_INLINE V Minimum(V a, V b) {
  if constexpr (kIsFloat<LaneOf<V>>) return a != a ? a : Min(a, b);
  return Min(a, b);
}
template <class V>
LATHE_INLINE V Maximum(V a, V b) {
  if constexpr (kIsFloat<LaneOf<V>>) return a != a ? a : Max(a, b);
  return Max(a, b);
}
template <class V>
LATHE_INLINE V Fmin(V a, V b) {
  if constexpr (kIsFloat<LaneOf<V>>) return b != b ? a : Min(a, b);
  return Min(a, b);
}
template <class V>
LATHE_INLINE V Fmax(V a, V b) {
  if constexpr (kIsFloat<LaneOf<V>>) return b != b ? a : Max(a, b);
  return Max(a, b);
}
template <class V>
LATHE_INLINE V Sign(V a) {
  using T = LaneOf<V>;
  const V one = static_cast<T>(1) - V{};
  return And((V)(a > V{}), one) - And((V)(a < V{}), one);
}
template <class V>
LATHE_INLINE MaskOf<V> IsInf(V a) {
  return Abs(a) == static_cast<LaneOf<V>>(__builtin_inf()) - V{};
}
template <class V>
LATHE_INLINE MaskOf<V> SignBit(V a) {
  return (MaskOf<V>)a < 0;
}

// ---- Errors.
__attribute__((noinline, cold)) static int32_t FailWith(const LatheKernelArgs* args, int32_t code,
                                                        int64_t value) {
  if (args->error) args->error->value = value;
  return code;
}
template <class V, class M>
__attribute__((noinline, cold)) static int32_t FailWith(const LatheKernelArgs* args, int32_t code,
                                                        V value, M bad) {
  for (int l = kLanesOf<V> - 1; l >= 0; --l) {
    if (bad[l] && args->error) args->error->value = static_cast<int64_t>(value[l]);
  }
  return code;
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
namespace hn = hwy::HWY_NAMESPACE;
