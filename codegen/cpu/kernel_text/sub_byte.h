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
// are spread at once, in bytes or in words.
template <int kWidth, bool kSigned, class D>
inline constexpr bool kSpreads =
#if defined(__BMI2__)
    (sizeof(TFromD<D>) == 1 && D::kLanes % 8 == 0) ||
#endif
#if defined(__AVX2__)
    (sizeof(TFromD<D>) == 4 && D::kLanes % 8 == 0 && kWidth <= 4) ||
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
template <int kWidth, bool kSigned, class D>
LATHE_INLINE Vec<D> Spread(D, const uint8_t* p) {
  Vec<D> v;
  if constexpr (sizeof(TFromD<D>) == 4) {
    typedef uint32_t Words __attribute__((vector_size(sizeof(Vec<D>))));
    typedef uint32_t Eight __attribute__((vector_size(32)));
    Eight groups[D::kLanes / 8];
    for (int g = 0; g < D::kLanes / 8; ++g) {
      groups[g] = static_cast<uint32_t>(EightOf<kWidth>(p + g * kWidth)) - Eight{};
    }
    Words words;
    __builtin_memcpy(&words, groups, sizeof words);
    const Words place = Iota(FixedTag<uint32_t, D::kLanes>()) % 8 * kWidth;
    if constexpr (kSigned) {
      v = (Vec<D>)(words << (32 - kWidth - place)) >> (32 - kWidth);
    } else {
      v = (Vec<D>)((words >> place) & ((1u << kWidth) - 1));
    }
  } else {
#if defined(__BMI2__)
    constexpr uint64_t kEach = 0x0101010101010101u * ((1u << kWidth) - 1);
    uint64_t groups[D::kLanes / 8];
    for (int g = 0; g < D::kLanes / 8; ++g) {
      groups[g] = __builtin_ia32_pdep_di(EightOf<kWidth>(p + g * kWidth), kEach);
    }
    __builtin_memcpy(&v, groups, sizeof v);
    if constexpr (kSigned) v = WrapLanes<kWidth, true>(v);
#endif
  }
  return v;
}

// Elements k, k + 1... in lanes of one byte or more.
template <int kWidth, bool kSigned, class D, class N>
LATHE_INLINE Vec<D> LoadBitsN(D d, const uint8_t* p, int64_t k, N n) {
  if constexpr (N::kFull && kSpreads<kWidth, kSigned, D>) {
    if (k % 8 == 0) return Spread<kWidth, kSigned>(d, p + static_cast<uint64_t>(k) / 8 * kWidth);
  }
  return FromLanes(d, n, [=](int l) { return LoadBits<kWidth, kSigned>(p, k + l); });
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
