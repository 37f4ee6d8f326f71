// Integers of 1 to 7 bits, packed: element k lies at bits [k*w, k*w+w), little-endian in the byte.
namespace hwy {
namespace HWY_NAMESPACE {

template <int kWidth, bool kSigned>
LATHE_INLINE auto WrapBits(uint8_t bits) {
  if constexpr (kSigned) {
    return static_cast<int8_t>(static_cast<int8_t>(bits << (8 - kWidth)) >> (8 - kWidth));
  } else {
    return static_cast<uint8_t>(bits & ((1 << kWidth) - 1));
  }
}
template <int kWidth, bool kSigned>
LATHE_INLINE auto LoadBits(const uint8_t* p, int64_t k) {
  const int64_t bit = k * kWidth;
  const int shift = static_cast<int>(bit & 7);
  unsigned bits = p[bit >> 3];
  if (shift + kWidth > 8) bits |= static_cast<unsigned>(p[(bit >> 3) + 1]) << 8;
  return WrapBits<kWidth, kSigned>(static_cast<uint8_t>(bits >> shift));
}
template <int kWidth>
LATHE_INLINE void StoreBits(uint8_t* p, int64_t k, uint8_t value) {
  const int64_t bit = k * kWidth;
  const int shift = static_cast<int>(bit & 7);
  const unsigned mask = ((1u << kWidth) - 1) << shift;
  const unsigned bits = (static_cast<unsigned>(value) << shift) & mask;
  p[bit >> 3] = static_cast<uint8_t>((p[bit >> 3] & ~mask) | bits);
  if (shift + kWidth > 8) {
    p[(bit >> 3) + 1] = static_cast<uint8_t>((p[(bit >> 3) + 1] & ~(mask >> 8)) | (bits >> 8));
  }
}
template <int kWidth, bool kSigned, class V>
LATHE_INLINE V WrapLanes(V v) {
  if constexpr (kSigned) return (v << (8 - kWidth)) >> (8 - kWidth);
  return v & ((1 << kWidth) - 1);
}

// Eight elements are a whole number of bytes: from a multiple of eight on, groups of eight lanes
// are spread at once, in bytes or in words. Nothing goes through memory: a load of what was just
// stored in parts would wait for it.
template <int kWidth, class D>
inline constexpr bool kSpreads =
#if defined(__BMI2__)
    (sizeof(TFromD<D>) == 1 && D::kLanes % 8 == 0) ||
#endif
#if defined(__AVX512F__)
    (sizeof(TFromD<D>) == 4 && D::kLanes == 16 && kWidth <= 4) ||
#endif
#if defined(__AVX2__)
    (sizeof(TFromD<D>) == 4 && D::kLanes == 8 && kWidth <= 4) ||
#endif
    false;
template <class T>
LATHE_INLINE uint64_t ReadAs(const uint8_t* p) {
  T bits;
  __builtin_memcpy(&bits, p, sizeof bits);
  return bits;
}
// kWidth bytes, no byte past them.
template <int kWidth>
LATHE_INLINE uint64_t EightOf(const uint8_t* p) {
  if constexpr (kWidth >= 4) {
    return ReadAs<uint32_t>(p) | EightOf<kWidth - 4>(p + 4) << 32;
  } else if constexpr (kWidth >= 2) {
    return ReadAs<uint16_t>(p) | EightOf<kWidth - 2>(p + 2) << 16;
  } else if constexpr (kWidth == 1) {
    return *p;
  }
  return 0;
}

#if defined(__BMI2__)
template <int kWidth, int... kGroup>
LATHE_INLINE auto SpreadBytes(const uint8_t* p, Ints<kGroup...>) {
  constexpr uint64_t kEach = 0x0101010101010101u * ((1u << kWidth) - 1);
  typedef uint64_t Groups __attribute__((vector_size(8 * sizeof...(kGroup))));
  return Groups{__builtin_ia32_pdep_di(EightOf<kWidth>(p + kGroup * kWidth), kEach)...};
}
#endif
// Each word of a group holds all of the group's bits.
template <int kWidth, int kLanes>
LATHE_INLINE auto GroupBits(const uint8_t* p) {
  typedef uint32_t Words __attribute__((vector_size(4 * kLanes)));
  if constexpr (kLanes == 8) {
    return static_cast<uint32_t>(EightOf<kWidth>(p)) - Words{};
  } else {
    const uint64_t both =
        kWidth == 4 ? ReadAs<uint64_t>(p) : EightOf<kWidth>(p) | EightOf<kWidth>(p + kWidth) << 32;
    typedef uint64_t Pairs __attribute__((vector_size(4 * kLanes)));
    return __builtin_shuffle((Words)Pairs{both}, Iota(FixedTag<uint32_t, kLanes>()) / 8);
  }
}
template <int kWidth, bool kSigned, class D>
LATHE_INLINE Vec<D> Spread(D, const uint8_t* p) {
  if constexpr (sizeof(TFromD<D>) == 4) {
    const auto words = GroupBits<kWidth, D::kLanes>(p);
    const auto place = Iota(FixedTag<uint32_t, D::kLanes>()) % 8 * kWidth;
    if constexpr (kSigned) return (Vec<D>)(words << (32 - kWidth - place)) >> (32 - kWidth);
    return (Vec<D>)((words >> place) & ((1u << kWidth) - 1));
  }
#if defined(__BMI2__)
  if constexpr (sizeof(TFromD<D>) == 1) {
    return WrapLanes<kWidth, kSigned>(
        (Vec<D>)SpreadBytes<kWidth>(p, Ints<__integer_pack(D::kLanes / 8)...>()));
  }
#endif
  return Vec<D>{};
}

// Elements k, k + 1... in lanes of one byte or more.
template <int kWidth, bool kSigned, class D, class N>
LATHE_INLINE Vec<D> LoadBitsN(D d, const uint8_t* p, int64_t k, N n) {
  if constexpr (N::kFull && kSpreads<kWidth, D>) {
    if (k % 8 == 0) return Spread<kWidth, kSigned>(d, p + static_cast<uint64_t>(k) / 8 * kWidth);
  }
  return FromLanes(d, n, [=](int l) { return LoadBits<kWidth, kSigned>(p, k + l); });
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
