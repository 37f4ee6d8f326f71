#ifndef LATHE_DTYPES_SUB_BYTE_H_
#define LATHE_DTYPES_SUB_BYTE_H_

// Elements of 1 to 7 bits: element k lies at bits [k*w, k*w+w), little-endian within the byte
// (design §3), so it may cross into the next byte.
//
//   StoreBits(data, /*width=*/3, k, 5);  LoadBits(data, 3, k) == 5

#include <cstdint>

namespace lathe {

struct BitPlace {
  int64_t byte;
  int shift;
};

// Eight elements fill `width` whole bytes; k * width itself could overflow.
constexpr BitPlace PlaceOf(int width, int64_t k) {
  const int bits = static_cast<int>(k % 8) * width;
  return {k / 8 * width + bits / 8, bits % 8};
}

// The element's bits, zero-extended. Reads no byte that the element does not touch.
inline uint32_t LoadBits(const void* data, int width, int64_t k) {
  const BitPlace place = PlaceOf(width, k);
  const uint8_t* bytes = static_cast<const uint8_t*>(data) + place.byte;
  uint32_t word = bytes[0];
  if (place.shift + width > 8) word |= static_cast<uint32_t>(bytes[1]) << 8;
  return (word >> place.shift) & ((1u << width) - 1);
}

// Stores the low `width` bits of `value`; the neighbours' bits stay.
inline void StoreBits(void* data, int width, int64_t k, uint32_t value) {
  const BitPlace place = PlaceOf(width, k);
  uint8_t* bytes = static_cast<uint8_t*>(data) + place.byte;
  const uint32_t mask = ((1u << width) - 1) << place.shift;
  const uint32_t bits = (value << place.shift) & mask;
  bytes[0] = static_cast<uint8_t>((bytes[0] & ~mask) | bits);
  if (mask > 0xff) bytes[1] = static_cast<uint8_t>((bytes[1] & ~(mask >> 8)) | bits >> 8);
}

}  // namespace lathe

#endif  // LATHE_DTYPES_SUB_BYTE_H_
