#include "dtypes/wide.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "dtypes/dtype.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

using Int128 = __int128;

std::vector<DType> Integers() {
  std::vector<DType> result;
  for (DType d : AllDTypes()) {
    if (IsInteger(d)) result.push_back(d);
  }
  return result;
}

// The mathematical value of an element held in 64 bits, and back.
Int128 ValueOf(int64_t held, DType dtype) {
  return dtype == DType::kU64 ? Int128{static_cast<uint64_t>(held)} : Int128{held};
}
int64_t Held(Int128 value, DType dtype) {
  const Int128 modulus = Int128{1} << BitWidth(dtype);
  Int128 low = value % modulus;
  if (low < 0) low += modulus;
  if (IsSigned(dtype) && low >= modulus / 2) low -= modulus;
  return static_cast<int64_t>(static_cast<uint64_t>(low));
}

Int128 FloorQuotient(Int128 a, Int128 b) {
  const Int128 quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

// All values of the narrow types; edges and random ones of the wide.
std::vector<int64_t> Samples(DType dtype) {
  std::vector<int64_t> result;
  if (BitWidth(dtype) <= 6) {
    for (int64_t v = 0; v < int64_t{1} << BitWidth(dtype); ++v) result.push_back(Held(v, dtype));
    return result;
  }
  const Int128 half = Int128{1} << (BitWidth(dtype) - 1);
  for (Int128 v : {Int128{0}, Int128{1}, Int128{2}, Int128{3}, Int128{7}, Int128{-1}, Int128{-2},
                   Int128{-7}, half, half - 1, half + 1, half / 3}) {
    result.push_back(Held(v, dtype));
  }
  std::mt19937_64 random(6);
  for (int i = 0; i < 24; ++i) {
    result.push_back(Held(static_cast<int64_t>(random()) >> (random() % 64), dtype));
  }
  return result;
}

TEST(Wide, ArithmeticEqualsExactArithmeticWrapped) {
  for (DType d : Integers()) {
    for (int64_t a : Samples(d)) {
      const Int128 x = ValueOf(a, d);
      ASSERT_EQ(WrapNeg(a, d), Held(-x, d)) << Name(d) << " " << a;
      for (int64_t b : Samples(d)) {
        const Int128 y = ValueOf(b, d);
        SCOPED_TRACE(std::string(Name(d)) + " " + std::to_string(a) + " " + std::to_string(b));
        ASSERT_EQ(WrapAdd(a, b, d), Held(x + y, d));
        ASSERT_EQ(WrapSub(a, b, d), Held(x - y, d));
        ASSERT_EQ(WrapMul(a, b, d), Held(static_cast<Int128>(static_cast<unsigned __int128>(x) *
                                                             static_cast<unsigned __int128>(y)),
                                         d));
        ASSERT_EQ(IntLess(a, b, d), x < y);
        if (y == 0) continue;
        ASSERT_EQ(TruncDiv(a, b, d), Held(x / y, d));
        ASSERT_EQ(TruncMod(a, b, d), Held(x % y, d));
        ASSERT_EQ(FloorDiv(a, b, d), Held(FloorQuotient(x, y), d));
        ASSERT_EQ(Mod(a, b, d), Held(x - y * FloorQuotient(x, y), d));
      }
    }
  }
}

TEST(Wide, ShiftsOfEveryAmount) {
  for (DType d : Integers()) {
    for (int64_t a : Samples(d)) {
      const Int128 x = ValueOf(a, d);
      for (int64_t shift : {int64_t{-1}, std::numeric_limits<int64_t>::min(), int64_t{64},
                            int64_t{65}, std::numeric_limits<int64_t>::max()}) {
        ASSERT_EQ(ShiftLeft(a, shift, d), 0);
        ASSERT_EQ(ShiftRight(a, shift, d), x < 0 ? -1 : 0);
      }
      for (int64_t shift = 0; shift < 64; ++shift) {
        SCOPED_TRACE(std::string(Name(d)) + " " + std::to_string(a) + " " + std::to_string(shift));
        const Int128 power = Int128{1} << shift;
        const bool inside = shift < BitWidth(d);
        ASSERT_EQ(ShiftLeft(a, shift, d), inside ? Held(x * power, d) : 0);
        ASSERT_EQ(ShiftRight(a, shift, d), Held(FloorQuotient(x, power), d));
      }
    }
  }
}

TEST(Wide, WrapIntOfAnything) {
  std::mt19937_64 random(7);
  for (DType d : Integers()) {
    for (int i = 0; i < 1000; ++i) {
      const int64_t value = static_cast<int64_t>(random()) >> (random() % 64);
      ASSERT_EQ(WrapInt(value, d), Held(value, d)) << Name(d) << " " << value;
      ASSERT_EQ(WrapInt(static_cast<uint64_t>(value), d), static_cast<uint64_t>(Held(value, d)));
    }
  }
  EXPECT_EQ(WrapInt(int64_t{256}, DType::kBool), 1);
  EXPECT_EQ(WrapInt(int64_t{0}, DType::kBool), 0);
}

TEST(Wide, FloatsToIntegers) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (DType d : Integers()) {
    EXPECT_EQ(FloatToIntWrap(std::nan(""), d), 0);
    EXPECT_EQ(FloatToIntWrap(kInf, d), Held((Int128{1} << 64) - 1, d)) << Name(d);
    EXPECT_EQ(FloatToIntWrap(-kInf, d), Held(-(Int128{1} << 63), d)) << Name(d);
    EXPECT_EQ(FloatToIntWrap(-0x1p63, d), Held(-(Int128{1} << 63), d)) << Name(d);
    EXPECT_EQ(FloatToIntWrap(-1.99, d), Held(-1, d));
    EXPECT_EQ(FloatToIntWrap(-0.99, d), 0);
    std::mt19937_64 random(8);
    for (int i = 0; i < 1000; ++i) {
      const double value = std::ldexp(static_cast<double>(static_cast<int64_t>(random())),
                                      -static_cast<int>(random() % 70));
      ASSERT_EQ(FloatToIntWrap(value, d), Held(static_cast<Int128>(value), d)) << value;
    }
  }
  EXPECT_EQ(FloatToIntWrap(0x1p63 + 2048, DType::kU64),
            static_cast<int64_t>((uint64_t{1} << 63) + 2048));
  EXPECT_EQ(FloatToIntWrap(0.5, DType::kBool), 1);
}

static_assert(FloorDiv(std::numeric_limits<int64_t>::min(), -1, DType::kI64) ==
              std::numeric_limits<int64_t>::min());
static_assert(Mod(-8, -1, DType::kI4) == 0 && FloorDiv(-8, -1, DType::kI4) == -8);

TEST(WideDeathTest, DivisionByZeroIsTheCallersFault) {
  EXPECT_DEATH((void)FloorDiv(1, 0, DType::kI32), "b != 0");
}

}  // namespace
}  // namespace lathe
