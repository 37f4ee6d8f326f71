#include "dtypes/packing_kernels.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dtypes/packing_kernels.cc"
#include "hwy/foreach_target.h"
// After it.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace packing_internal {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

// Eight elements are `width` bytes; with the shift they end within a word.
inline uint64_t LoadWord(const uint8_t* packed, int64_t bytes) {
  uint64_t word = 0;
  if (bytes >= 8) {
    std::memcpy(&word, packed, 8);
  } else {
    std::memcpy(&word, packed, static_cast<size_t>(bytes));
  }
  return word;
}

void UnpackImpl(const uint8_t* packed, int shift, int width, bool is_signed, uint8_t* bytes,
                int64_t count) {
  const uint8_t* end = packed + count / 8 * width + (shift + count % 8 * width + 7) / 8;
  const uint64_t mask = (uint64_t{1} << width) - 1;
  // The sign bit's value, subtracted after it was flipped.
  const uint64_t sign = is_signed ? uint64_t{1} << (width - 1) : 0;
  for (int64_t k = 0; k < count; k += 8, packed += width) {
    const uint64_t word = LoadWord(packed, end - packed) >> shift;
    const int n = static_cast<int>(std::min<int64_t>(8, count - k));
    for (int i = 0; i < n; ++i) {
      bytes[k + i] = static_cast<uint8_t>(((word >> (i * width) & mask) ^ sign) - sign);
    }
  }
}

void PackGroupsImpl(const uint8_t* bytes, int width, uint8_t* packed, int64_t count) {
  const uint64_t mask = (uint64_t{1} << width) - 1;
  for (int64_t k = 0; k < count; k += 8, packed += width) {
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= (bytes[k + i] & mask) << (i * width);
    std::memcpy(packed, &word, static_cast<size_t>(width));
  }
}

#else

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
  Places(int shift, int width) {
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
  alignas(32) uint8_t bytes[2][32];
  alignas(32) uint16_t scale[2][16];
};

struct UnpackConstants {
  explicit UnpackConstants(const Places& places)
      : even_bytes(hn::Load(Bytes(), places.bytes[0])),
        odd_bytes(hn::Load(Bytes(), places.bytes[1])),
        even_scale(hn::Load(Words(), places.scale[0])),
        odd_scale(hn::Load(Words(), places.scale[1])) {}
  ByteVector even_bytes, odd_bytes;
  hn::Vec<Words> even_scale, odd_scale;
};

template <bool kIsSigned>
inline ByteVector Unpack32(const uint8_t* packed, int width, const UnpackConstants& places) {
  const Words words;
  const SignedWords signed_words;
  const ByteVector both = LoadHalves(packed, packed + 2 * width);
  const auto even =
      hn::Mul(hn::BitCast(words, hn::TableLookupBytes(both, places.even_bytes)), places.even_scale);
  const auto odd =
      hn::Mul(hn::BitCast(words, hn::TableLookupBytes(both, places.odd_bytes)), places.odd_scale);
  if (!kIsSigned) {
    const auto low = hn::ShiftRightSame(even, 16 - width);
    return hn::BitCast(Bytes(), hn::Or(low, hn::ShiftLeft<8>(hn::ShiftRightSame(odd, 16 - width))));
  }
  const auto low = hn::ShiftRightSame(hn::BitCast(signed_words, even), 16 - width);
  const auto high = hn::ShiftRightSame(hn::BitCast(signed_words, odd), 16 - width);
  return hn::BitCast(Bytes(),
                     hn::Or(hn::And(low, hn::Set(signed_words, 0xff)), hn::ShiftLeft<8>(high)));
}

template <bool kIsSigned>
void UnpackSigned(const uint8_t* packed, int shift, int width, uint8_t* bytes, int64_t count) {
  const Places table(shift, width);
  const UnpackConstants places(table);
  const Bytes d;
  const uint8_t* end = packed + count / 8 * width + (shift + count % 8 * width + 7) / 8;
  while (count >= 32 && end - packed >= 2 * width + 16) {
    hn::StoreU(Unpack32<kIsSigned>(packed, width, places), d, bytes);
    packed += 4 * width;
    bytes += 32;
    count -= 32;
  }
  if (count == 0) return;
  // Fewer than 34 bytes, at most 151 elements: loads past the end stay in a copy.
  uint8_t rest[96] = {};
  uint8_t unpacked[160];
  std::memcpy(rest, packed, static_cast<size_t>(end - packed));
  for (int64_t k = 0; k < count; k += 32) {
    hn::StoreU(Unpack32<kIsSigned>(rest + k / 8 * width, width, places), d, unpacked + k);
  }
  std::memcpy(bytes, unpacked, static_cast<size_t>(count));
}

void UnpackImpl(const uint8_t* packed, int shift, int width, bool is_signed, uint8_t* bytes,
                int64_t count) {
  if (is_signed) return UnpackSigned<true>(packed, shift, width, bytes, count);
  UnpackSigned<false>(packed, shift, width, bytes, count);
}

// Neighbours move together: bytes in words, words in double words, those in quadruple words.
inline ByteVector Pack32(ByteVector bytes, int width, ByteVector mask, ByteVector places) {
  const Words d16;
  const hn::FixedTag<uint32_t, 8> d32;
  const hn::FixedTag<uint64_t, 4> d64;
  const auto b = hn::BitCast(d16, hn::And(bytes, mask));
  const auto pairs = hn::BitCast(
      d32, hn::Or(hn::And(b, hn::Set(d16, 0xff)), hn::ShiftLeftSame(hn::ShiftRight<8>(b), width)));
  const auto fours =
      hn::BitCast(d64, hn::Or(hn::And(pairs, hn::Set(d32, 0xffff)),
                              hn::ShiftLeftSame(hn::ShiftRight<16>(pairs), 2 * width)));
  const auto eights = hn::Or(hn::And(fours, hn::Set(d64, 0xffffffff)),
                             hn::ShiftLeftSame(hn::ShiftRight<32>(fours), 4 * width));
  return hn::TableLookupBytesOr0(hn::BitCast(Bytes(), eights), places);
}

inline void StoreHalves(ByteVector v, uint8_t* low, uint8_t* high) {
  const HalfBytes half;
  hn::StoreU(hn::LowerHalf(half, v), half, low);
  hn::StoreU(hn::UpperHalf(half, v), half, high);
}

void PackGroupsImpl(const uint8_t* bytes, int width, uint8_t* packed, int64_t count) {
  const Bytes d;
  alignas(32) uint8_t table[32];
  for (int i = 0; i < 32; ++i) {
    const int k = i % 16;
    table[i] = static_cast<uint8_t>(k < width ? k : k < 2 * width ? k - width + 8 : 0x80);
  }
  const ByteVector places = hn::Load(d, table);
  const ByteVector mask = hn::Set(d, static_cast<uint8_t>((1 << width) - 1));
  uint8_t* const end = packed + count / 8 * width;
  while (count >= 32 && end - packed >= 2 * width + 16) {
    const ByteVector v = Pack32(hn::LoadU(d, bytes), width, mask, places);
    StoreHalves(v, packed, packed + 2 * width);
    packed += 4 * width;
    bytes += 32;
    count -= 32;
  }
  uint8_t rest[32], last[64];
  for (; count > 0; count -= 32, bytes += 32, packed += 4 * width) {
    const size_t n = static_cast<size_t>(std::min<int64_t>(count, 32));
    std::memcpy(rest, bytes, n);
    std::memset(rest + n, 0, 32 - n);
    StoreHalves(Pack32(hn::LoadU(d, rest), width, mask, places), last, last + 2 * width);
    std::memcpy(packed, last, n / 8 * static_cast<size_t>(width));
  }
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace packing_internal
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::packing_internal {
HWY_EXPORT(UnpackImpl);
HWY_EXPORT(PackGroupsImpl);
void Unpack(const uint8_t* packed, int shift, int width, bool is_signed, uint8_t* bytes,
            int64_t count) {
  HWY_DYNAMIC_DISPATCH(UnpackImpl)(packed, shift, width, is_signed, bytes, count);
}
void PackGroups(const uint8_t* bytes, int width, uint8_t* packed, int64_t count) {
  HWY_DYNAMIC_DISPATCH(PackGroupsImpl)(bytes, width, packed, count);
}
}  // namespace lathe::packing_internal
#endif
