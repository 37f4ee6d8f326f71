// What kernels need beyond Highway: lanes of another size, conversions.
namespace hwy {
namespace HWY_NAMESPACE {

// Integers in lanes of another size, cut or extended. g++ takes vectors shorter than a register
// apart lane by lane; the machine has instructions for them.
#ifdef __AVX2__
typedef char B8x16 __attribute__((vector_size(16)));
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
    const auto part = __builtin_bit_cast(HalvesOf<V>, low);
    halves = __builtin_ia32_packusdw128((I32x4)part.low, (I32x4)part.high);
  }
  return CutTo<To>(__builtin_ia32_packuswb128(halves, I16x8{}));
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
