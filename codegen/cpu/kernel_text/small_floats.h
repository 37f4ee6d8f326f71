// Conversions of f16, bf16 and the f8 kinds, as dtypes/small_float.h states them, on vectors.
// A value is its code in the low bits of a lane of u16 or u8; here in lanes of u32.
namespace hwy {
namespace HWY_NAMESPACE {

template <int N>
using F32 = Vec<FixedTag<float, N>>;
template <int N>
using U32 = Vec<FixedTag<uint32_t, N>>;

constexpr float Power2(int exponent) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(127 + exponent) << 23);
}

// |value| rounded to kMantissa bits as if the exponent had no upper end.
template <int kMantissa, int kBias, int N>
LATHE_INLINE U32<N> EncodeMagnitude(U32<N> magnitude) {
  constexpr int kShift = 23 - kMantissa;
  constexpr float kAnchor = Power2(1 - kBias - kMantissa + 23);
  const U32<N> subnormal =
      (U32<N>)((F32<N>)magnitude + kAnchor) - __builtin_bit_cast(uint32_t, kAnchor);
  const U32<N> half = ((1u << (kShift - 1)) - 1) + ((magnitude >> kShift) & 1);
  const U32<N> normal =
      ((magnitude + half) >> kShift) - (static_cast<uint32_t>(127 - kBias) << kMantissa);
  return magnitude < __builtin_bit_cast(uint32_t, Power2(1 - kBias)) ? subnormal : normal;
}
template <int kMantissa, int kBias, int N>
LATHE_INLINE U32<N> DecodeMagnitude(U32<N> code) {
  typedef Vec<FixedTag<int32_t, N>> I32;
  const F32<N> subnormal =
      __builtin_convertvector((I32)code, F32<N>) * Power2(1 - kBias - kMantissa);
  const U32<N> normal = (code << (23 - kMantissa)) + (static_cast<uint32_t>(127 - kBias) << 23);
  return code < (1u << kMantissa) ? (U32<N>)subnormal : normal;
}

struct F16Kind {
  using Code = uint16_t;
  template <int N>
  static U32<N> Encode(U32<N> bits) {
    const U32<N> magnitude = bits & 0x7fffffff;
    U32<N> code = EncodeMagnitude<10, 15, N>(magnitude);
    code = code > 0x7c00 ? U32<N>{} + 0x7c00 : code;
    code = magnitude > 0x7f800000 ? (0x7e00 | ((magnitude >> 13) & 0x1ff)) : code;
    return code | ((bits >> 16) & 0x8000);
  }
  template <int N>
  static U32<N> Decode(U32<N> bits) {
    const U32<N> code = bits & 0x7fff;
    const U32<N> magnitude =
        code >= 0x7c00 ? (0x7f800000 | ((code & 0x3ff) << 13)) : DecodeMagnitude<10, 15, N>(code);
    const U32<N> quiet = code > 0x7c00 ? U32<N>{} + 0x400000 : U32<N>{};
    return magnitude | quiet | ((bits & 0x8000) << 16);
  }
};
struct BF16Kind {
  using Code = uint16_t;
  template <int N>
  static U32<N> Encode(U32<N> bits) {
    const U32<N> rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return (bits & 0x7fffffff) > 0x7f800000 ? U32<N>{} + 0xffff : rounded;
  }
  template <int N>
  static U32<N> Decode(U32<N> bits) {
    return bits << 16;
  }
};
struct F8E4M3FNKind {
  using Code = uint8_t;
  template <int N>
  static U32<N> Encode(U32<N> bits) {
    const U32<N> code = EncodeMagnitude<3, 7, N>(bits & 0x7fffffff);
    return (code > 0x7e ? U32<N>{} + 0x7f : code) | ((bits >> 24) & 0x80);
  }
  template <int N>
  static U32<N> Decode(U32<N> bits) {
    const U32<N> code = bits & 0x7f;
    const U32<N> magnitude = code == 0x7f ? U32<N>{} + 0x7fc00000 : DecodeMagnitude<3, 7, N>(code);
    return magnitude | ((bits & 0x80) << 24);
  }
};
struct F8E5M2Kind {
  using Code = uint8_t;
  template <int N>
  static U32<N> Encode(U32<N> bits) {
    const U32<N> magnitude = bits & 0x7fffffff;
    U32<N> code = EncodeMagnitude<2, 15, N>(magnitude);
    code = code > 0x7c ? U32<N>{} + 0x7c : code;
    code = magnitude > 0x7f800000 ? U32<N>{} + 0x7f : code;
    return code | ((bits >> 24) & 0x80);
  }
  template <int N>
  static U32<N> Decode(U32<N> bits) {
    const U32<N> code = bits & 0x7f;
    U32<N> magnitude = DecodeMagnitude<2, 15, N>(code);
    magnitude = code == 0x7c ? U32<N>{} + 0x7f800000 : magnitude;
    magnitude = code > 0x7c ? U32<N>{} + 0x7fc00000 : magnitude;
    return magnitude | ((bits & 0x80) << 24);
  }
};
// One zero and one NaN, which takes the code of -0.
template <int kMantissa, int kBias>
struct FnuzKind {
  using Code = uint8_t;
  template <int N>
  static U32<N> Encode(U32<N> bits) {
    const U32<N> code = EncodeMagnitude<kMantissa, kBias, N>(bits & 0x7fffffff);
    const U32<N> with_sign = code > 0x7f ? U32<N>{} + 0x80 : (code | ((bits >> 24) & 0x80));
    return code == 0 ? U32<N>{} : with_sign;
  }
  template <int N>
  static U32<N> Decode(U32<N> bits) {
    const U32<N> value = DecodeMagnitude<kMantissa, kBias, N>(bits & 0x7f) | ((bits & 0x80) << 24);
    return bits == 0x80 ? U32<N>{} + 0x7fc00000 : value;
  }
};
using F8E4M3FNUZKind = FnuzKind<3, 8>;
using F8E5M2FNUZKind = FnuzKind<2, 16>;
struct F8E8M0FNUKind {
  using Code = uint8_t;
  template <int N>
  static U32<N> Encode(U32<N> bits) {
    const U32<N> magnitude = bits & 0x7fffffff, exponent = magnitude >> 23;
    U32<N> code = exponent + ((magnitude >> 22) & 1);
    code = exponent == 0 ? (magnitude > 0x400000 ? U32<N>{} + 1 : U32<N>{}) : code;
    return exponent == 0xff ? U32<N>{} + 0xff : code;
  }
  template <int N>
  static U32<N> Decode(U32<N> bits) {
    const U32<N> value = bits == 0 ? U32<N>{} + 0x400000 : (bits << 23);
    return bits == 0xff ? U32<N>{} + 0x7fc00000 : value;
  }
};

// f16 by instruction where there is one.
template <class Kind, class V>
LATHE_INLINE auto Decode(V codes) {
  constexpr int N = kLanesOf<V>;
#ifdef __F16C__
  if constexpr (__is_same(Kind, F16Kind) && (N == 8 || N == 4)) {
    typedef short I16x8 __attribute__((vector_size(16)));
    I16x8 wide{};
    __builtin_memcpy(&wide, &codes, sizeof codes);
    if constexpr (N == 8)
      return __builtin_ia32_vcvtph2ps256(wide);
    else
      return __builtin_ia32_vcvtph2ps(wide);
  } else
#endif
    return (F32<N>)Kind::template Decode<N>(Resize<U32<N>>(codes));
}
template <class Kind, class V>
LATHE_INLINE auto Encode(V values) {
  constexpr int N = kLanesOf<V>;
  typedef Vec<FixedTag<typename Kind::Code, N>> Codes;
#ifdef __F16C__
  if constexpr (__is_same(Kind, F16Kind) && (N == 8 || N == 4)) {
    Codes codes;
    if constexpr (N == 8) {
      const auto wide = __builtin_ia32_vcvtps2ph256(values, 0);
      __builtin_memcpy(&codes, &wide, sizeof codes);
    } else {
      const auto wide = __builtin_ia32_vcvtps2ph(values, 0);
      __builtin_memcpy(&codes, &wide, sizeof codes);
    }
    return codes;
  } else
#endif
    return Resize<Codes>(Kind::template Encode<N>((U32<N>)values));
}

// The float next to a double whose last bit is 1, or the double itself if it is a float: encoding
// that equals encoding the double with one rounding.
LATHE_INLINE float RoundToOdd(double value) {
  const float nearest = static_cast<float>(value);
  const uint32_t bits = __builtin_bit_cast(uint32_t, nearest);
  if (static_cast<double>(nearest) == value || value != value || (bits & 1)) return nearest;
  const bool went_up = value < 0 ? nearest < value : nearest > value;
  return __builtin_bit_cast(float, went_up ? bits - 1 : bits + 1);
}
// A double with the same nearest neighbours as the integer.
LATHE_INLINE double IntToOdd(uint64_t value) {
  constexpr uint64_t kLow = (uint64_t{1} << 11) - 1;
  if (value >> 53 == 0) return static_cast<double>(value);
  const uint64_t sticky = (value & kLow) != 0 ? kLow + 1 : 0;
  return static_cast<double>((value | sticky) & ~kLow);
}
LATHE_INLINE double IntToOdd(int64_t value) {
  return value < 0 ? -IntToOdd(uint64_t{0} - static_cast<uint64_t>(value))
                   : IntToOdd(static_cast<uint64_t>(value));
}
// Doubles and integers to the float that encodes as they would.
template <class V>
static inline auto ToOddFloat(V v) {
  constexpr int N = kLanesOf<V>;
  using T = LaneOf<V>;
  return FromLanes(FixedTag<float, N>(), Full(), [=](int l) {
    if constexpr (kIsFloat<T>)
      return RoundToOdd(v[l]);
    else if constexpr (__is_same(T, uint64_t))
      return RoundToOdd(IntToOdd(v[l]));
    else
      return RoundToOdd(IntToOdd(static_cast<int64_t>(v[l])));
  });
}

template <class Kind>
LATHE_INLINE typename Kind::Code AddCodes(typename Kind::Code a, typename Kind::Code b) {
  typedef Vec<FixedTag<typename Kind::Code, 4>> Codes;
  return Encode<Kind>(Decode<Kind>(Codes{a}) + Decode<Kind>(Codes{b}))[0];
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
