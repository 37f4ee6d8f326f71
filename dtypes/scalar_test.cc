#include "dtypes/scalar.h"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "absl/hash/hash.h"
#include "absl/strings/str_format.h"
#include "dtypes/recorded_vectors.h"
#include "dtypes/small_float.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using Complex = std::complex<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr uint64_t kTop = uint64_t{1} << 63;

Scalar MustParse(absl::string_view text) {
  const absl::StatusOr<Scalar> scalar = ParseScalar(text);
  EXPECT_TRUE(scalar.ok()) << scalar.status();
  return scalar.ok() ? *scalar : Scalar();
}

TEST(Scalar, KindsAndDefaultTypes) {
  const float single = 2.5f;
  const char letter = 3;
  EXPECT_TRUE(Scalar(true).is_bool());
  EXPECT_TRUE(Scalar(letter).is_int());
  EXPECT_TRUE(Scalar(uint32_t{4000000000}).Identical(Scalar(int64_t{4000000000})));
  EXPECT_TRUE(Scalar(single).Identical(Scalar(2.5)));
  EXPECT_EQ(Scalar(uint64_t{7}).kind(), Scalar::Kind::kInt);
  EXPECT_EQ(Scalar(kTop).kind(), Scalar::Kind::kUInt);
  EXPECT_TRUE(Scalar(kTop).is_int());
  EXPECT_FALSE((std::is_convertible_v<const char*, Scalar>));
  EXPECT_EQ(Scalar(false).DefaultDType(), DType::kBool);
  EXPECT_EQ(Scalar(1).DefaultDType(), DType::kI64);
  EXPECT_EQ(Scalar(kTop).DefaultDType(), DType::kU64);
  EXPECT_EQ(Scalar(1.0).DefaultDType(), DType::kF32);
  EXPECT_EQ(Scalar(Complex(1, 0)).DefaultDType(), DType::kC64);
}

TEST(Scalar, ValueConversions) {
  EXPECT_EQ(Scalar(kTop).ToInt(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Scalar(-1).ToUInt(), ~uint64_t{0});
  EXPECT_EQ(Scalar(-2.9).ToInt(), -2);
  EXPECT_EQ(Scalar(kNaN).ToInt(), 0);
  EXPECT_EQ(Scalar(kInf).ToUInt(), ~uint64_t{0});
  EXPECT_EQ(Scalar(kInf).ToInt(), -1);  // clamped to 2^64 - 1, wrapped
  EXPECT_EQ(Scalar(-kInf).ToInt(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(Scalar(1.5e19).ToUInt(), uint64_t{15000000000000000000u});
  EXPECT_EQ(Scalar(Complex(3.5, 4)).ToInt(), 3);
  EXPECT_EQ(Scalar(Complex(3.5, 4)).ToDouble(), 3.5);
  EXPECT_EQ(Scalar(kTop).ToDouble(), 0x1p63);
  EXPECT_EQ(Scalar(true).ToComplex(), Complex(1, 0));
  EXPECT_TRUE(Scalar(kNaN).ToBool());
  EXPECT_TRUE(Scalar(Complex(0, 1)).ToBool());
  EXPECT_FALSE(Scalar(-0.0).ToBool());
}

TEST(Scalar, EqualityAndOrderAreExact) {
  const std::vector<Scalar> ascending = {-kInf,
                                         -1e300,
                                         std::numeric_limits<int64_t>::min(),
                                         -1,
                                         -0.5,
                                         false,
                                         0.5,
                                         true,
                                         1.5,
                                         (int64_t{1} << 53) - 1,
                                         0x1p53,
                                         (int64_t{1} << 53) + 1,  // as a double it would be 2^53
                                         std::numeric_limits<int64_t>::max(),
                                         0x1p63,
                                         kTop + 1,
                                         ~uint64_t{0},
                                         0x1p64,
                                         kInf};
  for (size_t i = 0; i < ascending.size(); ++i) {
    for (size_t j = 0; j < ascending.size(); ++j) {
      SCOPED_TRACE(ascending[i].ToString() + " against " + ascending[j].ToString());
      EXPECT_EQ(ascending[i] == ascending[j], i == j);
      EXPECT_EQ(ascending[i] < ascending[j], i < j);
    }
    EXPECT_FALSE(ascending[i] == Scalar(kNaN) || Scalar(kNaN) == ascending[i]);
    EXPECT_FALSE(ascending[i] < Scalar(kNaN) || Scalar(kNaN) < ascending[i]);
  }
  EXPECT_FALSE(Scalar(kNaN) == Scalar(kNaN));
  EXPECT_TRUE(Scalar(-0.0) == Scalar(0));
  EXPECT_FALSE(Scalar(-1) == Scalar(~uint64_t{0}));
  EXPECT_TRUE(Scalar(Complex(2, 0)) == Scalar(2));
  EXPECT_FALSE(Scalar(2) == Scalar(Complex(2, 1)));
  EXPECT_FALSE(Scalar((int64_t{1} << 53) + 1) == Scalar(Complex(0x1p53, 0)));
  EXPECT_DEATH((void)(Scalar(Complex(1, 1)) < Scalar(2)), "complex numbers have no order");
}

TEST(Scalar, EqualScalarsHashEqually) {
  const std::vector<Scalar> all = {0,
                                   -0.0,
                                   false,
                                   Complex(0, 0),
                                   Complex(-0.0, -0.0),
                                   1,
                                   true,
                                   1.0,
                                   Complex(1, 0),
                                   2.5,
                                   -1,
                                   -1.0,
                                   kTop,
                                   0x1p63,
                                   Complex(0x1p63, 0),
                                   Complex(2.5, 0),
                                   Complex(1, 2),
                                   kNaN,
                                   kInf,
                                   ~uint64_t{0},
                                   0x1p64};
  for (const Scalar& a : all) {
    for (const Scalar& b : all) {
      if (a == b || a.Identical(b)) {
        EXPECT_EQ(absl::Hash<Scalar>()(a), absl::Hash<Scalar>()(b)) << a.ToString();
      }
    }
  }
  EXPECT_NE(absl::Hash<Scalar>()(Scalar(1)), absl::Hash<Scalar>()(Scalar(2)));
}

TEST(Scalar, IdenticalMeansKindAndBits) {
  EXPECT_TRUE(Scalar(kNaN).Identical(Scalar(-kNaN)));
  EXPECT_FALSE(Scalar(0.0).Identical(Scalar(-0.0)));
  EXPECT_FALSE(Scalar(1).Identical(Scalar(1.0)));
  EXPECT_FALSE(Scalar(1).Identical(Scalar(true)));
  EXPECT_TRUE(Scalar(Complex(kNaN, 1)).Identical(Scalar(Complex(kNaN, 1))));
  EXPECT_FALSE(Scalar(Complex(1, 0.0)).Identical(Scalar(Complex(1, -0.0))));
}

TEST(ScalarText, Prints) {
  const std::vector<std::pair<Scalar, std::string>> cases = {
      {3, "3"},
      {-3, "-3"},
      {true, "true"},
      {false, "false"},
      {2.5, "2.5"},
      {1.0, "1.0"},
      {-0.0, "-0.0"},
      {1e100, "1e+100"},
      {0.1, "0.1"},
      {1e5, "1e+05"},
      {123456.0, "123456.0"},
      {kInf, "inf"},
      {-kInf, "-inf"},
      {kNaN, "nan"},
      {-kNaN, "nan"},
      {5e-324, "5e-324"},
      {~uint64_t{0}, "18446744073709551615"},
      {std::numeric_limits<int64_t>::min(), "-9223372036854775808"},
      {Complex(1, 2), "1+2j"},
      {Complex(0.5, -0.0), "0.5-0j"},
      {Complex(-kInf, kNaN), "-inf+nanj"},
      {Complex(1e-30, -1e-30), "1e-30-1e-30j"},
  };
  for (const auto& [scalar, text] : cases) {
    EXPECT_EQ(scalar.ToString(), text);
    EXPECT_TRUE(MustParse(text).Identical(scalar)) << text;
  }
}

TEST(ScalarText, ReadsOtherSpellings) {
  EXPECT_TRUE(MustParse("1e5").Identical(1e5));
  EXPECT_TRUE(MustParse("+3").Identical(3));
  EXPECT_TRUE(MustParse("-0").Identical(0));
  EXPECT_TRUE(MustParse("0x10").Identical(16));
  EXPECT_TRUE(MustParse("-0xFF").Identical(-255));
  EXPECT_TRUE(MustParse("0xffffffffffffffff").Identical(~uint64_t{0}));
  EXPECT_TRUE(MustParse("2j").Identical(Complex(0, 2)));
  EXPECT_TRUE(MustParse("-2.5j").Identical(Complex(0, -2.5)));
  EXPECT_TRUE(MustParse("1e+3-1e-3j").Identical(Complex(1e3, -1e-3)));
  EXPECT_TRUE(MustParse(".5").Identical(0.5));
}

TEST(ScalarText, RefusesWhatIsNotANumber) {
  const std::string zero_byte("1\0", 2);
  for (const std::string& text : std::vector<std::string>{
           "",       "-",     "+",    "--1",   "+-1",  "- 1",    " 1",      "1 ",
           "0x",     "0xg",   "0x-1", "1.5.2", "1e",   "e5",     "True",    "infinity",
           "nan(1)", "j",     "+j",   "1+j",   "1+2",  "1+2i",   "1+2j+3j", "j2",
           "tru",    "1_000", "0b1",  "0x1p3", "1.0f", zero_byte}) {
    EXPECT_EQ(ParseScalar(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  for (const char* text : {"18446744073709551616", "-9223372036854775809", "0x10000000000000000",
                           "999999999999999999999999999999", "1e999", "-1e-999"}) {
    EXPECT_THAT(std::string(ParseScalar(text).status().message()), HasSubstr("outside")) << text;
  }
  EXPECT_LT(ParseScalar(std::string(1 << 20, '(')).status().message().size(), 300u);
}

TEST(ScalarText, RandomValuesReadBackIdentically) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t bits = random();
    const double value = std::bit_cast<double>(bits);
    const double other = std::bit_cast<double>(random());
    for (const Scalar& scalar : {Scalar(bits), Scalar(static_cast<int64_t>(bits)), Scalar(value),
                                 Scalar(Complex(value, other))}) {
      ASSERT_TRUE(MustParse(scalar.ToString()).Identical(scalar)) << scalar.ToString();
    }
  }
}

Scalar ScalarOfRecorded(const std::string& text) {
  if (text == "True" || text == "False") return text == "True";
  return MustParse(text);
}

TEST(Convert, EqualsPyTorchsRecordedCasts) {
  const rapidjson::Document recorded = ReadVectors("casts.json");
  int pairs = 0;
  for (const auto& entry : recorded.GetObject()) {
    const std::string key = entry.name.GetString();
    const size_t arrow = key.find("->");
    const DType from = DTypeOfTorchName(key.substr(0, arrow));
    const DType to = DTypeOfTorchName(key.substr(arrow + 2));
    for (const auto& pair : entry.value.GetArray()) {
      const Scalar value = Convert(ScalarOfRecorded(pair[0].GetString()), from);
      const Scalar result = ScalarOfRecorded(pair[1].GetString());
      EXPECT_TRUE(Convert(value, to).Identical(result))
          << key << " of " << value.ToString() << " is " << Convert(value, to).ToString();
      ++pairs;
    }
  }
  EXPECT_GT(pairs, 900);
}

TEST(Convert, EveryKindToEveryDType) {
  EXPECT_TRUE(Convert(5, DType::kU2).Identical(1));
  EXPECT_TRUE(Convert(5, DType::kI3).Identical(-3));
  EXPECT_TRUE(Convert(-1, DType::kU1).Identical(1));
  EXPECT_TRUE(Convert(1, DType::kI1).Identical(-1));
  EXPECT_TRUE(Convert(-1, DType::kU64).Identical(~uint64_t{0}));
  EXPECT_TRUE(Convert(kTop, DType::kI64).Identical(std::numeric_limits<int64_t>::min()));
  EXPECT_TRUE(Convert(2, DType::kBool).Identical(true));
  EXPECT_TRUE(Convert(kNaN, DType::kBool).Identical(true));
  EXPECT_TRUE(Convert(Complex(0, 3), DType::kBool).Identical(true));
  EXPECT_TRUE(Convert(Complex(2.7, 3), DType::kI8).Identical(2));
  EXPECT_TRUE(Convert(Complex(2.5, 3), DType::kF32).Identical(2.5));
  EXPECT_TRUE(Convert(300.7, DType::kU8).Identical(44));
  EXPECT_TRUE(Convert(-kInf, DType::kI32).Identical(0));
  EXPECT_TRUE(Convert(kNaN, DType::kI16).Identical(0));
  EXPECT_TRUE(Convert(true, DType::kC64).Identical(Complex(1, 0)));
  EXPECT_TRUE(Convert(0.1, DType::kF32).Identical(static_cast<double>(0.1f)));
  EXPECT_TRUE(Convert(Complex(0.1, 1e300), DType::kC64)
                  .Identical(Complex(static_cast<double>(0.1f), kInf)));
  EXPECT_TRUE(Convert(Complex(1 + 0x1p-20, 65536), DType::kC32).Identical(Complex(1, kInf)));
  EXPECT_TRUE(Convert(1e6, DType::kF8E4M3FN).Identical(kNaN));
  EXPECT_TRUE(Convert(5.7, DType::kF8E8M0FNU).Identical(4.0));
  EXPECT_DEATH((void)Convert(1, DType::kF4E2M1FNx2), "pair of numbers");
}

TEST(Convert, RoundsOnceFromDoublesAndIntegers) {
  EXPECT_TRUE(Convert(1 + 0x1p-8 + 0x1p-40, DType::kBF16).Identical(1 + 0x1p-7));
  // 2^40 + 2^32 is the middle between two bf16; f32 cannot see the 1 past it.
  const int64_t middle = (int64_t{1} << 40) + (int64_t{1} << 32);
  EXPECT_TRUE(Convert(middle, DType::kBF16).Identical(0x1p40));
  EXPECT_TRUE(Convert(middle + 1, DType::kBF16).Identical(0x1p40 + 0x1p33));
  EXPECT_TRUE(Convert(-middle - 1, DType::kBF16).Identical(-0x1p40 - 0x1p33));
  // The same where even f64 cannot.
  const uint64_t high = kTop + (kTop >> 8);
  EXPECT_TRUE(Convert(high, DType::kBF16).Identical(0x1p63));
  EXPECT_TRUE(Convert(high + 1, DType::kBF16).Identical(0x1p63 + 0x1p56));
  EXPECT_TRUE(
      Convert((int64_t{1} << 62) + (int64_t{1} << 38) + 1, DType::kF32).Identical(0x1p62 + 0x1p39));
}

std::vector<DType> StoredDTypes() {
  std::vector<DType> result;
  for (DType d : AllDTypes()) {
    if (d != DType::kF4E2M1FNx2) result.push_back(d);
  }
  return result;
}

// Values that exercise widths, signs, rounding and every kind.
const std::vector<Scalar>& SampleValues() {
  static const std::vector<Scalar> kValues = {0,
                                              1,
                                              -1,
                                              5,
                                              77,
                                              -100,
                                              true,
                                              ~uint64_t{0},
                                              2.5,
                                              -0.0,
                                              1e10,
                                              kInf,
                                              0.1,
                                              -3.7,
                                              Complex(1, -2),
                                              Complex(-0.5, 3e5),
                                              int64_t{1} << 40,
                                              448.0};
  return kValues;
}

TEST(Elements, StoreThenLoadIsConvert) {
  for (DType dtype : StoredDTypes()) {
    for (const Scalar& value : SampleValues()) {
      char storage[65] = {};
      for (int64_t k : {0, 1, 2, 3}) {
        StoreElement(storage + 1, dtype, k, value);  // unaligned on purpose
        EXPECT_TRUE(LoadElement(storage + 1, dtype, k).Identical(Convert(value, dtype)))
            << Name(dtype) << " " << value.ToString();
      }
    }
  }
}

TEST(Elements, SubByteElementsLieBitByBit) {
  for (DType dtype : StoredDTypes()) {
    if (!IsSubByte(dtype)) continue;
    const int width = BitWidth(dtype);
    constexpr int kElements = 21;
    std::mt19937 random(4);
    std::vector<uint8_t> storage(static_cast<size_t>(*ByteSize(dtype, kElements)));
    std::vector<bool> bits(storage.size() * 8);
    for (int step = 0; step < 500; ++step) {
      const int k = static_cast<int>(random() % kElements);
      const int value = static_cast<int>(random());
      StoreElement(storage.data(), dtype, k, value);
      for (int bit = 0; bit < width; ++bit) {
        bits[static_cast<size_t>(k * width + bit)] = (value >> bit & 1) != 0;
      }
      // The whole storage, so that a neighbour's change is seen.
      for (size_t bit = 0; bit < bits.size(); ++bit) {
        ASSERT_EQ((storage[bit / 8] >> (bit % 8) & 1) != 0, bits[bit]) << Name(dtype) << " " << bit;
      }
      ASSERT_TRUE(LoadElement(storage.data(), dtype, k).Identical(Convert(value, dtype)));
    }
  }
}

TEST(Elements, AnyByteButZeroIsTrue) {
  const uint8_t bytes[] = {0, 1, 2, 255};
  EXPECT_TRUE(LoadElement(bytes, DType::kBool, 0).Identical(false));
  for (int64_t k : {1, 2, 3}) EXPECT_TRUE(LoadElement(bytes, DType::kBool, k).Identical(true));
}

TEST(FormatElement, Examples) {
  EXPECT_EQ(FormatElement(1.1f, DType::kF32), "1.1");
  EXPECT_EQ(FormatElement(1.1, DType::kF64), "1.1");
  EXPECT_EQ(FormatElement(static_cast<double>(1.1f), DType::kF64), "1.100000023841858");
  EXPECT_EQ(FormatElement(3.14159, DType::kBF16), "3.14");
  EXPECT_EQ(FormatElement(3.14159, DType::kF16), "3.14");
  EXPECT_EQ(FormatElement(65504, DType::kF16), "65504.0");
  EXPECT_EQ(FormatElement(16, DType::kF8E8M0FNU), "16.0");
  EXPECT_EQ(FormatElement(0.0625, DType::kF8E4M3FN), "0.062");
  EXPECT_EQ(FormatElement(-0.0, DType::kBF16), "-0.0");
  EXPECT_EQ(FormatElement(1e30, DType::kF16), "inf");
  EXPECT_EQ(FormatElement(kNaN, DType::kF8E5M2), "nan");
  EXPECT_EQ(FormatElement(300, DType::kU8), "44");
  EXPECT_EQ(FormatElement(2, DType::kBool), "true");
  EXPECT_EQ(FormatElement(Complex(1.1, -2), DType::kC64), "1.1-2j");
  EXPECT_EQ(FormatElement(Complex(1.1, -2), DType::kC32), "1.1-2j");
}

TEST(FormatElement, EverySmallFloatReadsBack) {
  for (DType dtype : AllDTypes()) {
    if (!IsFloat(dtype) || BitWidth(dtype) > 16 || IsStorageOnly(dtype)) continue;
    for (int code = 0; code < 1 << BitWidth(dtype); ++code) {
      const uint16_t bits = static_cast<uint16_t>(code);
      const Scalar element = LoadElement(&bits, dtype, 0);
      const std::string text = FormatElement(element, dtype);
      ASSERT_TRUE(Convert(MustParse(text), dtype).Identical(element)) << Name(dtype) << " " << text;
      ASSERT_LE(text.size(), 12u) << text;
    }
  }
}

// Without the ".0" that makes a float of it.
size_t LengthOf(const std::string& text) {
  const size_t size = text.size();
  return size > 2 && text.compare(size - 2, 2, ".0") == 0 ? size - 2 : size;
}

TEST(FormatElement, NoShorterRoundingReadsBack) {
  for (DType dtype : AllDTypes()) {
    if (!IsFloat(dtype) || BitWidth(dtype) > 16 || IsStorageOnly(dtype)) continue;
    for (int code = 0; code < 1 << BitWidth(dtype); ++code) {
      const uint16_t bits = static_cast<uint16_t>(code);
      const Scalar element = LoadElement(&bits, dtype, 0);
      const size_t length = LengthOf(FormatElement(element, dtype));
      for (int digits = 1; digits <= 9; ++digits) {
        const Scalar rounded =
            std::strtod(absl::StrFormat("%.*e", digits - 1, element.ToDouble()).c_str(), nullptr);
        if (!Convert(rounded, dtype).Identical(element)) continue;
        ASSERT_LE(length, LengthOf(rounded.ToString())) << Name(dtype) << rounded.ToString();
      }
    }
  }
}

TEST(FormatElement, RandomF32ReadsBack) {
  std::mt19937 random(5);
  for (int i = 0; i < 300000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    const std::string text = FormatElement(value, DType::kF32);
    ASSERT_TRUE(Convert(MustParse(text), DType::kF32).Identical(static_cast<double>(value)))
        << text;
  }
}

}  // namespace
}  // namespace lathe
