#ifndef LATHE_DTYPES_ELEMENT_H_
#define LATHE_DTYPES_ELEMENT_H_

// One element between the C++ type that stores it and the widest type of its kind: int64_t,
// uint64_t (u64 alone), float, double (f64 alone), std::complex<double>. Conversions between
// dtypes go through these five, so that 20 types need 100 loops and not 400.
//
//   float wide = Widen(half);  BF16 narrow = Narrow<BF16>(wide);  // rounds once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "dtypes/small_float.h"
#include "dtypes/wide.h"

namespace lathe {

template <typename T>
inline constexpr bool kIsComplex = false;
template <typename T>
inline constexpr bool kIsComplex<std::complex<T>> = true;

template <typename T>
concept SmallFloat = requires(T value) {
  value.ToFloat();
};

template <typename T>
auto Widen(T value) {
  if constexpr (kIsComplex<T>) {
    return std::complex<double>(value.real(), value.imag());
  } else if constexpr (SmallFloat<T>) {
    return value.ToFloat();
  } else if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else if constexpr (std::is_same_v<T, uint64_t>) {
    return value;
  } else {
    return static_cast<int64_t>(value);
  }
}

template <typename T>
using WideOf = decltype(Widen(T()));

// A double with the same nearest neighbours as the integer: bits below the 53rd leave an odd one.
inline double IntToOdd(uint64_t value) {
  constexpr uint64_t kLow = (uint64_t{1} << 11) - 1;
  if (value >> 53 == 0) return static_cast<double>(value);
  const uint64_t sticky = (value & kLow) != 0 ? kLow + 1 : 0;
  return static_cast<double>((value | sticky) & ~kLow);
}
inline double IntToOdd(int64_t value) {
  return value < 0 ? -IntToOdd(uint64_t{0} - static_cast<uint64_t>(value))
                   : IntToOdd(static_cast<uint64_t>(value));
}

// `value` as the element T would hold it: integers wrap, floats round once, a complex number gives
// its real part to a real type; bool is whether it differs from zero.
template <typename T, typename Wide>
T Narrow(Wide value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != Wide();
  } else if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    if constexpr (kIsComplex<Wide>) {
      return T(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
    } else {
      return T(static_cast<Part>(value), Part());
    }
  } else if constexpr (kIsComplex<Wide>) {
    return Narrow<T>(value.real());
  } else if constexpr (SmallFloat<T>) {
    if constexpr (std::is_integral_v<Wide>) {
      return T::FromDouble(IntToOdd(value));
    } else if constexpr (std::is_same_v<Wide, float>) {
      return T::FromFloat(value);
    } else {
      return T::FromDouble(value);
    }
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<Wide>) {
    return static_cast<T>(FloatToBits64(value));
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace lathe

#endif  // LATHE_DTYPES_ELEMENT_H_
