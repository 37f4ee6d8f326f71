#ifndef LATHE_DTYPES_MEMORY_FLOOR_H_
#define LATHE_DTYPES_MEMORY_FLOOR_H_

// For benchmarks: the plain loop that reads and writes as many bytes as a conversion does, and
// nothing else.

#include <cstdint>

namespace lathe {

// Of every `reads` + `writes` vectors of 32 bytes the first are read from `src` and combined, the
// others written to `dst`, through the caches or past them. Buffers start at multiples of 64; one
// of the two numbers is 1, the other 1, 2, 4 or 8.
void ReadAndWrite(const void* src, int reads, void* dst, int writes, int64_t steps, bool streams);

}  // namespace lathe

#endif  // LATHE_DTYPES_MEMORY_FLOOR_H_
