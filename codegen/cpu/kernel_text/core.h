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

// A vector of at most 16 bytes as the first bytes of a register, the rest 0, and back. (By way of
// memory a wider load would wait for the narrower store.)
typedef short I16x8 __attribute__((vector_size(16)));
typedef int I32x4 __attribute__((vector_size(16)));
typedef long long I64x2 __attribute__((vector_size(16)));
typedef long long I64x4 __attribute__((vector_size(32)));
template <class Register, class V>
LATHE_INLINE Register Padded(V v) {
  static_assert(sizeof(Register) == 16);
  if constexpr (sizeof v == 8)
    return (Register)I64x2{__builtin_bit_cast(long long, v), 0};
  else if constexpr (sizeof v == 4)
    return (Register)I32x4{__builtin_bit_cast(int, v), 0, 0, 0};
  else if constexpr (sizeof v == 2)
    return (Register)I16x8{__builtin_bit_cast(short, v)};
  else
    return (Register)v;
}
template <class To, class Register>
LATHE_INLINE To CutTo(Register r) {
  if constexpr (sizeof(To) == 8)
    return __builtin_bit_cast(To, ((I64x2)r)[0]);
  else if constexpr (sizeof(To) == 4)
    return __builtin_bit_cast(To, ((I32x4)r)[0]);
  else if constexpr (sizeof(To) == 2)
    return __builtin_bit_cast(To, ((I16x8)r)[0]);
  else
    return (To)r;
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
LATHE_INLINE void FlushStream() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}
// Before a kernel returns: code without AVX that runs next would wait for the upper halves of the
// registers. g++ does so by itself only from -O2 on.
LATHE_INLINE void EndVectors() {
#if defined(__AVX__)
  __builtin_ia32_vzeroupper();
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

}  // namespace HWY_NAMESPACE
}  // namespace hwy
namespace hn = hwy::HWY_NAMESPACE;
