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
constexpr Int128 kNoResult = Int128{1} << 100;  // of a division by zero

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

std::string Text(Int128 value) {
  return value < 0 ? std::to_string(static_cast<int64_t>(value))
                   : std::to_string(static_cast<uint64_t>(value));
}

// One function for all types: tests of 22 types times 25 operations compile slowly otherwise.
struct Checker {
  DType dtype;
  Int128 a, b;
  void operator()(const char* op, Int128 actual, Int128 exact) const {
    if (__builtin_expect(actual != exact, 0)) Fail(op, actual, exact);
  }
  void Fail(const char* op, Int128 actual, Int128 exact) const {
    ADD_FAILURE() << Name(dtype) << " " << Text(a) << " " << op << " " << Text(b) << " is "
                  << Text(actual) << " and not " << Text(exact);
  }
};

template <typename T>
Int128 ExactOr(const absl::StatusOr<T>& result) {
  return result.ok() ? Exact(*result) : kNoResult;
}

template <typename T>
void CheckDivisions(const Checker& check, T a, T b) {
  const Int128 x = check.a, y = check.b;
  constexpr DType kDType = T::kDType;
  const bool divides = y != 0;
  check("trunc div", ExactOr(TruncDivide(a, b)), divides ? Wrapped(x / y, kDType) : kNoResult);
  check("fmod", ExactOr(Fmod(a, b)), divides ? x % y : kNoResult);
  check("floor div", ExactOr(FloorDivide(a, b)),
        divides ? Wrapped(Floor(x, y), kDType) : kNoResult);
  check("remainder", ExactOr(Remainder(a, b)), divides ? x - y * Floor(x, y) : kNoResult);
  if (!divides) return;
  check("/", Exact(a / b), Wrapped(x / y, kDType));
  check("%", Exact(a % b), x % y);
}

// Every binary operation on one pair.
template <typename T>
void CheckPair(T a, T b) {
  const Int128 x = Exact(a), y = Exact(b);
  constexpr DType kDType = T::kDType;
  const Checker check{kDType, x, y};
  const auto product =
      static_cast<Int128>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y));
  check("+", Exact(a + b), Wrapped(x + y, kDType));
  check("-", Exact(a - b), Wrapped(x - y, kDType));
  check("*", Exact(a * b), Wrapped(product, kDType));
  check("&", Exact(a & b), Wrapped(Bitwise('&', x, y), kDType));
  check("|", Exact(a | b), Wrapped(Bitwise('|', x, y), kDType));
  check("^", Exact(a ^ b), Wrapped(Bitwise('^', x, y), kDType));
  check("<<", Exact(a << b), ShiftedLeft(x, y, kDType));
  check(">>", Exact(a >> b), ShiftedRight(x, y, kDType));
  check("min", Exact(std::min(a, b)), std::min(x, y));
  check("max", Exact(std::max(a, b)), std::max(x, y));
  check("==", a == b, x == y);
  check("!=", a != b, x != y);
  check("<", a < b, x < y);
  check("<=", a <= b, x <= y);
  check(">", a > b, x > y);
  check(">=", a >= b, x >= y);
  check("IntLess", IntLess(a.held(), b.held(), kDType), x < y);
  CheckDivisions(check, a, b);
}

template <typename T>
void CheckUnary(T a) {
  const Int128 x = Exact(a);
  constexpr DType kDType = T::kDType;
  Checker check{kDType, x, 0};
  check("negated", Exact(-a), Wrapped(-x, kDType));
  check("~", Exact(~a), Wrapped(-x - 1, kDType));
  check("abs", Exact(Abs(a)), Wrapped(x < 0 ? -x : x, kDType));
  for (int64_t shift : {int64_t{-1}, int64_t{7}, int64_t{8}, int64_t{63}, int64_t{64}, int64_t{99},
                        std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    check.b = shift;
    check("<<", Exact(a << shift), ShiftedLeft(x, shift, kDType));
    check(">>", Exact(a >> shift), ShiftedRight(x, shift, kDType));
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
    CheckUnary(a);
    for (T b : values) CheckPair(a, b);
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
