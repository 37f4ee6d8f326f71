// Reductions over packed integers, 64 elements at a time, without bringing them into their order.
// Eight elements are an octet: a whole number of bytes, one word here. All octets shift at once:
// lane l of vector k is element 8 * (l % 8) + kLanes / 8 * k + l / 8 of the 64. What meets them
// is brought into the same order, and the sums out of it before they fold: each lane's sum keeps
// its elements and their order, so the bits are those of the natural order.
namespace hwy {
namespace HWY_NAMESPACE {

// Word l holds octet l % 8 of the eight at p, in its low bits.
template <int kWidth, class D>
LATHE_INLINE Vec<D> Octets(D d, const uint8_t* p) {
  static_assert(kWidth <= 4);
#if defined(__AVX2__)
  typedef long long I64x8 __attribute__((vector_size(64)));
  typedef char B8x32 __attribute__((vector_size(32)));
  if constexpr (D::kLanes == 8 && kWidth == 4) {
    return LoadU(d, reinterpret_cast<const uint32_t*>(p));
  } else if constexpr (D::kLanes == 8 && kWidth == 3) {
    // Twelve bytes of each half; no byte past them.
    const I64x2 low = (I64x2)LoadU(FixedTag<uint32_t, 4>(), reinterpret_cast<const uint32_t*>(p)),
                high = (I64x2)LoadU(FixedTag<uint32_t, 4>(),
                                    reinterpret_cast<const uint32_t*>(p + 8));
    const auto both = (B8x32)__builtin_ia32_insert128i256(I64x4{low[0], low[1]}, high, 1);
    return (Vec<D>)__builtin_shuffle(
        both, B8x32{0,  1,  2,  0,  3,  4,  5,  0,  6,  7,  8,  0,  9,  10, 11, 0,
                    20, 21, 22, 16, 23, 24, 25, 16, 26, 27, 28, 16, 29, 30, 31, 16});
  } else if constexpr (D::kLanes == 8) {
    I16x8 bytes{};
    __builtin_memcpy(&bytes, p, 8 * kWidth);
    if constexpr (kWidth == 2) return (Vec<D>)__builtin_ia32_pmovzxwd256(bytes);
    return (Vec<D>)__builtin_ia32_pmovzxbd256((B8x16)bytes);
#if defined(__AVX512F__)
  } else if constexpr (D::kLanes == 16) {
    return (Vec<D>)__builtin_ia32_broadcasti64x4_512(
        (I64x4)Octets<kWidth>(FixedTag<uint32_t, 8>(), p), I64x8{}, static_cast<uint8_t>(-1));
#endif
  }
#endif
  return FromLanes(d, Full(), [=](int l) {
    return static_cast<uint32_t>(EightOf<kWidth>(p + l % 8 * kWidth));
  });
}
// Vector k of the 64 elements: in the low bits of each word; as numbers.
template <int kWidth, class V>
LATHE_INLINE V OctetPlaces(V words, int k) {
  if constexpr (kLanesOf<V> == 8) return words >> (kWidth * k);
  return words >> (k * (kLanesOf<V> / 8) + Iota(FixedTag<uint32_t, kLanesOf<V>>()) / 8) * kWidth;
}
template <int kWidth, bool kSigned, class V>
LATHE_INLINE auto OctetLanes(V words, int k) {
  typedef Vec<FixedTag<int32_t, kLanesOf<V>>> Numbers;
  if constexpr (!kSigned) {
    return (Numbers)(OctetPlaces<kWidth>(words, k) & ((1u << kWidth) - 1));
  } else if constexpr (kLanesOf<V> == 8) {
    return (Numbers)(words << (32 - kWidth - kWidth * k)) >> (32 - kWidth);
  } else {
    return (Numbers)(OctetPlaces<kWidth>(words, k) << (32 - kWidth)) >> (32 - kWidth);
  }
}

// The elements of codes from, from + 1...
template <int kWidth, bool kSigned, class D>
LATHE_INLINE Vec<D> Codes(D d, int from) {
  return WrapLanes<kWidth, kSigned>(Iota(d) + static_cast<TFromD<D>>(from));
}
// What an element becomes, by its place in a table of all: one vector, or two of 8 lanes.
template <class T>
struct TableOfTwo {
  T low, high;
};
template <class T, class V>
LATHE_INLINE T Lookup(T table, V places) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 64) {
    return (T)__builtin_ia32_permvarsf512_mask((F32x16)table, (MaskOf<F32x16>)places,
                                               (F32x16)table, static_cast<uint16_t>(-1));
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(T) == 32) {
    return (T)__builtin_ia32_permvarsf256((F32x8)table, (MaskOf<F32x8>)places);
  }
#endif
  return __builtin_shuffle(table, (MaskOf<T>)places);
}
template <class T, class V>
LATHE_INLINE T Lookup(TableOfTwo<T> table, V places) {
  static_assert(kLanesOf<V> == 8);
  const T low = Lookup(table.low, places), high = Lookup(table.high, places);
  return (MaskOf<T>)(places << 28) < 0 ? high : low;
}

// Of 64 elements in kGroups groups: on the lanes of each group's octets what `of` gives for it.
template <int kGroups, class F>
LATHE_INLINE auto OfGroups(F of, int64_t first) {
  auto v = of(first);
  typedef decltype(v) V;
  const auto octet = Iota(FixedTag<LaneOf<MaskOf<V>>, kLanesOf<V>>()) % 8;
#pragma GCC unroll 4
  for (int g = 1; g < kGroups; ++g) v = octet >= g * (8 / kGroups) ? of(first + g) : v;
  return v;
}

// 64 elements from one order to the other, either way: element e goes to place e rotated by half
// of its six bits. Pairing the halves rotates by one.
template <class V, int kVectors>
LATHE_INLINE void OctetOrder(V (&v)[kVectors]) {
  constexpr int kLanes = kLanesOf<V>;
  const auto low = Iota(FixedTag<LaneOf<MaskOf<V>>, kLanes>()) / 2 +
                   Iota(FixedTag<LaneOf<MaskOf<V>>, kLanes>()) % 2 * kLanes;
#pragma GCC unroll 3
  for (int turn = 0; turn < 3; ++turn) {
    V next[kVectors];
#pragma GCC unroll 8
    for (int k = 0; k < kVectors / 2; ++k) {
      next[2 * k] = __builtin_shuffle(v[k], v[k + kVectors / 2], low);
      next[2 * k + 1] = __builtin_shuffle(v[k], v[k + kVectors / 2], low + kLanes / 2);
    }
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; ++k) v[k] = next[k];
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
