// Faults that other compilers of this kind have had, as far as scalars, promotion and packing can
// show them. Each test has the number of its case.

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "dtypes/promotion.h"
#include "dtypes/value.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Rank = PromotionOperand::Rank;

std::string TypeOf(std::vector<PromotionOperand> operands,
                   PromotionRules rules = PromotionRules::kPyTorch) {
  const absl::StatusOr<DType> type = ResultType(operands, rules);
  return type.ok() ? std::string(Name(*type)) : "raises";
}

// A narrow sum that keeps the width of C++'s int until the next cast.
TEST(FaultCase, B001) {
  std::vector<int> result;
  for (int x : {128, 200, 3}) result.push_back(I<16>(U<8>(x) + U<8>(x)).value());
  EXPECT_THAT(result, ElementsAre(0, 144, 6));
}

// An unsigned constant folded as a negative number, then added to a float.
TEST(FaultCase, B003) {
  const float negated = static_cast<float>(-U<8>(7));
  EXPECT_EQ(negated + 0.5f, 249.5f);
  EXPECT_EQ(negated - 1.0f, 248.0f);
  EXPECT_EQ(Convert(Scalar(WrapNeg(7, DType::kU8)), DType::kF32).ToDouble(), 249.0);
}

// Float to unsigned of a negative value.
TEST(FaultCase, B005) {
  const float values[] = {-1.0f, -2.5f, 3.9f, 0.0f};
  const int expected[] = {255, 254, 3, 0};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(U<8>(values[i]).value(), expected[i]);
    EXPECT_EQ(Convert(static_cast<double>(values[i]), DType::kU8).ToInt(), expected[i]);
  }
}

// Values of u8 among boundaries of i8: compared by value, not as one of the two types.
TEST(FaultCase, B007) {
  for (int value : {3, 6}) {
    int place = 0;
    for (int boundary : {-9, -4, -1}) {
      place += ToScalar(I<8>(boundary)) < ToScalar(U<8>(value)) ? 1 : 0;
    }
    EXPECT_EQ(place, 3);
  }
  EXPECT_EQ(TypeOf({{DType::kU8}, {DType::kI8}}), "i16");
}

// Signed overflow wraps.
TEST(FaultCase, B009) {
  EXPECT_EQ(I<64>(I<32>::Max() + I<32>(1)).value(), -2147483648);
  EXPECT_EQ(I<64>(I<32>::Min() + I<32>(-1)).value(), 2147483647);
}

// Arg-reduction over bool compares 0 and 1, whatever byte holds a true.
TEST(FaultCase, B013) {
  const uint8_t bytes[] = {0, 0, 0, 0, 1, 255, 2, 1};
  int64_t most = 0, least = 0;
  for (int64_t k = 1; k < 8; ++k) {
    const Scalar value = LoadElement(bytes, DType::kBool, k);
    if (LoadElement(bytes, DType::kBool, most) < value) most = k;
    if (value < LoadElement(bytes, DType::kBool, least)) least = k;
  }
  EXPECT_EQ(most, 4);
  EXPECT_EQ(least, 0);
}

// Sums and products of small integers accumulate in i64.
TEST(FaultCase, B015) {
  ASSERT_EQ(SumType(DType::kU8), DType::kI64);
  ASSERT_EQ(SumType(DType::kBool), DType::kI64);
  ASSERT_EQ(SumType(DType::kU3), DType::kI64);
  I<64> sum, product(1);
  for (int i = 0; i < 3; ++i) {
    sum += I<64>(U<8>(200));
    product *= I<64>(U<8>(200));
  }
  EXPECT_EQ(sum.value(), 600);
  EXPECT_EQ(product.value(), 8000000);
}

// Remainder by zero is an error, and min / -1 does not trap.
TEST(FaultCase, B017) {
  EXPECT_EQ(*Remainder(U<8>(7), U<8>(2)), U<8>(1));
  const absl::Status status = Remainder(U<8>(8), U<8>(0)).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("ZeroDivisionError"));
  EXPECT_EQ(*FloorDivide(I<32>::Min(), I<32>(-1)), I<32>::Min());
  EXPECT_EQ(*Remainder(I<64>::Min(), I<64>(-1)), I<64>(0));
  EXPECT_EQ(I<64>::Min() % I<64>(-1), I<64>(0));
}

// 0-dim tensors and Python numbers promote across categories alone.
TEST(FaultCase, B113) {
  const PromotionOperand python_float{DType::kF64, Rank::kPythonScalar};
  EXPECT_EQ(TypeOf({{DType::kI64}, python_float}), "f32");
  EXPECT_EQ(TypeOf({{DType::kI64}, {DType::kF64, Rank::kZeroDim}}), "f64");
  EXPECT_EQ(TypeOf({{DType::kF32}, {DType::kF64, Rank::kZeroDim}}), "f32");
  EXPECT_EQ(TypeOf({{DType::kF16}, python_float}), "f16");
  EXPECT_EQ(TypeOf({{DType::kU8}, {DType::kI64, Rank::kZeroDim}}), "u8");
  EXPECT_EQ(TypeOf({{DType::kU8}, {DType::kI64, Rank::kPythonScalar}}), "u8");
  EXPECT_EQ(U<8>(1) + U<8>(300), U<8>(45));
  EXPECT_EQ(TypeOf({{DType::kBool}, {DType::kI64, Rank::kPythonScalar}}), "i64");
}

// int / int is f32; the mean of integers needs a dtype.
TEST(FaultCase, B117) {
  const PromotionOperand python_int{DType::kI64, Rank::kPythonScalar};
  EXPECT_EQ(*TrueDivType({{DType::kI32}, {DType::kI32}}), DType::kF32);
  EXPECT_EQ(*TrueDivType({{DType::kU8}, python_int}), DType::kF32);
  EXPECT_EQ(*TrueDivType({{DType::kI32}, python_int}), DType::kF32);
  EXPECT_EQ(TypeOf({{DType::kI32}, python_int}), "i32");
  EXPECT_EQ(*FloorDivide(I<32>(7), I<32>(2)), I<32>(3));
  EXPECT_FALSE(MeanType(DType::kI32).ok());
}

// A comparison in the tensor's type: the integer scalar wraps to it, a float one widens it.
TEST(FaultCase, B119) {
  const auto compared = [](DType tensor, DType scalar) {
    return *ComparisonType(Comparison::kOrder, {{tensor}, {scalar, Rank::kPythonScalar}});
  };
  ASSERT_EQ(compared(DType::kI64, DType::kF64), DType::kF32);
  EXPECT_FALSE(Convert(2.5, DType::kF32) < Convert(2, DType::kF32));
  EXPECT_TRUE(Convert(2.5, DType::kF32) < Convert(3, DType::kF32));
  EXPECT_TRUE(Convert(9007199254740993, DType::kF32) == Convert(9007199254740992.0, DType::kF32));
  ASSERT_EQ(compared(DType::kU8, DType::kI64), DType::kU8);
  EXPECT_FALSE(Convert(-1, DType::kU8) < Convert(5, DType::kU8));
  EXPECT_TRUE(I<8>(-1) == I<8>(255));
  // By value, which Scalar offers beside it, the answers are the mathematical ones.
  EXPECT_TRUE(Scalar(-1) < Scalar(5) && Scalar(-1) < Scalar(~uint64_t{0}));
  EXPECT_FALSE(Scalar(9007199254740993) == Scalar(9007199254740992.0));
}

// Scalars above 2^63 - 1 keep every bit.
TEST(FaultCase, B167) {
  EXPECT_EQ(FormatValue(U<64>(uint64_t{1} << 63)), "9223372036854775808");
  EXPECT_EQ(FormatValue(U<64>(-1)), "18446744073709551615");
  EXPECT_EQ(*ParseValue<U<64>>("0x8000000000000000"), U<64>(uint64_t{1} << 63));
  EXPECT_EQ(*ParseValue<U<64>>("18446744073709551615"), U<64>::Max());
  uint64_t storage = 0;
  StoreElement(&storage, DType::kU64, 0, ~uint64_t{0});
  EXPECT_EQ(LoadElement(&storage, DType::kU64, 0).ToString(), "18446744073709551615");
}

// u64 to float and back above 2^63.
TEST(FaultCase, B169) {
  const uint64_t values[] = {uint64_t{1} << 63, ~uint64_t{0}, 1};
  const double as_f64[] = {9.223372036854776e+18, 1.8446744073709552e+19, 1.0};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Convert(values[i], DType::kF64).ToDouble(), as_f64[i]);
    EXPECT_EQ(Convert(values[i], DType::kF32).ToDouble(), as_f64[i]);
    EXPECT_EQ(static_cast<double>(U<64>(values[i])), as_f64[i]);
  }
  EXPECT_EQ(Convert(9223372036854775808.0, DType::kU64).ToUInt(), 9223372036854775808u);
  EXPECT_EQ(Convert(1.8446744073709550e19, DType::kU64).ToUInt(), 18446744073709549568u);
}

// u32 near its top.
TEST(FaultCase, B171) {
  EXPECT_EQ(U<32>(4294967295) + U<32>(1), U<32>(0));
  EXPECT_EQ((U<32>(65537) * U<32>(65537)).value(), 131073u);
  EXPECT_EQ((U<32>(3) - U<32>(5)).value(), 4294967294u);
  EXPECT_EQ((*FloorDivide(U<32>(4294967295), U<32>(3))).value(), 1431655765u);
  EXPECT_EQ(static_cast<float>(U<32>(4294967295)), 4294967295.0f);
  EXPECT_TRUE(U<32>(1u << 31) > U<32>(1));
}

// The unsigned types that PyTorch promotes with floats alone.
TEST(FaultCase, B173) {
  const std::pair<DType, DType> pairs[] = {{DType::kU16, DType::kU8},   {DType::kU16, DType::kI32},
                                           {DType::kU32, DType::kF16},  {DType::kU64, DType::kF32},
                                           {DType::kU16, DType::kBool}, {DType::kU32, DType::kI32},
                                           {DType::kU64, DType::kI64},  {DType::kU16, DType::kI16}};
  std::vector<std::string> pytorch, extended;
  for (const auto& [a, b] : pairs) {
    pytorch.push_back(TypeOf({{a}, {b}}));
    extended.push_back(TypeOf({{a}, {b}}, PromotionRules::kExtended));
  }
  EXPECT_THAT(pytorch, ElementsAre("raises", "raises", "f16", "f32", "raises", "raises", "raises",
                                   "raises"));
  EXPECT_THAT(extended, ElementsAre("u16", "i32", "f16", "f32", "u16", "i64", "raises", "i32"));
}

// u8 times i8 needs i32, and zero points leave 8 bits.
TEST(FaultCase, B175) {
  const auto product = [](int a, int b) { return I<32>(U<8>(a)) * I<32>(I<8>(b)); };
  EXPECT_EQ((product(255, 127) + product(255, 127)).value(), 64770);
  const I<32> za(42), zb(-26);
  const I<32> sum = (I<32>(U<8>(201)) - za) * (I<32>(I<8>(25)) - zb) +
                    (I<32>(U<8>(90)) - za) * (I<32>(I<8>(42)) - zb);
  EXPECT_EQ(sum.value(), 11373);
}

// Arithmetic on sub-byte types wraps at their own width.
TEST(FaultCase, B181) {
  EXPECT_EQ((U<4>(13) + U<4>(5)).value(), 2);
  EXPECT_EQ((U<3>(0) - U<3>(1)).value(), 7);
  EXPECT_EQ((I<4>(7) + I<4>(1)).value(), -8);
  EXPECT_EQ((I<4>(-8) - I<4>(1)).value(), 7);
  EXPECT_EQ((U<2>(3) * U<2>(3)).value(), 1);
  EXPECT_EQ((I<2>(1) + I<2>(1)).value(), -2);
  EXPECT_TRUE(U<4>(15) + U<4>(1) == U<4>(0));
  EXPECT_FALSE(FloorDivide(U<4>(1), U<4>(8) + U<4>(8)).ok());
}

}  // namespace
}  // namespace lathe
