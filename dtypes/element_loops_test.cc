#include "dtypes/element_loops.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "dtypes/dtype.h"
#include "dtypes/scalar.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

std::vector<uint8_t> RandomBytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

// Past one chunk, and not a multiple of 8.
constexpr int64_t kCount = 1029;

void ExpectConvertsLikeScalars(DType from, DType to) {
  SCOPED_TRACE(std::string(Name(from)) + " to " + std::string(Name(to)));
  // Random bits hold every special value of the narrow types and many of the wide ones; one byte
  // of shift makes both buffers unaligned.
  std::vector<uint8_t> source = RandomBytes(static_cast<size_t>(*ByteSize(from, kCount)) + 1, 9);
  for (int64_t k = 0; k < kCount; k += 3) {
    StoreElement(source.data() + 1, from, k, (static_cast<double>(k) - 500) * 0.37);
  }
  std::vector<uint8_t> actual = RandomBytes(static_cast<size_t>(*ByteSize(to, kCount)) + 2, 10);
  std::vector<uint8_t> expected = actual;
  ConvertElements(source.data() + 1, from, actual.data() + 1, to, kCount);
  for (int64_t k = 0; k < kCount; ++k) {
    StoreElement(expected.data() + 1, to, k, LoadElement(source.data() + 1, from, k));
  }
  EXPECT_EQ(actual.front(), expected.front());
  EXPECT_EQ(actual.back(), expected.back());
  if (from == to && !IsIntegral(from)) return;  // copied with their NaN payloads
  if (actual == expected) return;
  for (int64_t k = 0; k < kCount; ++k) {
    ASSERT_TRUE(
        LoadElement(actual.data() + 1, to, k).Identical(LoadElement(expected.data() + 1, to, k)))
        << "element " << k << ", " << LoadElement(source.data() + 1, from, k).ToString() << ": "
        << LoadElement(actual.data() + 1, to, k).ToString();
  }
  // Differences that are left can only be payloads of NaN.
  EXPECT_FALSE(IsIntegral(to));
}

TEST(ConvertElements, EqualsConvertForEveryPairOfDTypes) {
  for (DType from : AllDTypes()) {
    for (DType to : AllDTypes()) {
      if (from == DType::kF4E2M1FNx2 || to == DType::kF4E2M1FNx2) continue;
      ExpectConvertsLikeScalars(from, to);
    }
  }
}

TEST(ConvertElements, EqualDTypesAreCopiedBitForBit) {
  for (DType dtype : AllDTypes()) {
    if (dtype == DType::kBool) continue;
    const size_t size = static_cast<size_t>(*ByteSize(dtype, kCount));
    const std::vector<uint8_t> source = RandomBytes(size, 11);
    std::vector<uint8_t> target(size, 0xff);
    ConvertElements(source.data(), dtype, target.data(), dtype, kCount);
    const int used = static_cast<int>((kCount * BitWidth(dtype) - 1) % 8) + 1;
    EXPECT_TRUE(std::equal(source.begin(), source.end() - 1, target.begin())) << Name(dtype);
    // The last byte's bits past the last element stay.
    const int mask = (1 << used) - 1;
    EXPECT_EQ(target.back(), (source.back() & mask) | (0xff & ~mask)) << Name(dtype);
  }
}

TEST(ConvertElements, BooleansBecomeZeroAndOne) {
  const uint8_t bytes[] = {0, 1, 2, 255};
  uint8_t result[4];
  ConvertElements(bytes, DType::kBool, result, DType::kBool, 4);
  EXPECT_EQ(0, std::memcmp(result, "\0\1\1\1", 4));
}

TEST(ConvertElements, NothingIsTouchedForNoElements) {
  ConvertElements(nullptr, DType::kF32, nullptr, DType::kU3, 0);
  const float one = 1;
  for (DType dtype : AllDTypes()) {
    if (IsStorageOnly(dtype)) continue;
    uint8_t result[16];
    std::memset(result, 0xa5, sizeof(result));
    ConvertElements(&one, DType::kF32, result, dtype, 0);
    for (uint8_t byte : result) EXPECT_EQ(byte, 0xa5) << Name(dtype);
  }
}

TEST(DType, NamesWidthsAndSizes) {
  for (DType dtype : AllDTypes()) EXPECT_EQ(ParseDType(Name(dtype)), dtype);
  EXPECT_EQ(ParseDType("float32"), std::nullopt);
  EXPECT_EQ(ParseDType(""), std::nullopt);
  EXPECT_EQ(AllDTypes().size(), 36u);
  EXPECT_EQ(Name(DType::kF8E4M3FNUZ), "f8e4m3fnuz");
  EXPECT_EQ(BitWidth(DType::kU3), 3);
  EXPECT_TRUE(IsSubByte(DType::kI7) && !IsSubByte(DType::kBool) && !IsSubByte(DType::kU8));
  EXPECT_TRUE(IsStorageOnly(DType::kC32) && IsStorageOnly(DType::kF4E2M1FNx2));
  EXPECT_EQ(ByteSize(DType::kU3, 0), 0);
  EXPECT_EQ(ByteSize(DType::kU3, 3), 2);
  EXPECT_EQ(ByteSize(DType::kU1, 9), 2);
  EXPECT_EQ(ByteSize(DType::kC128, 3), 48);
  EXPECT_EQ(ByteSize(DType::kF32, -1), std::nullopt);
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ByteSize(DType::kU8, most), most);
  EXPECT_EQ(ByteSize(DType::kI7, most), most / 8 * 7 + 7);
  EXPECT_EQ(ByteSize(DType::kI16, most / 2), most - 1);
  EXPECT_EQ(ByteSize(DType::kI16, most / 2 + 1), std::nullopt);
  EXPECT_EQ(ByteSize(DType::kC128, most), std::nullopt);
}

TEST(DType, RelatedTypes) {
  EXPECT_EQ(ComplexOf(DType::kF16), DType::kC32);
  EXPECT_EQ(ComplexOf(DType::kBF16), std::nullopt);
  for (DType c : {DType::kC32, DType::kC64, DType::kC128}) EXPECT_EQ(ComplexOf(ComplexPart(c)), c);
  EXPECT_EQ(ComputeType(DType::kF8E8M0FNU), DType::kF32);
  EXPECT_EQ(ComputeType(DType::kBF16), DType::kF32);
  EXPECT_EQ(ComputeType(DType::kC32), DType::kC64);
  EXPECT_EQ(ComputeType(DType::kF64), DType::kF64);
  EXPECT_EQ(ComputeType(DType::kU3), DType::kU3);
}

}  // namespace
}  // namespace lathe
