#include "dtypes/checkpoint_layout.h"

#include <algorithm>
#include <vector>

#include "dtypes/base/status.h"
#include "dtypes/dtype.h"
#include "dtypes/packing.h"

namespace lathe {
namespace {

// Exchanging the halves of each byte is its own inverse.
absl::Status Reorder(absl::Span<const uint8_t> from, NibbleOrder order, bool to_packed,
                     int64_t count, absl::Span<uint8_t> to) {
  const std::optional<int64_t> size = ByteSize(DType::kU4, count);
  if (!size.has_value() || static_cast<size_t>(*size) != from.size() || from.size() != to.size()) {
    return InvalidArgument(count, " elements of four bits do not fill buffers of ", from.size(),
                           " and ", to.size(), " bytes");
  }
  const uint8_t* src = from.data();
  uint8_t* dst = to.data();
  if (order == NibbleOrder::kLowFirst) {
    if (dst != src) std::copy(src, src + *size, dst);
  } else {
    for (int64_t i = 0; i < *size; ++i) dst[i] = static_cast<uint8_t>(src[i] << 4 | src[i] >> 4);
  }
  if (count % 2 != 0) {
    const bool last_is_high = order == NibbleOrder::kHighFirst && !to_packed;
    dst[*size - 1] &= last_is_high ? 0xf0 : 0x0f;
  }
  return absl::OkStatus();
}

absl::Status CheckWords(int64_t words, int64_t rows, int64_t columns, const WordLayout& layout,
                        int64_t packed) {
  const bool along_rows = layout.axis == WordLayout::Axis::kRows;
  const int64_t grouped = along_rows ? rows : columns;
  int64_t count = 0;
  if (rows < 0 || columns < 0 || __builtin_mul_overflow(rows, columns, &count)) {
    return InvalidArgument("no matrix has sizes [", rows, ", ", columns, "]");
  }
  if (grouped % 8 != 0) {
    return InvalidArgument("words hold eight elements, and the axis of ",
                           along_rows ? "rows" : "columns", " has ", grouped);
  }
  if (words != count / 8 || packed != count / 2) {
    return InvalidArgument("[", rows, ", ", columns, "] elements of four bits take ", count / 8,
                           " words and ", count / 2, " bytes, not ", words, " and ", packed);
  }
  unsigned seen = 0;
  for (uint8_t k : layout.order) seen |= k < 8 ? 1u << k : 0;
  if (seen != 0xff) return InvalidArgument("the order within a word is not a permutation of 0..7");
  return absl::OkStatus();
}

// A block of words as eight rows of bytes, row k of element order[k]; and back.
void SpreadWords(const int32_t* words, int64_t count, const WordLayout& layout, uint8_t* rows) {
  for (int k = 0; k < 8; ++k) {
    uint8_t* row = rows + layout.order[static_cast<size_t>(k)] * count;
    for (int64_t i = 0; i < count; ++i) {
      row[i] = static_cast<uint8_t>(static_cast<uint32_t>(words[i]) >> (4 * k) & 15);
    }
  }
}
void GatherWords(const uint8_t* rows, int64_t count, const WordLayout& layout, int32_t* words) {
  std::fill(words, words + count, 0);
  for (int k = 0; k < 8; ++k) {
    const uint8_t* row = rows + layout.order[static_cast<size_t>(k)] * count;
    for (int64_t i = 0; i < count; ++i) {
      words[i] = static_cast<int32_t>(static_cast<uint32_t>(words[i]) |
                                      static_cast<uint32_t>(row[i]) << (4 * k));
    }
  }
}

void Transpose(const uint8_t* from, int64_t rows, int64_t columns, uint8_t* to) {
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; ++r) to[c * rows + r] = from[r * columns + c];
  }
}

// Words are taken in blocks that stay in the cache: visit(first word, number of words).
constexpr int64_t kBlock = 1024;
template <typename F>
void ForEachBlock(int64_t words, F&& visit) {
  for (int64_t begin = 0; begin < words; begin += kBlock) {
    visit(begin, std::min(kBlock, words - begin));
  }
}

}  // namespace

absl::Status NibblesToPacked(absl::Span<const uint8_t> nibbles, NibbleOrder order, int64_t count,
                             absl::Span<uint8_t> packed) {
  return Reorder(nibbles, order, /*to_packed=*/true, count, packed);
}

absl::Status PackedToNibbles(absl::Span<const uint8_t> packed, NibbleOrder order, int64_t count,
                             absl::Span<uint8_t> nibbles) {
  return Reorder(packed, order, /*to_packed=*/false, count, nibbles);
}

absl::Status WordsToPacked(absl::Span<const int32_t> words, int64_t rows, int64_t columns,
                           const WordLayout& layout, absl::Span<uint8_t> packed) {
  LATHE_RETURN_IF_ERROR(CheckWords(static_cast<int64_t>(words.size()), rows, columns, layout,
                                   static_cast<int64_t>(packed.size())));
  std::vector<uint8_t> bytes(8 * kBlock), line(8 * kBlock);
  const int64_t count = static_cast<int64_t>(words.size());
  if (layout.axis == WordLayout::Axis::kColumns) {  // eight words' elements follow each other
    ForEachBlock(count, [&](int64_t begin, int64_t n) {
      SpreadWords(words.data() + begin, n, layout, bytes.data());
      Transpose(bytes.data(), 8, n, line.data());
      PackElements(line.data(), packed.data(), DType::kU4, 8 * begin, 8 * n);
    });
    return absl::OkStatus();
  }
  for (int64_t group = 0; group < rows / 8; ++group) {
    ForEachBlock(columns, [&](int64_t begin, int64_t n) {
      SpreadWords(words.data() + group * columns + begin, n, layout, bytes.data());
      for (int64_t k = 0; k < 8; ++k) {
        PackElements(bytes.data() + k * n, packed.data(), DType::kU4,
                     (8 * group + k) * columns + begin, n);
      }
    });
  }
  return absl::OkStatus();
}

absl::Status PackedToWords(absl::Span<const uint8_t> packed, int64_t rows, int64_t columns,
                           const WordLayout& layout, absl::Span<int32_t> words) {
  LATHE_RETURN_IF_ERROR(CheckWords(static_cast<int64_t>(words.size()), rows, columns, layout,
                                   static_cast<int64_t>(packed.size())));
  std::vector<uint8_t> bytes(8 * kBlock), line(8 * kBlock);
  const int64_t count = static_cast<int64_t>(words.size());
  if (layout.axis == WordLayout::Axis::kColumns) {
    ForEachBlock(count, [&](int64_t begin, int64_t n) {
      UnpackElements(packed.data(), DType::kU4, 8 * begin, line.data(), 8 * n);
      Transpose(line.data(), n, 8, bytes.data());
      GatherWords(bytes.data(), n, layout, words.data() + begin);
    });
    return absl::OkStatus();
  }
  for (int64_t group = 0; group < rows / 8; ++group) {
    ForEachBlock(columns, [&](int64_t begin, int64_t n) {
      for (int64_t k = 0; k < 8; ++k) {
        UnpackElements(packed.data(), DType::kU4, (8 * group + k) * columns + begin,
                       bytes.data() + k * n, n);
      }
      GatherWords(bytes.data(), n, layout, words.data() + group * columns + begin);
    });
  }
  return absl::OkStatus();
}

}  // namespace lathe
