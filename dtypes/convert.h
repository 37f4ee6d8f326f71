#ifndef LATHE_DTYPES_CONVERT_H_
#define LATHE_DTYPES_CONVERT_H_

// Conversion between all dtypes, of one number and of whole buffers, for the case that a number
// does not fit. Vector code; the bits do not depend on the vectors' width or on where a buffer
// ends.
//
//   ConvertAs(300.7, DType::kU8, ConvertMode::kWrap)      -> 44
//   ConvertAs(300.7, DType::kU8, ConvertMode::kSaturate)  -> 255
//   ConvertAs(300.7, DType::kU8, ConvertMode::kChecked)   -> OutOfRange: 300.7 does not fit u8
//   ConvertBuffer(weights, DType::kU4, /*first=*/5, floats, DType::kF32, /*first=*/0, count);
//
// Rounding is no misfit: a float that becomes an integer is cut off, floats round to nearest even,
// in all modes. What does not fit:
//   an integer type   a number whose whole part is outside its range; NaN
//   a float type      a number that would overflow; an infinity where the type has none;
//                     below 2^-127 for f8e8m0fnu
//   bool              anything but 0 and 1
//   a real type       a complex number with an imaginary part other than 0
// kWrap then does what Convert does (scalar.h, design §6), kChecked is an error. kSaturate takes
// the nearest number of the type: the end of the range, the real part; NaN gives 0, and bool is
// whether the number differs from 0. Infinities stay where the type has them.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dtypes/dtype.h"
#include "dtypes/packing.h"
#include "dtypes/scalar.h"

namespace lathe {

enum class ConvertMode : uint8_t { kWrap, kSaturate, kChecked };

// InvalidArgument for f4e2m1fn_x2, whose element is a pair.
absl::StatusOr<Scalar> ConvertAs(const Scalar& value, DType dtype, ConvertMode mode);

// Element to_first + k = element from_first + k converted, for k in [0, count). Needs no alignment.
// Other elements stay; of a sub-byte target, the first and the last byte are read and written
// whole. Equal dtypes but bool are copied bit for bit, NaN payloads included.
// InvalidArgument for negative numbers, f4e2m1fn_x2 unless both are, and buffers that overlap.
// kChecked: OutOfRange that names the first element that does not fit; the elements before its
// block of some thousands are converted then.
absl::Status ConvertBuffer(const void* from, DType from_dtype, int64_t from_first, void* to,
                           DType to_dtype, int64_t to_first, int64_t count,
                           ConvertMode mode = ConvertMode::kWrap);

// The same row by row. The layouts have equal rows and columns, and the storages hold them
// (CheckRowLayout): otherwise nothing is written.
absl::Status ConvertRows(absl::Span<const uint8_t> from, const RowLayout& from_layout,
                         absl::Span<uint8_t> to, const RowLayout& to_layout,
                         ConvertMode mode = ConvertMode::kWrap);

}  // namespace lathe

#endif  // LATHE_DTYPES_CONVERT_H_
