#ifndef LATHE_DTYPES_CONVERT_TESTING_H_
#define LATHE_DTYPES_CONVERT_TESTING_H_

// For tests of convert.h.

#include <cstdint>

namespace lathe {

inline constexpr int64_t kDefaultStreamedBytes = int64_t{16} << 20;

// Results of so many bytes and more are written past the caches. Not while others convert.
void SetStreamedBytesForTest(int64_t bytes);

}  // namespace lathe

#endif  // LATHE_DTYPES_CONVERT_TESTING_H_
