#include "dtypes/packing_kernels.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dtypes/packing_kernels.cc"
#include "hwy/foreach_target.h"
// After it.
#include "dtypes/packing_vectors-inl.h"
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

template <int kWidth, bool kIsSigned>
void UnpackWidth(const uint8_t* packed, int shift, uint8_t* bytes, int64_t count) {
  const UnpackConstants places(kPlaces<kWidth>[shift]);
  const Bytes d;
  const uint8_t* end = packed + count / 8 * kWidth + (shift + count % 8 * kWidth + 7) / 8;
  while (count >= 32 && end - packed >= 2 * kWidth + 16) {
    hn::StoreU(Unpack32<kWidth, kIsSigned>(packed, places), d, bytes);
    packed += 4 * kWidth;
    bytes += 32;
    count -= 32;
  }
  if (count == 0) return;
  // Fewer than 34 bytes, at most 151 elements: loads past the end stay in a copy.
  uint8_t rest[96] = {};
  uint8_t unpacked[160];
  std::memcpy(rest, packed, static_cast<size_t>(end - packed));
  for (int64_t k = 0; k < count; k += 32) {
    hn::StoreU(Unpack32<kWidth, kIsSigned>(rest + k / 8 * kWidth, places), d, unpacked + k);
  }
  std::memcpy(bytes, unpacked, static_cast<size_t>(count));
}

void UnpackImpl(const uint8_t* packed, int shift, int width, bool is_signed, uint8_t* bytes,
                int64_t count) {
  WithWidth(width, [=](auto constant) {
    constexpr int kWidth = decltype(constant)::value;
    if (is_signed) return UnpackWidth<kWidth, true>(packed, shift, bytes, count);
    UnpackWidth<kWidth, false>(packed, shift, bytes, count);
  });
}

template <int kWidth>
void PackWidth(const uint8_t* bytes, uint8_t* packed, int64_t count) {
  const Bytes d;
  static constexpr Compaction kCompaction(kWidth);
  const ByteVector places = hn::Load(d, kCompaction.bytes);
  const ByteVector mask = hn::Set(d, static_cast<uint8_t>((1 << kWidth) - 1));
  uint8_t* const end = packed + count / 8 * kWidth;
  while (count >= 32 && end - packed >= 2 * kWidth + 16) {
    const ByteVector v = Pack32<kWidth>(hn::LoadU(d, bytes), mask, places);
    StoreHalves(v, packed, packed + 2 * kWidth);
    packed += 4 * kWidth;
    bytes += 32;
    count -= 32;
  }
  alignas(32) uint8_t rest[32], last[64];
  for (; count > 0; count -= 32, bytes += 32, packed += 4 * kWidth) {
    const size_t n = static_cast<size_t>(std::min<int64_t>(count, 32));
    std::memcpy(rest, bytes, n);
    std::memset(rest + n, 0, 32 - n);
    StoreHalves(Pack32<kWidth>(hn::LoadU(d, rest), mask, places), last, last + 2 * kWidth);
    std::memcpy(packed, last, n / 8 * static_cast<size_t>(kWidth));
  }
}

void PackGroupsImpl(const uint8_t* bytes, int width, uint8_t* packed, int64_t count) {
  WithWidth(width,
            [=](auto constant) { PackWidth<decltype(constant)::value>(bytes, packed, count); });
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
