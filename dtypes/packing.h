#ifndef LATHE_DTYPES_PACKING_H_
#define LATHE_DTYPES_PACKING_H_

// Sub-byte elements in bulk. Element k of a storage lies at bits [k*w, k*w+w), little-endian within
// the byte (sub_byte.h has one element at a time). Unpacked, an element is a byte: its value,
// extended by sign or zero, as u8 and i8 hold it.
//
//   uint8_t bytes[512];
//   UnpackElements(packed, DType::kU3, /*first=*/37, bytes, 512);      // vector code
//   PackElements(bytes, packed, DType::kU3, /*first=*/37, 512);        // neighbours' bits stay
//   PackRows(bytes, {.dtype = DType::kI4, .rows = 8, .columns = 5, .row_stride = 6}, storage)
//
// Two writers must not share a byte: SplitAtByte moves a border to where they do not.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "dtypes/dtype.h"

namespace lathe {

// bytes[k] = element first + k of the sub-byte `dtype`, for k in [0, count). Reads no byte of
// `packed` that these elements do not touch. The two buffers do not overlap; first >= 0.
void UnpackElements(const void* packed, DType dtype, int64_t first, void* bytes, int64_t count);

// Element first + k = the low bits of bytes[k]. Bits of other elements stay, but the first and the
// last byte are read and written whole.
void PackElements(const void* bytes, void* packed, DType dtype, int64_t first, int64_t count);

// Elements from one byte border to the next: 8 / gcd(8, w), 1 for dtypes of whole bytes.
int64_t ElementsPerByteBorder(DType dtype);

// The last element not past `element` that starts at a byte: where the ranges of two writers to one
// storage may meet. Elements are counted from the storage's start.
int64_t SplitAtByte(DType dtype, int64_t element);

// `columns` rounded up such that each row starts at a byte.
int64_t ByteAlignedRowStride(DType dtype, int64_t columns);

// Rows in a storage: element (r, c) is number offset + r * row_stride + c. Strides and offsets
// count elements, of every dtype.
struct RowLayout {
  DType dtype;
  int64_t rows = 1;
  int64_t columns = 0;
  int64_t row_stride = 0;
  int64_t offset = 0;
};

// Bytes from the storage's start to the end of the last element. InvalidArgument for negative
// sizes or offsets, an element before the storage's start, and numbers that overflow 64 bits.
absl::StatusOr<int64_t> RequiredBytes(const RowLayout& layout);

// OK if the layout's elements lie in a storage of that size: OutOfRange otherwise, or what
// RequiredBytes says. A storage to be written (kWrite) must also hold each element once:
// InvalidArgument for rows that overlap.
enum class RowAccess : uint8_t { kRead, kWrite };
absl::Status CheckRowLayout(const RowLayout& layout, int64_t storage_bytes, RowAccess access);

// Between a sub-byte storage and rows * columns bytes, row after row. Errors: the layout's, a
// dtype of whole bytes, a number of bytes other than rows * columns, buffers that overlap.
// Nothing is written then.
absl::Status UnpackRows(absl::Span<const uint8_t> storage, const RowLayout& layout,
                        absl::Span<uint8_t> bytes);
absl::Status PackRows(absl::Span<const uint8_t> bytes, const RowLayout& layout,
                      absl::Span<uint8_t> storage);

}  // namespace lathe

#endif  // LATHE_DTYPES_PACKING_H_
