// Thirty-two sub-byte elements in registers, once a Highway target: include after
// hwy/foreach_target.h. Not for the scalar target.

#if defined(LATHE_DTYPES_PACKING_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATHE_DTYPES_PACKING_VECTORS_INL_H_
#undef LATHE_DTYPES_PACKING_VECTORS_INL_H_
#else
#define LATHE_DTYPES_PACKING_VECTORS_INL_H_
#endif

#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"

#if HWY_TARGET != HWY_SCALAR
HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace packing_internal {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
// 32 elements at a time, of which each half of 128 bits holds 16: 2 * width bytes.
using Bytes = hn::FixedTag<uint8_t, 32>;
using HalfBytes = hn::FixedTag<uint8_t, 16>;
using Words = hn::FixedTag<uint16_t, 16>;
using SignedWords = hn::FixedTag<int16_t, 16>;
using ByteVector = hn::Vec<Bytes>;

inline ByteVector LoadHalves(const uint8_t* low, const uint8_t* high) {
  const HalfBytes half;
  return hn::Combine(Bytes(), hn::LoadU(half, high), hn::LoadU(half, low));
}

// Where an element's bits are: `bytes` brings the two bytes it touches into a word, and times
// `scale` its top bit is the word's. Even elements and odd ones apart.
struct Places {
  constexpr Places(int shift, int width) {
    for (int e = 0; e < 16; ++e) {
      const int bit = shift + e * width;
      const int lane = e / 2;
      for (int half = 0; half < 2; ++half) {
        bytes[e % 2][16 * half + 2 * lane] = static_cast<uint8_t>(bit / 8);
        bytes[e % 2][16 * half + 2 * lane + 1] = static_cast<uint8_t>(bit / 8 + 1);
        scale[e % 2][8 * half + lane] = static_cast<uint16_t>(1 << (16 - bit % 8 - width));
      }
    }
  }
  alignas(32) uint8_t bytes[2][32] = {};
  alignas(32) uint16_t scale[2][16] = {};
};
template <int kWidth>
inline constexpr Places kPlaces[8] = {{0, kWidth}, {1, kWidth}, {2, kWidth}, {3, kWidth},
                                      {4, kWidth}, {5, kWidth}, {6, kWidth}, {7, kWidth}};

struct UnpackConstants {
  explicit UnpackConstants(const Places& places)
      : even_bytes(hn::Load(Bytes(), places.bytes[0])),
        odd_bytes(hn::Load(Bytes(), places.bytes[1])),
        even_scale(hn::Load(Words(), places.scale[0])),
        odd_scale(hn::Load(Words(), places.scale[1])) {}
  ByteVector even_bytes, odd_bytes;
  hn::Vec<Words> even_scale, odd_scale;
};

template <int kWidth, bool kIsSigned>
inline ByteVector Unpack32(const uint8_t* packed, const UnpackConstants& places) {
  const Words words;
  const SignedWords signed_words;
  const ByteVector both = LoadHalves(packed, packed + 2 * kWidth);
  const auto even =
      hn::Mul(hn::BitCast(words, hn::TableLookupBytes(both, places.even_bytes)), places.even_scale);
  const auto odd =
      hn::Mul(hn::BitCast(words, hn::TableLookupBytes(both, places.odd_bytes)), places.odd_scale);
  if constexpr (kIsSigned) {
    const auto low = hn::ShiftRight<16 - kWidth>(hn::BitCast(signed_words, even));
    const auto high = hn::ShiftRight<16 - kWidth>(hn::BitCast(signed_words, odd));
    return hn::BitCast(Bytes(),
                       hn::Or(hn::And(low, hn::Set(signed_words, 0xff)), hn::ShiftLeft<8>(high)));
  } else {
    const auto low = hn::ShiftRight<16 - kWidth>(even);
    const auto high = hn::ShiftRight<16 - kWidth>(odd);
    return hn::BitCast(Bytes(), hn::Or(low, hn::ShiftLeft<8>(high)));
  }
}

// Neighbours move together: bytes in words, words in double words, those in quadruple words.
template <int kWidth>
inline ByteVector Pack32(ByteVector bytes, ByteVector mask, ByteVector places) {
  const Words d16;
  const hn::FixedTag<uint32_t, 8> d32;
  const hn::FixedTag<uint64_t, 4> d64;
  const auto b = hn::BitCast(d16, hn::And(bytes, mask));
  const auto pairs = hn::BitCast(
      d32, hn::Or(hn::And(b, hn::Set(d16, 0xff)), hn::ShiftLeft<kWidth>(hn::ShiftRight<8>(b))));
  const auto fours = hn::BitCast(d64, hn::Or(hn::And(pairs, hn::Set(d32, 0xffff)),
                                             hn::ShiftLeft<2 * kWidth>(hn::ShiftRight<16>(pairs))));
  const auto eights = hn::Or(hn::And(fours, hn::Set(d64, 0xffffffff)),
                             hn::ShiftLeft<4 * kWidth>(hn::ShiftRight<32>(fours)));
  return hn::TableLookupBytesOr0(hn::BitCast(Bytes(), eights), places);
}

inline void StoreHalves(ByteVector v, uint8_t* low, uint8_t* high) {
  const HalfBytes half;
  hn::StoreU(hn::LowerHalf(half, v), half, low);
  hn::StoreU(hn::UpperHalf(half, v), half, high);
}

// The `width` low bytes of each quadruple word next to each other; 0x80 gives 0.
struct Compaction {
  constexpr explicit Compaction(int width) {
    for (int i = 0; i < 32; ++i) {
      const int k = i % 16;
      bytes[i] = static_cast<uint8_t>(k < width ? k : k < 2 * width ? k - width + 8 : 0x80);
    }
  }
  alignas(32) uint8_t bytes[32] = {};
};

// Calls f with the width as a constant.
template <class F>
inline void WithWidth(int width, F&& f) {
  switch (width) {
    case 1:
      return f(std::integral_constant<int, 1>());
    case 2:
      return f(std::integral_constant<int, 2>());
    case 3:
      return f(std::integral_constant<int, 3>());
    case 4:
      return f(std::integral_constant<int, 4>());
    case 5:
      return f(std::integral_constant<int, 5>());
    case 6:
      return f(std::integral_constant<int, 6>());
    default:
      return f(std::integral_constant<int, 7>());
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace packing_internal
}  // namespace lathe
HWY_AFTER_NAMESPACE();
#endif  // HWY_TARGET != HWY_SCALAR

#endif  // LATHE_DTYPES_PACKING_VECTORS_INL_H_
