#ifndef LATHE_DTYPES_PACKING_KERNELS_H_
#define LATHE_DTYPES_PACKING_KERNELS_H_

// The vector loops of packing, for the processor at hand. packing.h is the interface.

#include <cstdint>

namespace lathe::packing_internal {

// The first element starts at bit `shift` (0..7) of packed[0].
void Unpack(const uint8_t* packed, int shift, int width, bool is_signed, uint8_t* bytes,
            int64_t count);

// The first element starts at a byte and `count` is a multiple of 8.
void PackGroups(const uint8_t* bytes, int width, uint8_t* packed, int64_t count);

}  // namespace lathe::packing_internal

#endif  // LATHE_DTYPES_PACKING_KERNELS_H_
