#include "dtypes/packing.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "dtypes/base/check.h"
#include "dtypes/base/status.h"
#include "dtypes/packing_kernels.h"
#include "dtypes/sub_byte.h"

namespace lathe {
namespace {

bool Overlap(absl::Span<const uint8_t> a, absl::Span<const uint8_t> b) {
  const std::less<const uint8_t*> before;  // a total order also across objects
  return !a.empty() && !b.empty() && before(a.data(), b.data() + b.size()) &&
         before(b.data(), a.data() + a.size());
}

absl::Status CheckRows(const RowLayout& layout, absl::Span<const uint8_t> storage,
                       absl::Span<const uint8_t> bytes, RowAccess access) {
  if (!IsSubByte(layout.dtype)) {
    return InvalidArgument("packing is for integers of 1 to 7 bits, not ", Name(layout.dtype));
  }
  LATHE_RETURN_IF_ERROR(CheckRowLayout(layout, static_cast<int64_t>(storage.size()), access));
  int64_t count = 0;
  if (__builtin_mul_overflow(layout.rows, layout.columns, &count) ||
      static_cast<size_t>(count) != bytes.size()) {
    return InvalidArgument("unpacked rows [", layout.rows, ", ", layout.columns,
                           "] take a byte an element, not ", bytes.size(), " bytes");
  }
  if (Overlap(storage, bytes)) {
    return InvalidArgument("packed and unpacked elements overlap in memory");
  }
  return absl::OkStatus();
}

}  // namespace

void UnpackElements(const void* packed, DType dtype, int64_t first, void* bytes, int64_t count) {
  LATHE_CHECK(IsSubByte(dtype) && first >= 0) << Name(dtype) << " from " << first;
  if (count <= 0) return;
  const BitPlace place = PlaceOf(BitWidth(dtype), first);
  packing_internal::Unpack(static_cast<const uint8_t*>(packed) + place.byte, place.shift,
                           BitWidth(dtype), IsSigned(dtype), static_cast<uint8_t*>(bytes), count);
}

void PackElements(const void* bytes, void* packed, DType dtype, int64_t first, int64_t count) {
  LATHE_CHECK(IsSubByte(dtype) && first >= 0) << Name(dtype) << " from " << first;
  const int width = BitWidth(dtype);
  const uint8_t* src = static_cast<const uint8_t*>(bytes);
  int64_t k = 0;
  for (; k < count && PlaceOf(width, first + k).shift != 0; ++k) {
    StoreBits(packed, width, first + k, src[k]);
  }
  const int64_t groups = std::max<int64_t>(count - k, 0) / 8 * 8;
  if (groups > 0) {
    packing_internal::PackGroups(
        src + k, width, static_cast<uint8_t*>(packed) + PlaceOf(width, first + k).byte, groups);
    k += groups;
  }
  for (; k < count; ++k) StoreBits(packed, width, first + k, src[k]);
}

int64_t ElementsPerByteBorder(DType dtype) {
  return IsSubByte(dtype) ? 8 / std::gcd(8, BitWidth(dtype)) : 1;
}

int64_t SplitAtByte(DType dtype, int64_t element) {
  return element / ElementsPerByteBorder(dtype) * ElementsPerByteBorder(dtype);
}

int64_t ByteAlignedRowStride(DType dtype, int64_t columns) {
  return SplitAtByte(dtype, columns + ElementsPerByteBorder(dtype) - 1);
}

absl::StatusOr<int64_t> RequiredBytes(const RowLayout& layout) {
  if (layout.rows < 0 || layout.columns < 0 || layout.offset < 0) {
    return InvalidArgument("rows [", layout.rows, ", ", layout.columns, "] from element ",
                           layout.offset, ": a negative number");
  }
  if (layout.rows == 0 || layout.columns == 0) return 0;
  int64_t span = 0, last_row = 0, end = 0;
  const bool overflows =
      __builtin_mul_overflow(layout.rows - 1, layout.row_stride, &span) ||
      __builtin_add_overflow(layout.offset, span, &last_row) ||
      __builtin_add_overflow(std::max(last_row, layout.offset), layout.columns, &end);
  const std::optional<int64_t> size = overflows ? std::nullopt : ByteSize(layout.dtype, end);
  if (!size.has_value()) {
    return InvalidArgument("rows [", layout.rows, ", ", layout.columns, "] of stride ",
                           layout.row_stride, " from element ", layout.offset, " overflow");
  }
  if (last_row < 0) {
    return InvalidArgument("rows of stride ", layout.row_stride, " from element ", layout.offset,
                           " start before the storage");
  }
  return *size;
}

absl::Status CheckRowLayout(const RowLayout& layout, int64_t storage_bytes, RowAccess access) {
  LATHE_ASSIGN_OR_RETURN(const int64_t required, RequiredBytes(layout));
  if (required > storage_bytes) {
    return OutOfRange("rows [", layout.rows, ", ", layout.columns, "] of ", Name(layout.dtype),
                      ", stride ", layout.row_stride, ", from element ", layout.offset, " need ",
                      required, " bytes; the storage has ", storage_bytes);
  }
  const bool overlaps = layout.row_stride > -layout.columns && layout.row_stride < layout.columns;
  if (access == RowAccess::kWrite && layout.rows > 1 && overlaps) {
    return InvalidArgument("rows of ", layout.columns, " elements with stride ", layout.row_stride,
                           " overlap, and cannot be written");
  }
  return absl::OkStatus();
}

absl::Status UnpackRows(absl::Span<const uint8_t> storage, const RowLayout& layout,
                        absl::Span<uint8_t> bytes) {
  LATHE_RETURN_IF_ERROR(CheckRows(layout, storage, bytes, RowAccess::kRead));
  for (int64_t r = 0; r < layout.rows; ++r) {
    UnpackElements(storage.data(), layout.dtype, layout.offset + r * layout.row_stride,
                   bytes.data() + r * layout.columns, layout.columns);
  }
  return absl::OkStatus();
}

absl::Status PackRows(absl::Span<const uint8_t> bytes, const RowLayout& layout,
                      absl::Span<uint8_t> storage) {
  LATHE_RETURN_IF_ERROR(CheckRows(layout, storage, bytes, RowAccess::kWrite));
  for (int64_t r = 0; r < layout.rows; ++r) {
    PackElements(bytes.data() + r * layout.columns, storage.data(), layout.dtype,
                 layout.offset + r * layout.row_stride, layout.columns);
  }
  return absl::OkStatus();
}

}  // namespace lathe
