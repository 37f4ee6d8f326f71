#include "dtypes/convert.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "dtypes/convert_steps.h"
#include "dtypes/convert_testing.h"
#include "dtypes/dtype.h"
#include "dtypes/guarded_buffer.h"
#include "dtypes/packing.h"
#include "dtypes/scalar.h"
#include "dtypes/small_float.h"
#include "dtypes/visit.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hwy/highway.h"

namespace lathe {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<uint8_t>;
using Complex = std::complex<double>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr ConvertMode kModes[] = {ConvertMode::kWrap, ConvertMode::kSaturate,
                                  ConvertMode::kChecked};

std::vector<DType> Convertible() {
  std::vector<DType> result;
  for (DType dtype : AllDTypes()) {
    if (dtype != DType::kF4E2M1FNx2) result.push_back(dtype);
  }
  return result;
}

size_t SizeOf(DType dtype, int64_t count) { return static_cast<size_t>(*ByteSize(dtype, count)); }

Bytes RandomBytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
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

// The same, with results through the caches and past them.
template <typename F>
void OnEveryTargetAndPath(F&& test) {
  for (int64_t streamed_bytes : {kDefaultStreamedBytes, int64_t{1}}) {
    SetStreamedBytesForTest(streamed_bytes);
    SCOPED_TRACE(streamed_bytes);
    OnEveryTarget(test);
  }
  SetStreamedBytesForTest(kDefaultStreamedBytes);
}

std::string PairName(DType from, DType to, ConvertMode mode) {
  return std::string(Name(from)) + " to " + std::string(Name(to)) + ", mode " +
         std::to_string(static_cast<int>(mode));
}

// Where ranges end and rounding turns, for every type.
const std::vector<Scalar>& SpecialValues() {
  static const std::vector<Scalar> kValues = [] {
    std::vector<Scalar> values = {0,
                                  1,
                                  -1,
                                  0.5,
                                  -0.5,
                                  0.99,
                                  -0.99,
                                  -0.0,
                                  kInf,
                                  -kInf,
                                  kNaN,
                                  1e300,
                                  -1e300,
                                  1e-300,
                                  5e-324,
                                  2.5,
                                  Complex(1, 2),
                                  Complex(300, 0),
                                  Complex(-1e300, 1),
                                  true};
    for (int bits = 1; bits <= 64; ++bits) {
      const double power = std::ldexp(1.0, bits);
      for (double offset : {-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0}) {
        values.push_back(power + offset);
        values.push_back(-power + offset);
      }
      values.push_back(std::nextafter(power, 0));
      values.push_back(std::nextafter(power, kInf));
      const uint64_t integer = bits == 64 ? 0 : uint64_t{1} << bits;
      for (uint64_t value : {integer - 1, integer, integer + 1, -integer, -integer - 1}) {
        values.push_back(value);
        values.push_back(static_cast<int64_t>(value));
      }
    }
    for (double end :
         {448.0, 464.0, 480.0, 57344.0, 61440.0, 65504.0, 65519.0, 65520.0, 240.0, 248.0, 0x1p-127,
          0x1p-126, 0x1.fep127, 0x1.ffp127, 0x1.8p127, 0x1.fffffep127, 0x1.ffffffp127}) {
      for (double value : {end, std::nextafter(end, 0), std::nextafter(end, kInf)}) {
        values.push_back(value);
        values.push_back(-value);
        values.push_back(static_cast<double>(std::nextafter(static_cast<float>(value), 0.0f)));
      }
    }
    return values;
  }();
  return kValues;
}

// Special values as elements of the type, then random bits.
Bytes SourceOf(DType dtype, int64_t count) {
  Bytes bytes = RandomBytes(SizeOf(dtype, count), static_cast<uint32_t>(dtype));
  const int64_t special =
      std::min<int64_t>(count * 3 / 4, static_cast<int64_t>(SpecialValues().size()));
  for (int64_t k = 0; k < special; ++k) {
    StoreElement(bytes.data(), dtype, k, SpecialValues()[static_cast<size_t>(k)]);
  }
  return bytes;
}

// The buffer's conversion against the conversion of each number.
void ExpectEqualsScalars(DType from, DType to, ConvertMode mode, const Bytes& source, int64_t count,
                         const Bytes& result, const absl::Status& status) {
  int64_t first_misfit = count;
  for (int64_t k = 0; k < count && first_misfit == count; ++k) {
    const Scalar value = LoadElement(source.data(), from, k);
    const absl::StatusOr<Scalar> expected = ConvertAs(value, to, mode);
    if (!expected.ok()) {
      first_misfit = k;
    } else if (status.ok()) {
      const Scalar actual = LoadElement(result.data(), to, k);
      ASSERT_TRUE(actual.Identical(*expected))
          << "element " << k << ", " << value.ToString() << " is " << actual.ToString()
          << " and not " << expected->ToString();
    }
  }
  ASSERT_EQ(status.ok(), first_misfit == count) << status << " first misfit " << first_misfit;
  if (!status.ok()) {
    ASSERT_THAT(std::string(status.message()),
                HasSubstr("element " + std::to_string(first_misfit) + ", "));
  }
}

bool CopiesPayloads(DType from, DType to) { return from == to && !IsIntegral(to); }

TEST(ConvertBuffer, EveryPairAndModeOnEveryTarget) {
  const int64_t count = static_cast<int64_t>(SpecialValues().size()) + 801;
  for (DType from : Convertible()) {
    const Bytes source = SourceOf(from, count);
    for (DType to : Convertible()) {
      for (ConvertMode mode : kModes) {
        SCOPED_TRACE(PairName(from, to, mode));
        Bytes first_result;
        OnEveryTargetAndPath([&] {
          Bytes result(SizeOf(to, count));
          const absl::Status status =
              ConvertBuffer(source.data(), from, 0, result.data(), to, 0, count, mode);
          if (first_result.empty() && !CopiesPayloads(from, to)) {
            ExpectEqualsScalars(from, to, mode, source, count, result, status);
          }
          if (first_result.empty()) first_result = result;
          // Also the payloads of NaN.
          ASSERT_TRUE(!status.ok() || result == first_result);
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The loops by themselves, over whole bytes; also where one writes over what it reads.
TEST(ConvertSteps, GiveTheBitsOfConvertBuffer) {
  constexpr int64_t kCount = 403;
  for (DType from : Convertible()) {
    for (DType to : Convertible()) {
      if (IsComplex(from) || IsComplex(to) || IsSubByte(from) || IsSubByte(to)) continue;
      if (from == to) continue;
      SCOPED_TRACE(PairName(from, to, ConvertMode::kWrap));
      const Bytes source = SourceOf(from, kCount);
      OnEveryTarget([&] {
        Bytes expected(SizeOf(to, kCount));
        ASSERT_TRUE(ConvertBuffer(source.data(), from, 0, expected.data(), to, 0, kCount).ok());
        Bytes in = source, out;
        DType now = from;
        for (const ConvertStep& step : ConvertSteps(from, to)) {
          if (BitWidth(step.out) == BitWidth(now)) {
            step.loop(in.data(), in.data(), kCount);
          } else {
            out.resize(SizeOf(step.out, kCount));
            step.loop(in.data(), out.data(), kCount);
            in.swap(out);
          }
          now = step.out;
        }
        in.resize(SizeOf(to, kCount));
        ASSERT_TRUE(in == expected);
      });
      if (HasFatalFailure()) return;
    }
  }
}

// Of a source of misfits here and there, the first one is named.
TEST(ConvertBuffer, CheckedNamesTheFirstElementThatDoesNotFit) {
  OnEveryTarget([] {
    for (DType from : {DType::kI32, DType::kF32, DType::kF64, DType::kU64, DType::kBF16}) {
      for (DType to : {DType::kU8, DType::kI3, DType::kBool, DType::kF8E4M3FN, DType::kF8E8M0FNU}) {
        for (int64_t misfit = 0; misfit < 1100; misfit += misfit < 70 ? 1 : 97) {
          std::vector<double> source(1100, 1.0);
          Bytes values(SizeOf(from, 1100)), result(SizeOf(to, 1100));
          source[static_cast<size_t>(misfit)] = source[1099] = 60000;
          for (int64_t k = 0; k < 1100; ++k) {
            StoreElement(values.data(), from, k, source[static_cast<size_t>(k)]);
          }
          const absl::Status status = ConvertBuffer(values.data(), from, 0, result.data(), to, 0,
                                                    1100, ConvertMode::kChecked);
          if (to == DType::kF8E8M0FNU) {
            ASSERT_TRUE(status.ok()) << status;
          } else {
            ASSERT_EQ(status.code(), absl::StatusCode::kOutOfRange);
            ASSERT_THAT(std::string(status.message()),
                        HasSubstr("element " + std::to_string(misfit) + ", "))
                << Name(from) << " to " << Name(to);
          }
        }
      }
    }
  });
  const float values[] = {1, 2, 300.5f};
  uint8_t bytes[3];
  EXPECT_EQ(std::string(ConvertBuffer(values, DType::kF32, 0, bytes, DType::kU8, 0, 3,
                                      ConvertMode::kChecked)
                            .message()),
            "element 2, 300.5 of f32, does not fit u8");
}

// Tails of every length have the bits that the whole conversion has there, and nothing past the
// buffers is touched.
TEST(ConvertBuffer, EveryLengthTo130) {
  constexpr int64_t kMost = 130;
  GuardedBuffer from_pages(kMost * 16), to_pages(kMost * 16);
  for (DType from : Convertible()) {
    const Bytes source = SourceOf(from, kMost);
    for (DType to : Convertible()) {
      for (ConvertMode mode : {ConvertMode::kWrap, ConvertMode::kSaturate}) {
        Bytes whole(SizeOf(to, kMost));
        ASSERT_TRUE(ConvertBuffer(source.data(), from, 0, whole.data(), to, 0, kMost, mode).ok());
        OnEveryTarget([&] {
          for (int64_t n = 0; n <= kMost; ++n) {
            uint8_t* const in = from_pages.data() + from_pages.size() - SizeOf(from, n);
            uint8_t* const out = to_pages.data() + to_pages.size() - SizeOf(to, n);
            std::memcpy(in, source.data(), SizeOf(from, n));
            std::memset(out, 0, SizeOf(to, n));
            ASSERT_TRUE(ConvertBuffer(in, from, 0, out, to, 0, n, mode).ok());
            Bytes expected(whole.begin(), whole.begin() + static_cast<int64_t>(SizeOf(to, n)));
            const int used = static_cast<int>(n % 8 * BitWidth(to) % 8);
            if (IsSubByte(to) && used != 0) {
              expected.back() = static_cast<uint8_t>(expected.back() & ((1 << used) - 1));
            }
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), out))
                << PairName(from, to, mode) << " length " << n;
          }
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

// All of them several times, in another place each time.
TEST(ConvertBuffer, EveryCodeOfTheNarrowTypes) {
  for (DType from : Convertible()) {
    if (BitWidth(from) > 16 || IsComplex(from)) continue;
    const int64_t count = BitWidth(from) == 16 ? 65536 + 800 : 2000;
    Bytes source(SizeOf(from, count));
    for (int64_t k = 0; k < count; ++k) {
      const uint16_t code = static_cast<uint16_t>(k);
      if (IsSubByte(from)) StoreElement(source.data(), from, k, k);
      if (BitWidth(from) == 8) source[static_cast<size_t>(k)] = static_cast<uint8_t>(k);
      if (BitWidth(from) == 16) std::memcpy(source.data() + 2 * k, &code, 2);
    }
    for (DType to : Convertible()) {
      if (CopiesPayloads(from, to)) continue;
      for (ConvertMode mode : {ConvertMode::kWrap, ConvertMode::kSaturate}) {
        SCOPED_TRACE(PairName(from, to, mode));
        Bytes first_result;
        OnEveryTargetAndPath([&] {
          Bytes result(SizeOf(to, count));
          const absl::Status status =
              ConvertBuffer(source.data(), from, 0, result.data(), to, 0, count, mode);
          if (first_result.empty()) {
            ExpectEqualsScalars(from, to, mode, source, count, result, status);
            first_result = result;
          }
          ASSERT_TRUE(result == first_result);
        });
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Around each code of f16, bf16 and f8: the codes, the middles between neighbours, and what is next
// to these.
TEST(ConvertBuffer, F32RoundsAsTheDefinitionDoesAroundEveryCode) {
  for (DType to : Convertible()) {
    if (!IsFloat(to) || BitWidth(to) > 16) continue;
    VisitPlain(to, [&]<typename T>(TypeTag<T>) {
      if constexpr (requires(T small) { small.ToFloat(); }) {
        std::vector<float> values;
        for (int code = 0; code < 1 << BitWidth(to); ++code) {
          const float value = T{static_cast<decltype(T::bits)>(code)}.ToFloat();
          const float next = T{static_cast<decltype(T::bits)>(code + 1)}.ToFloat();
          const float middle = value / 2 + next / 2;
          for (float x : {value, middle}) {
            for (float y : {std::nextafterf(x, -INFINITY), x, std::nextafterf(x, INFINITY)}) {
              values.push_back(y);
            }
          }
        }
        const int64_t count = static_cast<int64_t>(values.size());
        std::vector<T> result(values.size());
        OnEveryTargetAndPath([&] {
          ASSERT_TRUE(
              ConvertBuffer(values.data(), DType::kF32, 0, result.data(), to, 0, count).ok());
          for (size_t k = 0; k < values.size(); ++k) {
            ASSERT_EQ(result[k].bits, T::FromFloat(values[k]).bits) << Name(to) << values[k];
          }
          std::vector<float> back(values.size());
          ASSERT_TRUE(ConvertBuffer(result.data(), to, 0, back.data(), DType::kF32, 0, count).ok());
          for (size_t k = 0; k < values.size(); ++k) {
            ASSERT_EQ(std::bit_cast<uint32_t>(back[k]),
                      std::bit_cast<uint32_t>(result[k].ToFloat()));
          }
        });
      }
    });
  }
}

TEST(ConvertBuffer, AnyOffsetOfPackedElements) {
  std::mt19937 random(41);
  for (DType from : Convertible()) {
    for (DType to : Convertible()) {
      if (!IsSubByte(from) && !IsSubByte(to)) continue;
      for (int trial = 0; trial < 4; ++trial) {
        const int64_t from_first = random() % 23, to_first = random() % 23;
        const int64_t count = random() % (trial == 0 ? 2500 : 90);
        const Bytes source = RandomBytes(SizeOf(from, from_first + count), 42);
        Bytes result = RandomBytes(SizeOf(to, to_first + count) + 1, 43), expected = result;
        ASSERT_TRUE(
            ConvertBuffer(source.data(), from, from_first, result.data(), to, to_first, count)
                .ok());
        for (int64_t k = 0; k < count; ++k) {
          StoreElement(expected.data(), to, to_first + k,
                       LoadElement(source.data(), from, from_first + k));
        }
        ASSERT_EQ(result, expected) << PairName(from, to, ConvertMode::kWrap) << count;
      }
    }
  }
}

// Results past the caches' size are written around them.
TEST(ConvertBuffer, LargeResultsEqualSmallOnes) {
  struct Case {
    DType from, to;
    int64_t count;
    int64_t to_first;
  };
  constexpr int64_t kMega = int64_t{1} << 20;
  for (const Case& c : {Case{DType::kU4, DType::kF32, 5 * kMega + 77, 3},
                        Case{DType::kU4, DType::kBF16, 9 * kMega + 13, 31},
                        Case{DType::kI16, DType::kU8, 17 * kMega + 5, 0},
                        Case{DType::kU8, DType::kU3, 48 * kMega + 7, 5},
                        Case{DType::kU8, DType::kU4, 34 * kMega, 0}}) {
    Bytes source(SizeOf(c.from, c.count));
    for (size_t i = 0; i < source.size(); ++i) {
      source[i] = static_cast<uint8_t>(i * 2654435761u >> 13);
    }
    Bytes result(SizeOf(c.to, c.to_first + c.count) + 64), expected(result.size());
    ASSERT_TRUE(
        ConvertBuffer(source.data(), c.from, 0, result.data(), c.to, c.to_first, c.count).ok());
    constexpr int64_t kPiece = 4000;
    for (int64_t k = 0; k < c.count; k += kPiece) {
      ASSERT_TRUE(ConvertBuffer(source.data(), c.from, k, expected.data(), c.to, c.to_first + k,
                                std::min(kPiece, c.count - k))
                      .ok());
    }
    EXPECT_TRUE(result == expected) << PairName(c.from, c.to, ConvertMode::kWrap);
  }
}

TEST(ConvertBuffer, Errors) {
  float floats[8] = {};
  uint8_t bytes[8] = {};
  const auto message = [&](DType from, int64_t from_first, void* to, DType to_dtype,
                           int64_t to_first, int64_t count) {
    const absl::Status status =
        ConvertBuffer(floats, from, from_first, to, to_dtype, to_first, count);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(message(DType::kF4E2M1FNx2, 0, bytes, DType::kU8, 0, 1), HasSubstr("pair"));
  EXPECT_THAT(message(DType::kF32, -1, bytes, DType::kU8, 0, 1), HasSubstr("negative"));
  EXPECT_THAT(message(DType::kF32, 0, bytes, DType::kU8, 0, -1), HasSubstr("negative"));
  EXPECT_THAT(message(DType::kF32, 0, bytes, DType::kU8, 0, int64_t{1} << 62),
              HasSubstr("overflows"));
  EXPECT_THAT(message(DType::kF32, 0, floats, DType::kU8, 0, 8), HasSubstr("overlap"));
  EXPECT_THAT(message(DType::kU3, 0, floats, DType::kU3, 2, 2), HasSubstr("overlap"));
  EXPECT_TRUE(ConvertBuffer(floats, DType::kF32, 0, floats, DType::kU8, 16, 4).ok());
  EXPECT_TRUE(ConvertBuffer(nullptr, DType::kF32, 0, nullptr, DType::kU3, 0, 0).ok());
  EXPECT_TRUE(ConvertBuffer(floats, DType::kF4E2M1FNx2, 0, bytes, DType::kF4E2M1FNx2, 0, 8).ok());
}

TEST(ConvertRows, AnyStrideAndDType) {
  const Bytes nibbles = {0x21, 0x43, 0x65, 0x87};
  float floats[8] = {};
  uint8_t* const out = reinterpret_cast<uint8_t*>(floats);
  const RowLayout to{.dtype = DType::kF32, .rows = 2, .columns = 2, .row_stride = 4, .offset = 1};
  ASSERT_TRUE(
      ConvertRows(nibbles,
                  {.dtype = DType::kI4, .rows = 2, .columns = 2, .row_stride = 5, .offset = 1},
                  absl::MakeSpan(out, sizeof floats), to)
          .ok());
  EXPECT_THAT(floats, ::testing::ElementsAre(0, 2, 3, 0, 0, 7, -8, 0));
  const auto message = [&](const RowLayout& from) {
    return std::string(
        ConvertRows(nibbles, from, absl::MakeSpan(out, sizeof floats), to).message());
  };
  EXPECT_THAT(message({.dtype = DType::kI4, .rows = 3, .columns = 2, .row_stride = 2}),
              HasSubstr("do not become"));
  EXPECT_THAT(message({.dtype = DType::kI4, .rows = 2, .columns = 2, .row_stride = 7}),
              HasSubstr("need 5 bytes"));
}

TEST(ConvertAs, Examples) {
  const auto wrap = [](const Scalar& v, DType to) {
    return ConvertAs(v, to, ConvertMode::kWrap)->ToString();
  };
  const auto saturate = [](const Scalar& v, DType to) {
    return ConvertAs(v, to, ConvertMode::kSaturate)->ToString();
  };
  const auto fits = [](const Scalar& v, DType to) {
    return ConvertAs(v, to, ConvertMode::kChecked).ok();
  };
  EXPECT_EQ(wrap(300.7, DType::kU8), "44");
  EXPECT_EQ(saturate(300.7, DType::kU8), "255");
  EXPECT_EQ(saturate(-kInf, DType::kI64), "-9223372036854775808");
  EXPECT_EQ(saturate(1e30, DType::kU64), "18446744073709551615");
  EXPECT_EQ(saturate(kNaN, DType::kI4), "0");
  EXPECT_EQ(saturate(100, DType::kI4), "7");
  EXPECT_EQ(saturate(-1, DType::kU64), "0");
  EXPECT_EQ(saturate(1e6, DType::kF8E4M3FN), "448.0");
  EXPECT_EQ(saturate(kInf, DType::kF8E4M3FN), "448.0");
  EXPECT_EQ(saturate(kInf, DType::kF16), "inf");
  EXPECT_EQ(saturate(1e6, DType::kF16), "65504.0");
  EXPECT_EQ(saturate(-3, DType::kF8E8M0FNU), "5.877471754111438e-39");
  EXPECT_EQ(saturate(Complex(300, 2), DType::kU8), "255");
  EXPECT_EQ(saturate(2, DType::kBool), "true");
  EXPECT_TRUE(fits(255.9, DType::kU8) && fits(-0.9, DType::kU8));
  EXPECT_FALSE(fits(256.0, DType::kU8) || fits(-1.0, DType::kU8) || fits(kNaN, DType::kU8));
  EXPECT_TRUE(fits(kNaN, DType::kF16) && fits(kInf, DType::kF16) && fits(65519, DType::kF16));
  EXPECT_FALSE(fits(65520, DType::kF16) || fits(kInf, DType::kF8E4M3FNUZ));
  EXPECT_TRUE(fits(1, DType::kBool) && fits(true, DType::kU1));
  EXPECT_FALSE(fits(0.5, DType::kBool) || fits(2, DType::kBool));
  EXPECT_TRUE(fits(Complex(3, 0), DType::kI3));
  EXPECT_FALSE(fits(Complex(3, 1), DType::kI3));
  EXPECT_FALSE(fits(~uint64_t{0}, DType::kI64));
  EXPECT_EQ(std::string(ConvertAs(300.7, DType::kU8, ConvertMode::kChecked).status().message()),
            "300.7 does not fit u8, whose numbers are 0 to 255");
  EXPECT_EQ(ConvertAs(1, DType::kF4E2M1FNx2, ConvertMode::kWrap).status().code(),
            absl::StatusCode::kInvalidArgument);
}

// Negative floats to unsigned types: bodies and tails of vector loops alike.
TEST(FaultCase, B005) {
  OnEveryTarget([] {
    std::vector<float> values;
    for (int i = 0; i < 20; ++i)
      values.push_back(std::vector<float>{-1.0f, -2.5f, 3.9f, 0.0f}[i % 4]);
    Bytes result(20);
    ASSERT_TRUE(
        ConvertBuffer(values.data(), DType::kF32, 0, result.data(), DType::kU8, 0, 20).ok());
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(result[static_cast<size_t>(i)], std::vector<int>({255, 254, 3, 0})[i % 4]) << i;
    }
  });
}

// Quantising saturates.
TEST(FaultCase, B177) {
  const float values[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 300.0f, -300.0f};
  float rounded[7];
  for (int i = 0; i < 7; ++i) rounded[i] = std::nearbyintf(values[i]);
  Bytes result(7);
  ASSERT_TRUE(ConvertBuffer(rounded, DType::kF32, 0, result.data(), DType::kU8, 0, 7,
                            ConvertMode::kSaturate)
                  .ok());
  EXPECT_THAT(result, ::testing::ElementsAre(0, 2, 2, 0, 0, 255, 0));
}

}  // namespace
}  // namespace lathe
