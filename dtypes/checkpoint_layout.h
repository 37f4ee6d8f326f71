#ifndef LATHE_DTYPES_CHECKPOINT_LAYOUT_H_
#define LATHE_DTYPES_CHECKPOINT_LAYOUT_H_

// Four-bit weights as checkpoints store them, from and to lathe's own packing (dense u4 or i4: the
// bits are the same).
//
//   NibblesToPacked(bytes, NibbleOrder::kHighFirst, count, packed);
//   WordsToPacked(qweight, /*rows=*/4096, /*columns=*/11008, kWordsAlongRows, packed);
//
// All errors are InvalidArgument, and nothing is written then.

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace lathe {

// Two elements a byte: the first one in the low four bits (lathe's own order) or in the high ones.
enum class NibbleOrder : uint8_t { kLowFirst, kHighFirst };

// Both buffers have ceil(count / 2) bytes and may be the same one. The half of the last byte that
// holds no element is written as 0.
absl::Status NibblesToPacked(absl::Span<const uint8_t> nibbles, NibbleOrder order, int64_t count,
                             absl::Span<uint8_t> packed);
absl::Status PackedToNibbles(absl::Span<const uint8_t> packed, NibbleOrder order, int64_t count,
                             absl::Span<uint8_t> nibbles);

// A matrix [rows, columns] in words of eight: a word holds eight neighbours along one axis, bits
// [4k, 4k+4) the one of number order[k].
struct WordLayout {
  enum class Axis : uint8_t { kRows, kColumns };
  Axis axis;
  std::array<uint8_t, 8> order = {0, 1, 2, 3, 4, 5, 6, 7};
};
// Words [rows / 8, columns], as GPTQ checkpoints have them (their rows are input features).
inline constexpr WordLayout kWordsAlongRows = {WordLayout::Axis::kRows};
// Words [rows, columns / 8] of neighbours in order.
inline constexpr WordLayout kWordsAlongColumns = {WordLayout::Axis::kColumns};
// Words [rows, columns / 8] of even elements first, as AWQ checkpoints have them.
inline constexpr WordLayout kWordsEvenFirst = {WordLayout::Axis::kColumns,
                                               {0, 2, 4, 6, 1, 3, 5, 7}};

// `packed` is [rows, columns], dense: ceil(rows * columns / 2) bytes. The size along the words'
// axis is a multiple of 8, and `order` a permutation.
absl::Status WordsToPacked(absl::Span<const int32_t> words, int64_t rows, int64_t columns,
                           const WordLayout& layout, absl::Span<uint8_t> packed);
absl::Status PackedToWords(absl::Span<const uint8_t> packed, int64_t rows, int64_t columns,
                           const WordLayout& layout, absl::Span<int32_t> words);

}  // namespace lathe

#endif  // LATHE_DTYPES_CHECKPOINT_LAYOUT_H_
