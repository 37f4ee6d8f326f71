#include "dtypes/dtype.h"

#include <limits>
#include <optional>

#include "gtest/gtest.h"

namespace lathe {
namespace {

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
