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

}  // namespace HWY_NAMESPACE
}  // namespace hwy
