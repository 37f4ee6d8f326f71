#include "dtypes/int_value.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "absl/hash/hash.h"
#include "dtypes/value.h"
#include "gtest/gtest.h"

namespace lathe {
namespace {

using Int128 = __int128;

// The oracle: exact numbers, wrapped by arithmetic alone.
Int128 Wrapped(Int128 value, DType dtype) {
  const Int128 modulus = Int128{1} << BitWidth(dtype);
  Int128 low = value % modulus;
  if (low < 0) low += modulus;
  return IsSigned(dtype) && low >= modulus / 2 ? low - modulus : low;
}
Int128 Floor(Int128 a, Int128 b) {
  const Int128 quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
Int128 Bitwise(char op, Int128 a, Int128 b) {  // two's complement of 128 bits
  return op == '&' ? a & b : op == '|' ? a | b : a ^ b;
}
Int128 ShiftedLeft(Int128 a, Int128 shift, DType dtype) {
  if (shift < 0 || shift >= BitWidth(dtype)) return 0;
  return Wrapped(a * (Int128{1} << static_cast<int>(shift)), dtype);
}
Int128 ShiftedRight(Int128 a, Int128 shift, DType dtype) {
  if (shift < 0 || shift >= BitWidth(dtype)) return IsSigned(dtype) && a < 0 ? -1 : 0;
  return Floor(a, Int128{1} << static_cast<int>(shift));
}

template <typename T>
Int128 Exact(T value) {
  return Int128{value.value()};
}

#define EXPECT_EXACT(expression, exact) \
  ASSERT_EQ(Exact(expression), static_cast<Int128>(exact)) << Shown(#expression, a, b)

template <typename T>
std::string Shown(const char* expression, T a, T b) {
  return std::string(Name(T::kDType)) + " " + expression + " of " + FormatValue(a) + " and " +
         FormatValue(b);
}

template <typename T>
void CheckDivisions(T a, T b) {
  const Int128 x = Exact(a), y = Exact(b);
  constexpr DType kDType = T::kDType;
  if (y == 0) {
    for (const absl::StatusOr<T>& result :
         {FloorDivide(a, b), Remainder(a, b), TruncDivide(a, b), Fmod(a, b)}) {
      ASSERT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
    }
    return;
  }
  EXPECT_EXACT(a / b, Wrapped(x / y, kDType));
  EXPECT_EXACT(a % b, x % y);
  EXPECT_EXACT(*TruncDivide(a, b), Wrapped(x / y, kDType));
  EXPECT_EXACT(*Fmod(a, b), x % y);
  EXPECT_EXACT(*FloorDivide(a, b), Wrapped(Floor(x, y), kDType));
  EXPECT_EXACT(*Remainder(a, b), x - y * Floor(x, y));
}

// Every binary operation on one pair, on the value types and on wide.h alike.
template <typename T>
void CheckPair(T a, T b) {
  const Int128 x = Exact(a), y = Exact(b);
  constexpr DType kDType = T::kDType;
  const auto product =
      static_cast<Int128>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y));
  EXPECT_EXACT(a + b, Wrapped(x + y, kDType));
  EXPECT_EXACT(a - b, Wrapped(x - y, kDType));
  EXPECT_EXACT(a * b, Wrapped(product, kDType));
  EXPECT_EXACT(a & b, Wrapped(Bitwise('&', x, y), kDType));
  EXPECT_EXACT(a | b, Wrapped(Bitwise('|', x, y), kDType));
  EXPECT_EXACT(a ^ b, Wrapped(Bitwise('^', x, y), kDType));
  EXPECT_EXACT(a << b, ShiftedLeft(x, y, kDType));
  EXPECT_EXACT(a >> b, ShiftedRight(x, y, kDType));
  EXPECT_EXACT(std::min(a, b), std::min(x, y));
  EXPECT_EXACT(std::max(a, b), std::max(x, y));
  ASSERT_EQ(a == b, x == y) << Shown("==", a, b);
  ASSERT_EQ(a != b, x != y) << Shown("!=", a, b);
  ASSERT_EQ(a < b, x < y) << Shown("<", a, b);
  ASSERT_EQ(a <= b, x <= y) << Shown("<=", a, b);
  ASSERT_EQ(a > b, x > y) << Shown(">", a, b);
  ASSERT_EQ(a >= b, x >= y) << Shown(">=", a, b);
  ASSERT_EQ(IntLess(a.held(), b.held(), kDType), x < y);
  ASSERT_NO_FATAL_FAILURE(CheckDivisions(a, b));
}

template <typename T>
void CheckUnary(T a) {
  const Int128 x = Exact(a);
  const T b = a;
  constexpr DType kDType = T::kDType;
  EXPECT_EXACT(-a, Wrapped(-x, kDType));
  EXPECT_EXACT(~a, Wrapped(-x - 1, kDType));
  EXPECT_EXACT(Abs(a), Wrapped(x < 0 ? -x : x, kDType));
  for (int64_t shift : {int64_t{-1}, int64_t{7}, int64_t{8}, int64_t{63}, int64_t{64}, int64_t{99},
                        std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    EXPECT_EXACT(a << shift, ShiftedLeft(x, shift, kDType));
    EXPECT_EXACT(a >> shift, ShiftedRight(x, shift, kDType));
  }
}

template <typename T>
std::vector<T> AllValues() {
  std::vector<T> values;
  for (int code = 0; code < 1 << BitWidth(T::kDType); ++code) values.push_back(T(code));
  return values;
}

// Around 0, 2^(w-1) and 2^w, and random ones of every magnitude.
template <typename T>
std::vector<T> Edges() {
  std::vector<T> values;
  const Int128 half = Int128{1} << (BitWidth(T::kDType) - 1);
  for (Int128 middle : {Int128{0}, half, 2 * half}) {
    for (int offset = -5; offset <= 5; ++offset) {
      values.push_back(T(static_cast<uint64_t>(middle + offset)));
    }
  }
  std::mt19937_64 random(21);
  for (int i = 0; i < 300; ++i) values.push_back(T(random() >> (random() % 64)));
  return values;
}

template <typename T>
void CheckAllPairs(const std::vector<T>& values) {
  for (T a : values) {
    ASSERT_NO_FATAL_FAILURE(CheckUnary(a));
    for (T b : values) ASSERT_NO_FATAL_FAILURE(CheckPair(a, b));
  }
}

template <int... kBits>
void CheckNarrow(std::integer_sequence<int, kBits...>) {
  (CheckAllPairs(AllValues<U<kBits + 1>>()), ...);
  (CheckAllPairs(AllValues<I<kBits + 1>>()), ...);
}

TEST(IntValue, EveryPairOfEveryWidthTo8) { CheckNarrow(std::make_integer_sequence<int, 8>()); }

TEST(IntValue, EdgesAndRandomPairsOfTheWiderOnes) {
  CheckAllPairs(Edges<U<16>>());
  CheckAllPairs(Edges<I<16>>());
  CheckAllPairs(Edges<U<32>>());
  CheckAllPairs(Edges<I<32>>());
  CheckAllPairs(Edges<U<64>>());
  CheckAllPairs(Edges<I<64>>());
}

TEST(IntValue, NumbersWrapWhenTheyBecomeValues) {
  EXPECT_EQ(U<4>(-1).value(), 15);
  EXPECT_EQ(I<3>(4).value(), -4);
  EXPECT_EQ(U<1>(3).value(), 1);
  EXPECT_EQ(I<1>(1).value(), -1);
  EXPECT_EQ(U<8>(300.9).value(), 44);
  EXPECT_EQ(U<8>(-1.5f).value(), 255);
  EXPECT_EQ(I<4>(std::nan("")).value(), 0);
  EXPECT_EQ(U<64>(-1).value(), ~uint64_t{0});
  EXPECT_EQ(I<4>(U<8>(200)).value(), -8);
  EXPECT_EQ(static_cast<double>(U<64>::Max()), 0x1p64);
}

TEST(IntValue, Limits) {
  EXPECT_EQ(U<3>::Max().value(), 7);
  EXPECT_EQ(I<3>::Min().value(), -4);
  EXPECT_EQ(I<3>::Max().value(), 3);
  EXPECT_EQ(I<1>::Min().value(), -1);
  EXPECT_EQ(I<1>::Max().value(), 0);
  EXPECT_EQ(U<64>::Max().value(), ~uint64_t{0});
  EXPECT_EQ(I<64>::Min().value(), std::numeric_limits<int64_t>::min());
}

TEST(IntValue, HashesSpread) {
  std::set<size_t> hashes;
  for (U<7> a : AllValues<U<7>>()) hashes.insert(absl::Hash<U<7>>()(a));
  EXPECT_EQ(hashes.size(), 128u);
  EXPECT_EQ(absl::Hash<I<4>>()(I<4>(15)), absl::Hash<I<4>>()(I<4>(-1)));
}

static_assert((U<4>(13) + U<4>(5)).value() == 2 && I<8>(-128) / I<8>(-1) == I<8>(-128));
static_assert(sizeof(U<3>) == 1 && sizeof(I<16>) == 2 && sizeof(U<64>) == 8);
static_assert(std::is_trivially_copyable_v<U<5>>);

}  // namespace
}  // namespace lathe
