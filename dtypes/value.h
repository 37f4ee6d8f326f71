#ifndef LATHE_DTYPES_VALUE_H_
#define LATHE_DTYPES_VALUE_H_

// One element as a C++ value, for every dtype that computes: ValueType<DType::kU3> is U<3>,
// ValueType<DType::kBF16> is BF16, ValueType<DType::kF32> is float. Includes arithmetic,
// comparison and hashing of the small floats, division that says when it divides by zero, and text.
//
//   BF16 x = BF16::FromFloat(1.5f) * BF16::FromFloat(3);      // rounded once
//   FloorDivide(I<4>(-7), I<4>(2))  -> -4;  Remainder(U<8>(7), U<8>(0)) -> InvalidArgument
//   FormatValue(U<64>::Max()) == "18446744073709551615";  ParseValue<U<4>>("16") -> InvalidArgument

#include <cmath>
#include <compare>
#include <complex>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dtypes/base/status.h"
#include "dtypes/dtype.h"
#include "dtypes/element.h"
#include "dtypes/int_value.h"
#include "dtypes/scalar.h"
#include "dtypes/small_float.h"

namespace lathe {

// The dtype of a name, with an error that lists the names: what a border says to a user.
absl::StatusOr<DType> DTypeNamed(absl::string_view name);

// The element of `dtype` that the text names. InvalidArgument when it is not a number, when an
// integer is outside the type's range or has a fraction, when a real type is given a complex
// number. Floats round once; what overflows becomes what Convert makes of it.
absl::StatusOr<Scalar> ParseElement(absl::string_view text, DType dtype);

namespace value_internal {

template <DType kDType>
constexpr auto Of() {
  if constexpr (IsInteger(kDType)) {
    return SizedInt<BitWidth(kDType), IsSigned(kDType)>();
  } else if constexpr (IsF8(kDType)) {
    return F8<kDType>();
  } else if constexpr (kDType == DType::kBool) {
    return bool();
  } else if constexpr (kDType == DType::kF16) {
    return F16();
  } else if constexpr (kDType == DType::kBF16) {
    return BF16();
  } else if constexpr (kDType == DType::kF32) {
    return float();
  } else if constexpr (kDType == DType::kF64) {
    return double();
  } else if constexpr (kDType == DType::kC64) {
    return std::complex<float>();
  } else {
    static_assert(kDType == DType::kC128, "storage only: nothing computes with it");
    return std::complex<double>();
  }
}

template <typename T, int kFrom = 0>
constexpr DType DTypeOf() {
  static_assert(kFrom < kDTypeCount, "no dtype has this value type");
  constexpr DType kDType = static_cast<DType>(kFrom);
  if constexpr (IsStorageOnly(kDType)) {
    return DTypeOf<T, kFrom + 1>();
  } else if constexpr (std::is_same_v<T, decltype(Of<kDType>())>) {
    return kDType;
  } else {
    return DTypeOf<T, kFrom + 1>();
  }
}

template <typename T>
inline constexpr bool kIsSizedInt = false;
template <int kBits, bool kIsSigned>
inline constexpr bool kIsSizedInt<SizedInt<kBits, kIsSigned>> = true;

absl::Status DivisionByZero(DType dtype);

}  // namespace value_internal

template <DType kDType>
using ValueType = decltype(value_internal::Of<kDType>());
template <typename T>
inline constexpr DType kDTypeOf = value_internal::DTypeOf<T>();

// Small floats compute in float and round once: for these formats that is the correctly rounded
// result (float has more than twice their digits). They compare and hash by value: -0 equals 0.
template <SmallFloat T>
constexpr T operator+(T a, T b) {
  return T::FromFloat(a.ToFloat() + b.ToFloat());
}
template <SmallFloat T>
constexpr T operator-(T a, T b) {
  return T::FromFloat(a.ToFloat() - b.ToFloat());
}
template <SmallFloat T>
constexpr T operator*(T a, T b) {
  return T::FromFloat(a.ToFloat() * b.ToFloat());
}
template <SmallFloat T>
constexpr T operator/(T a, T b) {
  return T::FromFloat(a.ToFloat() / b.ToFloat());
}
template <SmallFloat T>
constexpr T operator-(T a) {
  return T::FromFloat(-a.ToFloat());
}
template <SmallFloat T>
constexpr bool operator==(T a, T b) {
  return a.ToFloat() == b.ToFloat();
}
template <SmallFloat T>
constexpr std::partial_ordering operator<=>(T a, T b) {
  return a.ToFloat() <=> b.ToFloat();
}
template <typename H, SmallFloat T>
H AbslHashValue(H h, T a) {
  return H::combine(std::move(h), a.ToFloat());
}

// Divisions of integers: InvalidArgument ("ZeroDivisionError") for a divisor of 0.
// FloorDivide rounds down, Remainder takes the sign of the divisor (Python's // and %);
// TruncDivide rounds towards zero, Fmod takes the sign of the dividend (C's / and %).
template <int kBits, bool kIsSigned>
absl::StatusOr<SizedInt<kBits, kIsSigned>> FloorDivide(SizedInt<kBits, kIsSigned> a,
                                                       SizedInt<kBits, kIsSigned> b) {
  if (b.value() == 0) return value_internal::DivisionByZero(a.kDType);
  return SizedInt<kBits, kIsSigned>(FloorDiv(a.held(), b.held(), a.kDType));
}
template <int kBits, bool kIsSigned>
absl::StatusOr<SizedInt<kBits, kIsSigned>> Remainder(SizedInt<kBits, kIsSigned> a,
                                                     SizedInt<kBits, kIsSigned> b) {
  if (b.value() == 0) return value_internal::DivisionByZero(a.kDType);
  return SizedInt<kBits, kIsSigned>(Mod(a.held(), b.held(), a.kDType));
}
template <int kBits, bool kIsSigned>
absl::StatusOr<SizedInt<kBits, kIsSigned>> TruncDivide(SizedInt<kBits, kIsSigned> a,
                                                       SizedInt<kBits, kIsSigned> b) {
  if (b.value() == 0) return value_internal::DivisionByZero(a.kDType);
  return a / b;
}
template <int kBits, bool kIsSigned>
absl::StatusOr<SizedInt<kBits, kIsSigned>> Fmod(SizedInt<kBits, kIsSigned> a,
                                                SizedInt<kBits, kIsSigned> b) {
  if (b.value() == 0) return value_internal::DivisionByZero(a.kDType);
  return a % b;
}

// The value without loss.
template <typename T>
Scalar ToScalar(const T& value) {
  if constexpr (value_internal::kIsSizedInt<T>) {
    return Scalar(value.value());
  } else if constexpr (SmallFloat<T>) {
    return Scalar(static_cast<double>(value.ToFloat()));
  } else if constexpr (kIsComplex<T>) {
    return Scalar(std::complex<double>(value));
  } else {
    return Scalar(value);
  }
}

// Convert(value, kDTypeOf<T>) as a C++ value.
template <typename T>
T FromScalar(const Scalar& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.ToBool();
  } else if constexpr (value_internal::kIsSizedInt<T>) {
    return T(value.ToInt());
  } else {
    const Scalar element = Convert(value, kDTypeOf<T>);
    if constexpr (kIsComplex<T>) {
      return T(element.ToComplex());
    } else if constexpr (SmallFloat<T>) {
      return T::FromDouble(element.ToDouble());
    } else {
      return static_cast<T>(element.ToDouble());
    }
  }
}

// The shortest text that ParseValue<T> reads back to the same value: "-0.0", "3.14", "nan".
template <typename T>
std::string FormatValue(const T& value) {
  return FormatElement(ToScalar(value), kDTypeOf<T>);
}
template <typename T>
absl::StatusOr<T> ParseValue(absl::string_view text) {
  LATHE_ASSIGN_OR_RETURN(const Scalar value, ParseElement(text, kDTypeOf<T>));
  return FromScalar<T>(value);
}

}  // namespace lathe

#endif  // LATHE_DTYPES_VALUE_H_
