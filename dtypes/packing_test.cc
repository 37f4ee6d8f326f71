#include "dtypes/packing.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "dtypes/checkpoint_layout.h"
#include "dtypes/dtype.h"
#include "dtypes/guarded_buffer.h"
#include "dtypes/sub_byte.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Bytes = std::vector<uint8_t>;

std::vector<DType> SubBytes() {
  std::vector<DType> result;
  for (DType dtype : AllDTypes()) {
    if (IsSubByte(dtype)) result.push_back(dtype);
  }
  return result;
}

Bytes RandomBytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

size_t SizeOf(DType dtype, int64_t count) { return static_cast<size_t>(*ByteSize(dtype, count)); }

// One element at a time, by the definition.
uint8_t Extended(DType dtype, uint32_t bits) {
  const bool negative = IsSigned(dtype) && bits >> (BitWidth(dtype) - 1) != 0;
  return static_cast<uint8_t>(negative ? bits - (1u << BitWidth(dtype)) : bits);
}
Bytes UnpackSlowly(const uint8_t* packed, DType dtype, int64_t first, int64_t count) {
  Bytes bytes;
  for (int64_t k = 0; k < count; ++k) {
    bytes.push_back(Extended(dtype, LoadBits(packed, BitWidth(dtype), first + k)));
  }
  return bytes;
}

// Calls `test` once for each vector width that this processor has.
template <typename F>
void OnEveryTarget(F&& test) {
  const int64_t supported = hwy::SupportedTargets();
  for (int64_t rest = supported; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    SCOPED_TRACE(hwy::TargetName(rest & -rest));
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
}

void ExpectUnpacks(DType dtype, int64_t first, int64_t count) {
  const size_t size = SizeOf(dtype, first + count);
  GuardedBuffer packed(size);
  const Bytes random = RandomBytes(size, static_cast<uint32_t>(first * 1000 + count));
  std::copy(random.begin(), random.end(), packed.data());
  GuardedBuffer bytes(static_cast<size_t>(count));
  UnpackElements(packed.data(), dtype, first, bytes.data(), count);
  ASSERT_EQ(Bytes(bytes.data(), bytes.data() + count),
            UnpackSlowly(packed.data(), dtype, first, count))
      << Name(dtype) << " " << count << " from " << first;
}

void ExpectPacks(DType dtype, int64_t first, int64_t count) {
  const size_t size = SizeOf(dtype, first + count);
  GuardedBuffer packed(size), bytes(static_cast<size_t>(count));
  const Bytes before = RandomBytes(size, static_cast<uint32_t>(first * 1000 + count));
  std::copy(before.begin(), before.end(), packed.data());
  const Bytes values = RandomBytes(static_cast<size_t>(count), 7);
  std::copy(values.begin(), values.end(), bytes.data());
  PackElements(bytes.data(), packed.data(), dtype, first, count);
  Bytes expected = before;
  for (int64_t k = 0; k < count; ++k) {
    StoreBits(expected.data(), BitWidth(dtype), first + k, values[static_cast<size_t>(k)]);
  }
  ASSERT_EQ(Bytes(packed.data(), packed.data() + size), expected)
      << Name(dtype) << " " << count << " from " << first;
}

TEST(Packing, EveryLengthAndOffset) {
  OnEveryTarget([] {
    for (DType dtype : SubBytes()) {
      for (int64_t count = 0; count <= 130; ++count) {
        const int64_t first = count % 11;
        ASSERT_NO_FATAL_FAILURE(ExpectUnpacks(dtype, first, count));
        ASSERT_NO_FATAL_FAILURE(ExpectPacks(dtype, first, count));
      }
      for (int64_t first = 0; first <= 40; ++first) {
        for (int64_t count : {1, 31, 65, 1029}) {
          ASSERT_NO_FATAL_FAILURE(ExpectUnpacks(dtype, first, count));
          ASSERT_NO_FATAL_FAILURE(ExpectPacks(dtype, first, count));
        }
      }
    }
  });
}

TEST(Packing, RowsOfAnyStrideAndOffset) {
  std::mt19937 random(5);
  for (DType dtype : SubBytes()) {
    for (int trial = 0; trial < 60; ++trial) {
      RowLayout layout{.dtype = dtype};
      layout.rows = random() % 6;
      layout.columns = random() % 90;
      layout.row_stride = layout.columns + random() % 9;
      layout.offset = random() % 20;
      if (random() % 4 == 0 && layout.rows > 0) {  // from the last row to the first
        layout.offset += (layout.rows - 1) * layout.row_stride;
        layout.row_stride = -layout.row_stride;
      }
      const size_t needed = static_cast<size_t>(*RequiredBytes(layout));
      Bytes storage = RandomBytes(needed + random() % 3, 6);
      const Bytes values = RandomBytes(static_cast<size_t>(layout.rows * layout.columns), 7);
      Bytes expected = storage;
      for (int64_t r = 0; r < layout.rows; ++r) {
        for (int64_t c = 0; c < layout.columns; ++c) {
          StoreBits(expected.data(), BitWidth(dtype), layout.offset + r * layout.row_stride + c,
                    values[static_cast<size_t>(r * layout.columns + c)]);
        }
      }
      ASSERT_TRUE(PackRows(values, layout, absl::MakeSpan(storage)).ok());
      ASSERT_EQ(storage, expected) << Name(dtype);
      Bytes unpacked(values.size());
      ASSERT_TRUE(UnpackRows(storage, layout, absl::MakeSpan(unpacked)).ok());
      for (size_t k = 0; k < values.size(); ++k) {
        ASSERT_EQ(unpacked[k], Extended(dtype, values[k] & ((1u << BitWidth(dtype)) - 1)));
      }
    }
  }
}

TEST(Packing, RowsMayBeReadAgainAndAgain) {
  const Bytes storage = {0x21, 0x43};
  Bytes bytes(6);
  ASSERT_TRUE(
      UnpackRows(storage,
                 {.dtype = DType::kU4, .rows = 3, .columns = 2, .row_stride = 0, .offset = 1},
                 absl::MakeSpan(bytes))
          .ok());
  EXPECT_THAT(bytes, ElementsAre(2, 3, 2, 3, 2, 3));
}

TEST(Packing, ErrorsNameWhatDoesNotFit) {
  Bytes storage(8), bytes(12);
  const auto pack = [&](const RowLayout& layout) {
    return PackRows(bytes, layout, absl::MakeSpan(storage));
  };
  const auto message = [&](const RowLayout& layout, absl::StatusCode code) {
    const absl::Status status = pack(layout);
    EXPECT_EQ(status.code(), code) << status;
    return std::string(status.message());
  };
  constexpr auto kBad = absl::StatusCode::kInvalidArgument;
  constexpr auto kOut = absl::StatusCode::kOutOfRange;
  EXPECT_TRUE(pack({.dtype = DType::kU5, .rows = 3, .columns = 4, .row_stride = 4}).ok());
  EXPECT_EQ(
      message({.dtype = DType::kU5, .rows = 3, .columns = 4, .row_stride = 4, .offset = 1}, kOut),
      "rows [3, 4] of u5, stride 4, from element 1 need 9 bytes; the storage has 8");
  EXPECT_THAT(message({.dtype = DType::kU8, .rows = 3, .columns = 4, .row_stride = 4}, kBad),
              HasSubstr("1 to 7 bits, not u8"));
  EXPECT_THAT(message({.dtype = DType::kU2, .rows = 3, .columns = 4, .row_stride = 3}, kBad),
              HasSubstr("overlap, and cannot be written"));
  EXPECT_THAT(message({.dtype = DType::kU2, .rows = 3, .columns = 4, .row_stride = 0}, kBad),
              HasSubstr("overlap"));
  EXPECT_THAT(message({.dtype = DType::kU2, .rows = 3, .columns = 4, .row_stride = -4}, kBad),
              HasSubstr("before the storage"));
  EXPECT_THAT(message({.dtype = DType::kU2, .rows = 2, .columns = 4, .row_stride = 4}, kBad),
              HasSubstr("not 12 bytes"));
  EXPECT_THAT(message({.dtype = DType::kU2, .rows = -1, .columns = -12}, kBad),
              HasSubstr("negative"));
  EXPECT_THAT(message({.dtype = DType::kU2, .columns = 12, .offset = -1}, kBad),
              HasSubstr("negative"));
  EXPECT_THAT(message({.dtype = DType::kU2,
                       .rows = int64_t{1} << 40,
                       .columns = 1,
                       .row_stride = int64_t{1} << 40},
                      kBad),
              HasSubstr("overflow"));
  EXPECT_THAT(std::string(PackRows(absl::MakeSpan(storage).subspan(0, 4),
                                   {.dtype = DType::kU2, .columns = 4}, absl::MakeSpan(storage))
                              .message()),
              HasSubstr("overlap in memory"));
}

TEST(Packing, BordersOfBytes) {
  EXPECT_EQ(ElementsPerByteBorder(DType::kU3), 8);
  EXPECT_EQ(ElementsPerByteBorder(DType::kI6), 4);
  EXPECT_EQ(ElementsPerByteBorder(DType::kU4), 2);
  EXPECT_EQ(ElementsPerByteBorder(DType::kF32), 1);
  EXPECT_EQ(ByteAlignedRowStride(DType::kU3, 9), 16);
  EXPECT_EQ(ByteAlignedRowStride(DType::kU6, 9), 12);
  EXPECT_EQ(ByteAlignedRowStride(DType::kI4, 8), 8);
  EXPECT_EQ(SplitAtByte(DType::kU3, 17), 16);
  for (DType dtype : SubBytes()) {
    for (int64_t k = 0; k < 40; ++k) {
      EXPECT_EQ(PlaceOf(BitWidth(dtype), SplitAtByte(dtype, k)).shift, 0) << Name(dtype) << k;
    }
  }
}

TEST(Packing, WritersThatSplitAtBytesDoNotDisturbEachOther) {
  constexpr int64_t kCount = 4001, kFirst = 3;
  constexpr int kWriters = 4;
  for (DType dtype : SubBytes()) {
    const Bytes values = RandomBytes(kCount, 8);
    Bytes storage(SizeOf(dtype, kFirst + kCount)), expected = storage;
    PackElements(values.data(), expected.data(), dtype, kFirst, kCount);
    std::vector<int64_t> borders = {kFirst};
    for (int i = 1; i < kWriters; ++i) {
      borders.push_back(SplitAtByte(dtype, kFirst + kCount * i / kWriters));
    }
    borders.push_back(kFirst + kCount);
    std::vector<std::thread> writers;
    for (size_t i = 0; i < kWriters; ++i) {
      writers.emplace_back([&, i] {
        PackElements(values.data() + borders[i] - kFirst, storage.data(), dtype, borders[i],
                     borders[i + 1] - borders[i]);
      });
    }
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(storage, expected) << Name(dtype);
  }
}

// A sub-byte store leaves its neighbours alone.
TEST(FaultCase, B179) {
  OnEveryTarget([] {
    Bytes packed(4, 0xff);
    const Bytes zeros(6);
    PackElements(zeros.data(), packed.data(), DType::kU4, 1, 6);
    EXPECT_THAT(packed, ElementsAre(0x0f, 0x00, 0x00, 0xf0));
  });
}

TEST(CheckpointLayout, Nibbles) {
  const Bytes stored = {0x12, 0x34, 0x56};
  Bytes packed(3), back(3);
  ASSERT_TRUE(NibblesToPacked(stored, NibbleOrder::kHighFirst, 6, absl::MakeSpan(packed)).ok());
  EXPECT_THAT(packed, ElementsAre(0x21, 0x43, 0x65));
  ASSERT_TRUE(NibblesToPacked(stored, NibbleOrder::kHighFirst, 5, absl::MakeSpan(packed)).ok());
  EXPECT_THAT(packed, ElementsAre(0x21, 0x43, 0x05));
  ASSERT_TRUE(PackedToNibbles(packed, NibbleOrder::kHighFirst, 5, absl::MakeSpan(back)).ok());
  EXPECT_THAT(back, ElementsAre(0x12, 0x34, 0x50));
  ASSERT_TRUE(NibblesToPacked(stored, NibbleOrder::kLowFirst, 5, absl::MakeSpan(packed)).ok());
  EXPECT_THAT(packed, ElementsAre(0x12, 0x34, 0x06));
  ASSERT_TRUE(PackedToNibbles(packed, NibbleOrder::kLowFirst, 5, absl::MakeSpan(packed)).ok());
  EXPECT_THAT(packed, ElementsAre(0x12, 0x34, 0x06));
  ASSERT_TRUE(PackedToNibbles(packed, NibbleOrder::kHighFirst, 6, absl::MakeSpan(packed)).ok());
  EXPECT_THAT(packed, ElementsAre(0x21, 0x43, 0x60));
  for (int64_t count : {4, 7, -1}) {
    const absl::Status status =
        NibblesToPacked(stored, NibbleOrder::kHighFirst, count, absl::MakeSpan(packed));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << count;
  }
}

// Word w's bits [4k, 4k+4) hold element order[k] of its eight, by the definition.
void ExpectWords(int64_t rows, int64_t columns, const WordLayout& layout) {
  const size_t count = static_cast<size_t>(rows * columns);
  std::vector<int32_t> words(count / 8);
  const Bytes random = RandomBytes(count / 2, 9);
  if (!random.empty()) std::memcpy(words.data(), random.data(), random.size());
  Bytes packed(count / 2);
  ASSERT_TRUE(WordsToPacked(words, rows, columns, layout, absl::MakeSpan(packed)).ok());
  const bool along_rows = layout.axis == WordLayout::Axis::kRows;
  for (int64_t w = 0; w < static_cast<int64_t>(words.size()); ++w) {
    for (int64_t k = 0; k < 8; ++k) {
      const int64_t neighbour = layout.order[static_cast<size_t>(k)];
      const int64_t element =
          along_rows ? (w / columns * 8 + neighbour) * columns + w % columns : 8 * w + neighbour;
      const uint32_t nibble = static_cast<uint32_t>(words[static_cast<size_t>(w)]) >> (4 * k) & 15;
      ASSERT_EQ(LoadBits(packed.data(), 4, element), nibble) << w << " " << k;
    }
  }
  std::vector<int32_t> back(words.size());
  ASSERT_TRUE(PackedToWords(packed, rows, columns, layout, absl::MakeSpan(back)).ok());
  EXPECT_EQ(back, words);
}

TEST(CheckpointLayout, Words) {
  ExpectWords(16, 5, kWordsAlongRows);
  ExpectWords(8, 1031, kWordsAlongRows);
  ExpectWords(8, 1024, {WordLayout::Axis::kRows, {7, 1, 0, 2, 3, 4, 6, 5}});
  ExpectWords(3, 16, kWordsAlongColumns);
  ExpectWords(5, 1672, kWordsEvenFirst);
  ExpectWords(0, 8, kWordsEvenFirst);
  // In order along columns a word is the packing itself.
  const std::vector<int32_t> words = {0x76543210, static_cast<int32_t>(0xfedcba98)};
  Bytes packed(8);
  ASSERT_TRUE(WordsToPacked(words, 1, 16, kWordsAlongColumns, absl::MakeSpan(packed)).ok());
  EXPECT_EQ(0, std::memcmp(packed.data(), words.data(), 8));
}

TEST(CheckpointLayout, WordErrors) {
  std::vector<int32_t> words(4);
  Bytes packed(16);
  const auto message = [&](int64_t rows, int64_t columns, const WordLayout& layout) {
    const absl::Status status = WordsToPacked(words, rows, columns, layout, absl::MakeSpan(packed));
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_FALSE(PackedToWords(packed, rows, columns, layout, absl::MakeSpan(words)).ok());
    return std::string(status.message());
  };
  EXPECT_THAT(message(4, 8, kWordsAlongRows), HasSubstr("the axis of rows has 4"));
  EXPECT_THAT(message(8, 4, kWordsAlongColumns), HasSubstr("the axis of columns has 4"));
  EXPECT_THAT(message(16, 4, kWordsAlongRows), HasSubstr("take 8 words and 32 bytes"));
  EXPECT_THAT(message(-8, -4, kWordsAlongRows), HasSubstr("no matrix"));
  EXPECT_THAT(message(int64_t{1} << 40, int64_t{1} << 40, kWordsAlongRows), HasSubstr("no matrix"));
  EXPECT_THAT(message(8, 4, {WordLayout::Axis::kRows, {0, 1, 2, 3, 4, 5, 6, 6}}),
              HasSubstr("not a permutation"));
}

}  // namespace
}  // namespace lathe
