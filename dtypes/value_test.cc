#include "dtypes/value.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <type_traits>

#include "absl/hash/hash.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;

static_assert(std::is_same_v<ValueType<DType::kU3>, U<3>>);
static_assert(std::is_same_v<ValueType<DType::kI64>, I<64>>);
static_assert(std::is_same_v<ValueType<DType::kF8E5M2>, F8E5M2>);
static_assert(std::is_same_v<ValueType<DType::kC64>, std::complex<float>>);
static_assert(kDTypeOf<I<7>> == DType::kI7 && kDTypeOf<BF16> == DType::kBF16);
static_assert(kDTypeOf<bool> == DType::kBool && kDTypeOf<double> == DType::kF64);

// Calls f.template operator()<T>() for the value type of every dtype that computes.
template <int kIndex = 0, typename F>
void ForEachValueType(F&& f) {
  if constexpr (kIndex < kDTypeCount) {
    constexpr DType kDType = static_cast<DType>(kIndex);
    if constexpr (!IsStorageOnly(kDType)) f.template operator()<ValueType<kDType>>();
    ForEachValueType<kIndex + 1>(f);
  }
}

template <typename T>
T MustParse(const std::string& text) {
  const absl::StatusOr<T> value = ParseValue<T>(text);
  EXPECT_TRUE(value.ok()) << value.status();
  return value.ok() ? *value : T();
}

template <typename T>
void ExpectReadsBack(T value) {
  const std::string text = FormatValue(value);
  ASSERT_TRUE(ToScalar(MustParse<T>(text)).Identical(ToScalar(value)))
      << Name(kDTypeOf<T>) << " " << text;
}

TEST(Value, TextReadsBackToTheSameValue) {
  ForEachValueType([]<typename T>() {
    std::mt19937_64 random(31);
    const Scalar values[] = {0,
                             1,
                             -1,
                             -0.0,
                             0.1,
                             1e-7,
                             -3.7e4,
                             std::numeric_limits<int64_t>::min(),
                             ~uint64_t{0},
                             uint64_t{1} << 63,
                             std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::denorm_min(),
                             std::complex<double>(1.5, -0.0)};
    for (const Scalar& value : values) ExpectReadsBack(FromScalar<T>(value));
    for (int i = 0; i < 2000; ++i) {
      ExpectReadsBack(FromScalar<T>(random() >> (random() % 64)));
      ExpectReadsBack(FromScalar<T>(std::bit_cast<double>(random())));
    }
  });
}

TEST(Value, EveryCodeOfTheNarrowTypesReadsBack) {
  ForEachValueType([]<typename T>() {
    if constexpr (value_internal::kIsSizedInt<T> && sizeof(T) <= 2) {
      for (int code = 0; code < 1 << BitWidth(T::kDType); ++code) ExpectReadsBack(T(code));
    } else if constexpr (SmallFloat<T>) {
      for (int code = 0; code < 1 << BitWidth(kDTypeOf<T>); ++code) {
        T value;
        value.bits = static_cast<decltype(value.bits)>(code);
        ExpectReadsBack(value);
      }
    }
  });
}

TEST(Value, TextExamples) {
  EXPECT_EQ(FormatValue(U<64>::Max()), "18446744073709551615");
  EXPECT_EQ(FormatValue(I<4>(-8)), "-8");
  EXPECT_EQ(FormatValue(BF16::FromFloat(-0.0f)), "-0.0");
  EXPECT_EQ(FormatValue(0.1f), "0.1");
  EXPECT_EQ(FormatValue(true), "true");
  EXPECT_TRUE(MustParse<bool>("1"));
  EXPECT_EQ(MustParse<U<64>>("0xffffffffffffffff"), U<64>::Max());
  EXPECT_EQ(MustParse<float>("7"), 7.0f);
}

TEST(Value, TextThatDoesNotFitIsRefused) {
  const auto message = [](absl::string_view text, DType dtype) {
    const absl::StatusOr<Scalar> element = ParseElement(text, dtype);
    EXPECT_EQ(element.status().code(), absl::StatusCode::kInvalidArgument) << text;
    return std::string(element.status().message());
  };
  EXPECT_EQ(message("16", DType::kU4), "integer outside the range of u4, [0, 2^4): 16");
  EXPECT_EQ(message("-9", DType::kI4), "integer outside the range of i4, [-2^3, 2^3): -9");
  EXPECT_THAT(message("-1", DType::kU64), HasSubstr("[0, 2^64)"));
  EXPECT_THAT(message("9223372036854775808", DType::kI64), HasSubstr("outside the range of i64"));
  EXPECT_THAT(message("18446744073709551616", DType::kU64), HasSubstr("outside"));
  EXPECT_THAT(message("2.5", DType::kU8), HasSubstr("is an integer"));
  EXPECT_THAT(message("true", DType::kU1), HasSubstr("is an integer"));
  EXPECT_THAT(message("2", DType::kBool), HasSubstr("true, false, 0 or 1"));
  EXPECT_THAT(message("1+2j", DType::kF32), HasSubstr("not an element of f32"));
  EXPECT_THAT(message("x", DType::kF32), HasSubstr("not a number"));
  EXPECT_THAT(message("1", DType::kF4E2M1FNx2), HasSubstr("pair of numbers"));
}

TEST(Value, UnknownDTypeNamesAreErrors) {
  EXPECT_EQ(*DTypeNamed("u3"), DType::kU3);
  for (const char* name : {"", "u9", "int8", "F32", "u0", "i8 "}) {
    const absl::Status status = DTypeNamed(name).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr("there are bool, u1"));
  }
  EXPECT_LT(DTypeNamed(std::string(1 << 20, 'u')).status().message().size(), 500u);
}

template <typename T>
T Code(int code) {
  T value;
  value.bits = static_cast<decltype(value.bits)>(code);
  return value;
}

// Every pair of f8 codes: the operation on exact numbers (double holds sums and products of f8
// exactly), rounded once.
template <typename T>
void ExpectArithmeticRoundsOnce(T a, T b) {
  const double x = a.ToFloat(), y = b.ToFloat();
  ASSERT_TRUE(ToScalar(a + b).Identical(ToScalar(T::FromDouble(x + y)))) << x << " " << y;
  ASSERT_TRUE(ToScalar(a - b).Identical(ToScalar(T::FromDouble(x - y)))) << x << " " << y;
  ASSERT_TRUE(ToScalar(a * b).Identical(ToScalar(T::FromDouble(x * y)))) << x << " " << y;
  ASSERT_TRUE(ToScalar(a / b).Identical(ToScalar(T::FromDouble(x / y)))) << x << " " << y;
  ASSERT_EQ(a == b, x == y);
  ASSERT_EQ(a < b, x < y);
  if (a == b) {
    ASSERT_EQ(absl::Hash<T>()(a), absl::Hash<T>()(b));
  }
}

TEST(Value, SmallFloatArithmeticRoundsOnce) {
  ForEachValueType([]<typename T>() {
    if constexpr (SmallFloat<T>) {
      if constexpr (sizeof(T) == 1) {
        for (int i = 0; i < 256; ++i) {
          for (int j = 0; j < 256; ++j) ExpectArithmeticRoundsOnce(Code<T>(i), Code<T>(j));
        }
      } else {
        std::mt19937 random(33);
        for (int i = 0; i < 300000; ++i) {
          ExpectArithmeticRoundsOnce(Code<T>(static_cast<int>(random() & 0xffff)),
                                     Code<T>(static_cast<int>(random() & 0xffff)));
        }
      }
    }
  });
}

TEST(Value, ScalarsAndValuesConvert) {
  EXPECT_EQ(FromScalar<U<3>>(Scalar(13)), U<3>(5));
  EXPECT_EQ(FromScalar<U<64>>(Scalar(1.8446744073709550e19)).value(), 18446744073709549568u);
  EXPECT_TRUE(ToScalar(I<3>(-4)).Identical(-4));
  EXPECT_TRUE(ToScalar(U<64>::Max()).Identical(~uint64_t{0}));
  EXPECT_TRUE(FromScalar<bool>(0.5));
  EXPECT_EQ(FromScalar<std::complex<float>>(Scalar(2)), std::complex<float>(2, 0));
}

}  // namespace
}  // namespace lathe
