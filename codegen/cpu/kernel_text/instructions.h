// What the machine has one instruction for, on vectors of any size.
namespace hwy {
namespace HWY_NAMESPACE {

template <class Op, class V, class... Vs>
LATHE_INLINE V Natively(V a, Vs... rest) {
  using T = LaneOf<V>;
  if constexpr (sizeof(V) > LATHE_NATIVE_BYTES) {
    using Halves = HalvesOf<V>;
    const auto low = [](V v) { return __builtin_bit_cast(Halves, v).low; };
    const auto high = [](V v) { return __builtin_bit_cast(Halves, v).high; };
    return __builtin_bit_cast(
        V, Halves{Natively<Op>(low(a), low(rest)...), Natively<Op>(high(a), high(rest)...)});
  } else if constexpr (sizeof(V) < 16) {
    typedef T Wide __attribute__((vector_size(16)));
    return CutTo<V>(Op::Run(Padded<Wide>(a), Padded<Wide>(rest)...));
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
#if defined(__AVX512F__)
#define LATHE_ON_512(name)                                    \
  static F32x16 Run(F32x16 a, F32x16 b) {                     \
    return __builtin_ia32_##name##ps512_mask(a, b, a, -1, 4); \
  }                                                           \
  static F64x8 Run(F64x8 a, F64x8 b) { return __builtin_ia32_##name##pd512_mask(a, b, a, -1, 4); }
#else
#define LATHE_ON_512(name)
#endif
#if defined(__AVX__)
#define LATHE_ON_256(name)                                                          \
  static F32x8 Run(F32x8 a, F32x8 b) { return __builtin_ia32_##name##ps256(a, b); } \
  static F64x4 Run(F64x4 a, F64x4 b) { return __builtin_ia32_##name##pd256(a, b); }
#else
#define LATHE_ON_256(name)
#endif
#define LATHE_OF_TWO(Op, name)                                                     \
  struct Op {                                                                      \
    static F32x4 Run(F32x4 a, F32x4 b) { return __builtin_ia32_##name##ps(a, b); } \
    static F64x2 Run(F64x2 a, F64x2 b) { return __builtin_ia32_##name##pd(a, b); } \
    LATHE_ON_256(name) LATHE_ON_512(name)                                          \
  }
LATHE_OF_TWO(MaxOp, max);
LATHE_OF_TWO(MinOp, min);
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
    return kMode == 0 ? __builtin_nearbyintf(x)
           : kMode == 1 ? __builtin_floorf(x)
           : kMode == 2 ? __builtin_ceilf(x)
                        : __builtin_truncf(x);
  }
  static double One(double x) {
    return kMode == 0 ? __builtin_nearbyint(x)
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

}  // namespace HWY_NAMESPACE
}  // namespace hwy
