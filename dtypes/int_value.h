#ifndef LATHE_DTYPES_INT_VALUE_H_
#define LATHE_DTYPES_INT_VALUE_H_

// Integers of every width as C++ values, sub-byte ones included. Arithmetic wraps at the type's own
// width after every operation; shifts and min / -1 follow wide.h.
//
//   U<4> a(13), b(5);
//   (a + b).value() == 2;  (-U<3>(1)).value() == 7;  (I<4>(7) + I<4>(1)).value() == -8
//   I<4>(-8) / I<4>(-1) == I<4>(-8);  U<8>(1) << 8 == U<8>(0);  I<8>(-5) >> 99 == I<8>(-1)
//   U<8>(-1.5) == U<8>(255)    // float to integer: truncate, then wrap

#include <compare>
#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "dtypes/base/check.h"
#include "dtypes/dtype.h"
#include "dtypes/wide.h"

namespace lathe {
namespace int_value_internal {

template <int kBits, bool kIsSigned>
constexpr auto StorageOf() {
  if constexpr (kBits <= 8) {
    return std::conditional_t<kIsSigned, int8_t, uint8_t>();
  } else if constexpr (kBits <= 16) {
    return std::conditional_t<kIsSigned, int16_t, uint16_t>();
  } else if constexpr (kBits <= 32) {
    return std::conditional_t<kIsSigned, int32_t, uint32_t>();
  } else {
    return std::conditional_t<kIsSigned, int64_t, uint64_t>();
  }
}

constexpr DType IntegerOf(int bits, bool is_signed) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const DType dtype = static_cast<DType>(i);
    if (BitWidth(dtype) == bits && (is_signed ? IsSigned(dtype) : IsUnsigned(dtype))) return dtype;
  }
  LATHE_UNREACHABLE();
}

}  // namespace int_value_internal

template <int kBits, bool kIsSigned>
class SizedInt {
  static_assert((kBits >= 1 && kBits <= 8) || kBits == 16 || kBits == 32 || kBits == 64,
                "a width that a dtype has");

 public:
  // The narrowest standard integer that holds every value.
  using Storage = decltype(int_value_internal::StorageOf<kBits, kIsSigned>());
  static constexpr DType kDType = int_value_internal::IntegerOf(kBits, kIsSigned);

  constexpr SizedInt() = default;
  // Any number: integers wrap, floats truncate and wrap (NaN gives 0).
  template <typename T>
  requires std::is_arithmetic_v<T>
  constexpr explicit SizedInt(T number) {
    if constexpr (std::is_floating_point_v<T>) {
      *this = Hold(FloatToIntWrap(static_cast<double>(number), kDType));
    } else {
      *this = Hold(WrapInt(static_cast<int64_t>(number), kDType));
    }
  }
  // From another width: wraps.
  template <int kOtherBits, bool kOtherSigned>
  constexpr explicit SizedInt(SizedInt<kOtherBits, kOtherSigned> other) : SizedInt(other.value()) {}

  static constexpr SizedInt Min() {
    return SizedInt(kIsSigned ? uint64_t{1} << (kBits - 1) : uint64_t{0});
  }
  static constexpr SizedInt Max() {
    return SizedInt(~uint64_t{0} >> (64 - kBits) >> (kIsSigned ? 1 : 0));
  }

  constexpr Storage value() const { return value_; }
  template <typename T>
  requires std::is_arithmetic_v<T>
  constexpr explicit operator T() const { return static_cast<T>(value_); }

  friend constexpr SizedInt operator+(SizedInt a, SizedInt b) {
    return Hold(WrapAdd(a.held(), b.held(), kDType));
  }
  friend constexpr SizedInt operator-(SizedInt a, SizedInt b) {
    return Hold(WrapSub(a.held(), b.held(), kDType));
  }
  friend constexpr SizedInt operator*(SizedInt a, SizedInt b) {
    return Hold(WrapMul(a.held(), b.held(), kDType));
  }
  friend constexpr SizedInt operator-(SizedInt a) { return Hold(WrapNeg(a.held(), kDType)); }

  // Rounded towards zero, as in C++; the divisor is not 0 (value.h has divisions that say so).
  friend constexpr SizedInt operator/(SizedInt a, SizedInt b) {
    return Hold(TruncDiv(a.held(), b.held(), kDType));
  }
  friend constexpr SizedInt operator%(SizedInt a, SizedInt b) {
    return Hold(TruncMod(a.held(), b.held(), kDType));
  }

  friend constexpr SizedInt operator&(SizedInt a, SizedInt b) { return Hold(a.held() & b.held()); }
  friend constexpr SizedInt operator|(SizedInt a, SizedInt b) { return Hold(a.held() | b.held()); }
  friend constexpr SizedInt operator^(SizedInt a, SizedInt b) { return Hold(a.held() ^ b.held()); }
  friend constexpr SizedInt operator~(SizedInt a) { return Hold(WrapInt(~a.held(), kDType)); }

  // Shifts by any number: below 0, or of the width and more, they leave 0 or the sign fill.
  friend constexpr SizedInt operator<<(SizedInt a, int64_t shift) {
    return Hold(ShiftLeft(a.held(), shift, kDType));
  }
  friend constexpr SizedInt operator>>(SizedInt a, int64_t shift) {
    return Hold(ShiftRight(a.held(), shift, kDType));
  }
  friend constexpr SizedInt operator<<(SizedInt a, SizedInt b) { return a << b.held(); }
  friend constexpr SizedInt operator>>(SizedInt a, SizedInt b) { return a >> b.held(); }

  constexpr SizedInt& operator+=(SizedInt b) { return *this = *this + b; }
  constexpr SizedInt& operator-=(SizedInt b) { return *this = *this - b; }
  constexpr SizedInt& operator*=(SizedInt b) { return *this = *this * b; }
  constexpr SizedInt& operator&=(SizedInt b) { return *this = *this & b; }
  constexpr SizedInt& operator|=(SizedInt b) { return *this = *this | b; }
  constexpr SizedInt& operator^=(SizedInt b) { return *this = *this ^ b; }

  friend constexpr bool operator==(SizedInt a, SizedInt b) { return a.value_ == b.value_; }
  friend constexpr std::strong_ordering operator<=>(SizedInt a, SizedInt b) {
    return a.value_ <=> b.value_;
  }

  template <typename H>
  friend H AbslHashValue(H h, SizedInt a) {
    return H::combine(std::move(h), a.value_);
  }

  // As wide.h holds an element: the value, of u64 its bits.
  constexpr int64_t held() const { return static_cast<int64_t>(value_); }

 private:
  static constexpr SizedInt Hold(int64_t held) {
    SizedInt result;
    result.value_ = static_cast<Storage>(held);
    return result;
  }

  Storage value_ = 0;
};

template <int kBits>
using U = SizedInt<kBits, false>;
template <int kBits>
using I = SizedInt<kBits, true>;

// The absolute value; that of the least number wraps to itself.
template <int kBits, bool kIsSigned>
constexpr SizedInt<kBits, kIsSigned> Abs(SizedInt<kBits, kIsSigned> a) {
  return a < SizedInt<kBits, kIsSigned>() ? -a : a;
}

}  // namespace lathe

#endif  // LATHE_DTYPES_INT_VALUE_H_
