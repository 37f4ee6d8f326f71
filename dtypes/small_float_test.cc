#include "dtypes/small_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "dtypes/recorded_vectors.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

const std::vector<DType>& SmallFloats() {
  static const std::vector<DType> kAll = {DType::kF16,      DType::kBF16,       DType::kF8E4M3FN,
                                          DType::kF8E5M2,   DType::kF8E4M3FNUZ, DType::kF8E5M2FNUZ,
                                          DType::kF8E8M0FNU};
  return kAll;
}

int CodeCount(DType dtype) { return 1 << BitWidth(dtype); }

uint32_t Encode(DType dtype, float value) {
  if (dtype == DType::kF16) return EncodeF16(value);
  if (dtype == DType::kBF16) return EncodeBF16(value);
  return EncodeF8(dtype, value);
}

float Decode(DType dtype, uint32_t code) {
  if (dtype == DType::kF16) return DecodeF16(static_cast<uint16_t>(code));
  if (dtype == DType::kBF16) return DecodeBF16(static_cast<uint16_t>(code));
  return DecodeF8(dtype, static_cast<uint8_t>(code));
}

struct Format {
  int mantissa, bias, exponents;  // exponents: how many exponent fields hold finite numbers
};
Format FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return {10, 15, 31};
    case DType::kBF16:
      return {7, 127, 255};
    case DType::kF8E4M3FN:
      return {3, 7, 16};
    case DType::kF8E5M2:
      return {2, 15, 31};
    case DType::kF8E4M3FNUZ:
      return {3, 8, 16};
    case DType::kF8E5M2FNUZ:
      return {2, 16, 32};
    default:
      ADD_FAILURE();
      return {};
  }
}

// A code's value straight from the format's definition; NaN and infinity are the caller's.
double DecodeByDefinition(DType dtype, uint32_t code) {
  const Format format = FormatOf(dtype);
  const uint32_t sign_bit = static_cast<uint32_t>(CodeCount(dtype)) / 2;
  const int field = static_cast<int>((code & (sign_bit - 1)) >> format.mantissa);
  const int fraction = static_cast<int>(code & ((1u << format.mantissa) - 1));
  const int whole = field == 0 ? fraction : fraction + (1 << format.mantissa);
  const double magnitude =
      std::ldexp(whole, (field == 0 ? 1 : field) - format.bias - format.mantissa);
  return (code & sign_bit) != 0 ? -magnitude : magnitude;
}

// Slow rounding: the magnitude is scaled until its last place is 1 and rounded by nearbyint.
// Returns the rounded value, which may be past the format's largest.
double RoundByDefinition(DType dtype, double value) {
  const Format format = FormatOf(dtype);
  int exponent = 0;
  std::frexp(value, &exponent);  // value = m * 2^exponent, 0.5 <= m < 1
  const int last_place = std::max(exponent - 1, 1 - format.bias) - format.mantissa;
  return std::ldexp(std::nearbyint(std::ldexp(value, -last_place)), last_place);
}

double Largest(DType dtype) {
  const Format format = FormatOf(dtype);
  const double last = dtype == DType::kF8E4M3FN ? 1.75 : 2 - std::ldexp(1.0, -format.mantissa);
  return std::ldexp(last, format.exponents - 1 - format.bias);
}

bool OverflowsToInfinity(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16 || dtype == DType::kF8E5M2;
}

void ExpectRoundsTo(DType dtype, double value, float encoded) {
  const double rounded = RoundByDefinition(dtype, value);
  if (std::abs(rounded) > Largest(dtype)) {
    EXPECT_TRUE(OverflowsToInfinity(dtype) ? std::isinf(encoded) : std::isnan(encoded))
        << Name(dtype) << " of " << value << " is " << encoded;
  } else {
    ASSERT_EQ(rounded, encoded) << Name(dtype) << " of " << value;
    const bool is_fnuz = dtype == DType::kF8E4M3FNUZ || dtype == DType::kF8E5M2FNUZ;
    if (!is_fnuz) {
      ASSERT_EQ(std::signbit(rounded), std::signbit(encoded)) << value;
    }
  }
}

TEST(SmallFloat, EveryCodeSurvivesARoundTrip) {
  for (DType dtype : SmallFloats()) {
    for (int i = 0; i < CodeCount(dtype); ++i) {
      const uint32_t code = static_cast<uint32_t>(i);
      const float value = Decode(dtype, code);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(Decode(dtype, Encode(dtype, value)))) << Name(dtype) << " " << i;
      } else {
        ASSERT_EQ(Encode(dtype, value), code) << Name(dtype) << " " << value;
      }
    }
  }
}

TEST(SmallFloat, EveryFiniteCodeHasTheValueOfItsDefinition) {
  for (DType dtype : SmallFloats()) {
    if (dtype == DType::kF8E8M0FNU) continue;
    int finite = 0;
    for (int i = 0; i < CodeCount(dtype); ++i) {
      const float value = Decode(dtype, static_cast<uint32_t>(i));
      if (!std::isfinite(value)) continue;
      ++finite;
      ASSERT_EQ(value, DecodeByDefinition(dtype, static_cast<uint32_t>(i))) << Name(dtype) << i;
    }
    const int exponents = FormatOf(dtype).exponents;
    int expected = 2 * exponents << FormatOf(dtype).mantissa;
    if (dtype == DType::kF8E4M3FN) expected -= 2;  // the two NaN
    if (dtype == DType::kF8E4M3FNUZ || dtype == DType::kF8E5M2FNUZ) expected -= 1;
    EXPECT_EQ(finite, expected) << Name(dtype);
  }
  for (int i = 0; i < 255; ++i) {
    ASSERT_EQ(DecodeF8(DType::kF8E8M0FNU, static_cast<uint8_t>(i)), std::ldexp(1.0, i - 127));
  }
  EXPECT_TRUE(std::isnan(DecodeF8(DType::kF8E8M0FNU, 255)));
}

TEST(SmallFloat, EqualsPyTorchsRecordedCodes) {
  const rapidjson::Document recorded = ReadVectors("small_floats.json");
  int types = 0;
  for (const auto& entry : recorded.GetObject()) {
    const DType dtype = DTypeOfTorchName(entry.name.GetString());
    ++types;
    for (const auto& pair : entry.value["encode"].GetArray()) {
      const double value = std::strtod(pair[0].GetString(), nullptr);
      EXPECT_EQ(Encode(dtype, static_cast<float>(value)), pair[1].GetUint())
          << Name(dtype) << " of " << pair[0].GetString();
    }
    if (!entry.value.HasMember("decode")) continue;
    uint32_t code = 0;
    for (const auto& text : entry.value["decode"].GetArray()) {
      const double value = std::strtod(text.GetString(), nullptr);
      const float decoded = Decode(dtype, code++);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decoded)) << Name(dtype) << " " << code - 1;
      } else {
        EXPECT_EQ(decoded, value) << Name(dtype) << " " << code - 1;
        EXPECT_EQ(std::signbit(decoded), std::signbit(value)) << Name(dtype) << " " << code - 1;
      }
    }
    EXPECT_EQ(code, 256u);
  }
  EXPECT_EQ(types, 7);
}

// Halfway values, their neighbours, and the codes themselves: where rounding can go wrong.
TEST(SmallFloat, RoundsHalfwayValuesToEven) {
  for (DType dtype : SmallFloats()) {
    if (dtype == DType::kF8E8M0FNU) continue;
    for (int i = 0; i + 1 < CodeCount(dtype) / 2; ++i) {
      const double low = Decode(dtype, static_cast<uint32_t>(i));
      const double high = Decode(dtype, static_cast<uint32_t>(i + 1));
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const float middle = static_cast<float>((low + high) / 2);
      for (float value : {middle, std::nextafterf(middle, 0), std::nextafterf(middle, INFINITY)}) {
        ExpectRoundsTo(dtype, value, Decode(dtype, Encode(dtype, value)));
        ExpectRoundsTo(dtype, -value, Decode(dtype, Encode(dtype, -value)));
      }
    }
  }
}

TEST(SmallFloat, RoundsRandomFloatsToNearest) {
  std::mt19937 random(1);
  for (DType dtype : SmallFloats()) {
    if (dtype == DType::kF8E8M0FNU) continue;
    const Format format = FormatOf(dtype);
    for (int i = 0; i < 100000; ++i) {
      // Exponents from below the smallest subnormal to past the largest number.
      const int spread = format.exponents + format.mantissa + 8;
      const int exponent = static_cast<int>(random() % static_cast<uint32_t>(spread)) -
                           format.bias - format.mantissa - 4;
      const double mantissa = 1 + static_cast<double>(random()) / 4294967296.0;
      const float value = static_cast<float>(
          std::ldexp(random() % 2 ? mantissa : -mantissa, std::min(exponent, 127)));
      if (std::isinf(value)) continue;
      ExpectRoundsTo(dtype, value, Decode(dtype, Encode(dtype, value)));
    }
  }
}

TEST(SmallFloat, LargestAndOverflow) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (DType dtype : SmallFloats()) {
    for (float value : {infinity, std::numeric_limits<float>::max()}) {
      const float back = Decode(dtype, Encode(dtype, value));
      EXPECT_TRUE(OverflowsToInfinity(dtype) ? back == infinity : std::isnan(back)) << Name(dtype);
    }
    EXPECT_TRUE(std::isnan(Decode(dtype, Encode(dtype, std::nanf(""))))) << Name(dtype);
  }
  EXPECT_EQ(EncodeF16(65519.996f), 0x7bff);
  EXPECT_EQ(EncodeF16(65520.0f), 0x7c00);
}

TEST(SmallFloat, E8M0TakesTheNearestPowerOfTwo) {
  const auto encode = [](float value) { return EncodeF8(DType::kF8E8M0FNU, value); };
  EXPECT_EQ(encode(1.0f), 127);
  EXPECT_EQ(encode(-4.0f), 129);
  EXPECT_EQ(encode(std::nextafterf(1.5f, 0)), 127);
  EXPECT_EQ(encode(1.5f), 128);
  EXPECT_EQ(encode(std::ldexp(1.4f, 127)), 254);
  EXPECT_EQ(encode(std::ldexp(1.5f, 127)), 255);
  EXPECT_EQ(encode(0.0f), 0);
  EXPECT_EQ(encode(std::ldexp(1.0f, -127)), 0);
  EXPECT_EQ(encode(std::nextafterf(std::ldexp(1.0f, -127), 1)), 1);
  EXPECT_EQ(encode(std::ldexp(1.0f, -126)), 1);
}

TEST(SmallFloat, E8M0OfRandomFloatsIsNearest) {
  std::mt19937 random(12);
  for (int i = 0; i < 100000; ++i) {
    // Normal floats only: below 2^-126 PyTorch's rule is another (tested above).
    const uint32_t bits = random() & 0x7fffffff;
    const float value = std::bit_cast<float>(bits);
    if (!std::isnormal(value)) continue;
    const int low = std::ilogb(value);
    const bool goes_up = value / std::ldexp(1.0, low) >= 1.5;
    ASSERT_EQ(EncodeF8(DType::kF8E8M0FNU, value), low + 127 + (goes_up ? 1 : 0)) << value;
  }
}

// A double just past a halfway value, which as a float would be that halfway value.
TEST(SmallFloat, DoublesRoundOnce) {
  EXPECT_EQ(BF16::FromDouble(1 + 0x1p-8 + 0x1p-40).bits, 0x3f81);
  EXPECT_EQ(EncodeBF16(static_cast<float>(1 + 0x1p-8 + 0x1p-40)), 0x3f80);
  EXPECT_EQ(F16::FromDouble(-(1 + 0x1p-11 + 0x1p-50)).bits, 0xbc01);
  EXPECT_EQ(F8E4M3FN::FromDouble(1 + 0x1p-4 + 0x1p-50).bits, 0x39);
  EXPECT_EQ(F16::FromDouble(0x1p-25 + 0x1p-70).bits, 1);
  EXPECT_EQ(F16::FromDouble(1e300).bits, 0x7c00);
  EXPECT_EQ(F16::FromDouble(-1e-300).bits, 0x8000);
  EXPECT_EQ(F16::FromDouble(-std::numeric_limits<double>::infinity()).bits, 0xfc00);
  EXPECT_TRUE(std::isnan(F16::FromDouble(std::nan("")).ToFloat()));
}

template <typename T>
void ExpectDoublesRoundByDefinition(DType dtype) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100000; ++i) {
    // Near the middle of two neighbours, at a distance that a float cannot see.
    const uint32_t code =
        static_cast<uint32_t>(random()) % static_cast<uint32_t>(CodeCount(dtype) / 2 - 1);
    const double low = Decode(dtype, code), high = Decode(dtype, code + 1);
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const double offset = (high - low) * std::ldexp(1.0, -30 - static_cast<int>(random() % 10));
    const double value = (low + high) / 2 + (random() % 2 ? offset : -offset);
    ExpectRoundsTo(dtype, value, T::FromDouble(value).ToFloat());
    ExpectRoundsTo(dtype, -value, T::FromDouble(-value).ToFloat());
  }
}

TEST(SmallFloat, DoublesRoundOnceEverywhere) {
  ExpectDoublesRoundByDefinition<F16>(DType::kF16);
  ExpectDoublesRoundByDefinition<BF16>(DType::kBF16);
  ExpectDoublesRoundByDefinition<F8E4M3FN>(DType::kF8E4M3FN);
  ExpectDoublesRoundByDefinition<F8E5M2>(DType::kF8E5M2);
  ExpectDoublesRoundByDefinition<F8E4M3FNUZ>(DType::kF8E4M3FNUZ);
  ExpectDoublesRoundByDefinition<F8E5M2FNUZ>(DType::kF8E5M2FNUZ);
}

static_assert(EncodeF16(1.0f) == 0x3c00 && DecodeBF16(0x3f80) == 1.0f, "usable in constants");

}  // namespace
}  // namespace lathe
