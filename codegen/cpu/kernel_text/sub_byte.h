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

// Elements k, k + 1... in lanes. Eight elements are a whole number of bytes: from a multiple of eight
// on, one instruction spreads each group.
template <int kWidth, bool kSigned, class D, class N>
LATHE_INLINE Vec<D> LoadBitsN(D d, const uint8_t* p, int64_t k, N n) {
#if defined(__BMI2__)
  if constexpr (N::kFull && D::kLanes % 8 == 0) {
    if (k % 8 == 0) {
      constexpr uint64_t kEach = 0x0101010101010101u * ((1u << kWidth) - 1);
      uint64_t groups[D::kLanes / 8];
      for (int g = 0; g < D::kLanes / 8; ++g) {
        uint64_t bits = 0;
        __builtin_memcpy(&bits, p + (k / 8 + g) * kWidth, kWidth);
        groups[g] = __builtin_ia32_pdep_di(bits, kEach);
      }
      Vec<D> v;
      __builtin_memcpy(&v, groups, sizeof v);
      if constexpr (kSigned) v = WrapLanes<kWidth, true>(v);
      return v;
    }
  }
#endif
  return FromLanes(d, n, [=](int l) { return LoadBits<kWidth, kSigned>(p, k + l); });
}

}  // namespace HWY_NAMESPACE
}  // namespace hwy
