#include "dtypes/convert_kernels.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "dtypes/element.h"
#include "dtypes/small_float.h"
#include "dtypes/wide.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "dtypes/convert_kernels.cc"
#include "hwy/foreach_target.h"
// After it.
#include "dtypes/small_float_loops-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace convert_internal {
namespace HWY_NAMESPACE {
namespace {

// An element at any address.
template <class T>
struct __attribute__((packed, may_alias)) Loose {
  T value;
};
template <class T>
const Loose<T>* LooseIn(const void* in) {
  return static_cast<const Loose<T>*>(in);
}
template <class T>
Loose<T>* LooseOut(void* out) {
  return static_cast<Loose<T>*>(out);
}

// Loops that g++ turns into vectors; an Op is a struct with `static To Apply(From)`.
template <class From, class To, class Op>
void Map(const void* in, void* out, int64_t count) {
  const Loose<From>* x = LooseIn<From>(in);
  Loose<To>* y = LooseOut<To>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) y[i].value = Op::Apply(x[i].value);
}

template <class To>
struct Cast {
  template <class From>
  static To Apply(From x) {
    return static_cast<To>(x);
  }
};
struct IsTrue {
  template <class From>
  static uint8_t Apply(From x) {
    return x != From{0};
  }
};
struct ToOdd {
  template <class From>
  static float Apply(From x) {
    if constexpr (std::is_floating_point_v<From>) {
      return RoundToOdd(x);
    } else if constexpr (sizeof(From) == 4) {
      return RoundToOdd(static_cast<double>(x));
    } else {
      return RoundToOdd(IntToOdd(x));
    }
  }
};
template <class To>
struct Saturate {
  static To Apply(double x) {
    constexpr double kEnd = std::is_signed_v<To> ? 0x1p63 : 0x1p64;
    if (x != x) return 0;
    if (x >= kEnd) return std::numeric_limits<To>::max();
    if (x <= (std::is_signed_v<To> ? -0x1p63 : 0.0)) return std::numeric_limits<To>::min();
    return static_cast<To>(FloatToBits64(x));
  }
};

// Float to integer. Groups whose values all fit the hardware's conversion take it; the bits are
// those of FloatToBits64 either way.
template <class From, class To>
void FloatToInteger(const void* in, void* out, int64_t count) {
  using Direct = std::conditional_t<sizeof(To) == 8, int64_t, int32_t>;
  constexpr From kLimit = sizeof(To) == 8 ? From(0x1p62) : From(0x1p30);
  constexpr int64_t kGroup = 64 / sizeof(From);
  const Loose<From>* x = LooseIn<From>(in);
  Loose<To>* y = LooseOut<To>(out);
  int64_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
    int outside = 0;
    for (int64_t k = i; k < i + kGroup; ++k) {
      outside |= !(x[k].value > -kLimit) | !(x[k].value < kLimit);
    }
    if (outside == 0) {
#pragma GCC ivdep
      for (int64_t k = i; k < i + kGroup; ++k) {
        y[k].value = static_cast<To>(static_cast<Direct>(x[k].value));
      }
    } else {
      for (int64_t k = i; k < i + kGroup; ++k) {
        y[k].value = static_cast<To>(FloatToBits64(x[k].value));
      }
    }
  }
  for (; i < count; ++i) y[i].value = static_cast<To>(FloatToBits64(x[i].value));
}

template <class T>
struct Range {
  explicit Range(const Bounds& bounds) {
    if constexpr (std::is_floating_point_v<T>) {
      low = static_cast<T>(bounds.float_low), high = static_cast<T>(bounds.float_high);
    } else if constexpr (std::is_signed_v<T>) {
      low = static_cast<T>(bounds.signed_low), high = static_cast<T>(bounds.signed_high);
    } else {
      low = static_cast<T>(bounds.unsigned_low), high = static_cast<T>(bounds.unsigned_high);
    }
  }
  T low, high;
};

template <class T, bool kKeepsInfinities>
void ClampTo(const void* in, void* out, int64_t count, Range<T> range) {
  const Loose<T>* x = LooseIn<T>(in);
  Loose<T>* y = LooseOut<T>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    const T value = x[i].value;
    const T clamped = value < range.low ? range.low : value > range.high ? range.high : value;
    if constexpr (kKeepsInfinities) {
      y[i].value = std::abs(value) == std::numeric_limits<T>::infinity() ? value : clamped;
    } else {
      y[i].value = clamped;
    }
  }
}
template <class T>
void Clamp(const void* in, void* out, int64_t count, const Bounds& bounds) {
  const Range<T> range(bounds);
  if constexpr (std::is_floating_point_v<T>) {
    if (bounds.infinities_fit) return ClampTo<T, true>(in, out, count, range);
  }
  ClampTo<T, false>(in, out, count, range);
}

template <class T>
bool Fits(const void* in, int64_t count, const Bounds& bounds) {
  const Range<T> range(bounds);
  const Loose<T>* x = LooseIn<T>(in);
  const int infinities_fit = bounds.infinities_fit, nan_fits = bounds.nan_fits;
  int misfits = 0;
  for (int64_t i = 0; i < count; ++i) {
    const T value = x[i].value;
    int fits = (value >= range.low) & (value <= range.high);
    if constexpr (std::is_floating_point_v<T>) {
      fits |= (std::abs(value) == std::numeric_limits<T>::infinity()) & infinities_fit;
      fits |= (value != value) & nan_fits;
    }
    misfits |= !fits;
  }
  return misfits == 0;
}

template <class T>
bool AreBits(const void* in, int64_t count) {
  const Loose<T>* x = LooseIn<T>(in);
  int misfits = 0;
  for (int64_t i = 0; i < count; ++i) misfits |= !((x[i].value == T{0}) | (x[i].value == T{1}));
  return misfits == 0;
}

#if HWY_TARGET == HWY_SCALAR
void LookUp(const uint8_t* in, const uint8_t* table, int entry_bytes, void* out, int64_t count) {
  uint8_t* bytes = static_cast<uint8_t*>(out);
  for (int64_t i = 0; i < count; ++i) {
    for (int k = 0; k < entry_bytes; ++k) *bytes++ = table[16 * k + (in[i] & 15)];
  }
}
void Stream(const void* in, void* out, int64_t bytes) {
  std::memcpy(out, in, static_cast<size_t>(bytes));
}
#else
void LookUp(const uint8_t* in, const uint8_t* table, int entry_bytes, void* out, int64_t count) {
  const hn::FixedTag<uint8_t, 16> d;
  const auto low = hn::LoadU(d, table), high = hn::LoadU(d, table + 16 * (entry_bytes - 1));
  const auto mask = hn::Set(d, 15);
  uint8_t* bytes = static_cast<uint8_t*>(out);
  uint8_t rest[16] = {}, last[32];
  for (; count > 0; count -= 16, in += 16) {
    const uint8_t* from = in;
    uint8_t* to = bytes;
    if (count < 16) {
      std::memcpy(rest, in, static_cast<size_t>(count));
      from = rest;
      to = last;
    }
    const auto codes = hn::And(hn::LoadU(d, from), mask);
    const auto lows = hn::TableLookupBytes(low, codes);
    if (entry_bytes == 1) {
      hn::StoreU(lows, d, to);
    } else {
      const auto highs = hn::TableLookupBytes(high, codes);
      hn::StoreU(hn::InterleaveLower(d, lows, highs), d, to);
      hn::StoreU(hn::InterleaveUpper(d, lows, highs), d, to + 16);
    }
    if (count < 16) std::memcpy(bytes, last, static_cast<size_t>(count * entry_bytes));
    bytes += 16 * entry_bytes;
  }
}
void Stream(const void* in, void* out, int64_t bytes) {
  const hn::FixedTag<uint8_t, 32> d;
  const uint8_t* from = static_cast<const uint8_t*>(in);
  uint8_t* to = static_cast<uint8_t*>(out);
  for (int64_t i = 0; i < bytes; i += 32) hn::Stream(hn::LoadU(d, from + i), d, to + i);
}
#endif

constexpr int Index(DType dtype) { return static_cast<int>(dtype); }

template <class From>
void AddToInteger(Loops& loops, DType from, DType to) {
  const auto add = [&]<class To>(To) {
    if constexpr (std::is_same_v<From, float> && sizeof(To) < 8) {
      return F32ToInteger<To>;
    } else if constexpr (std::is_floating_point_v<From>) {
      return FloatToInteger<From, To>;
    } else {
      return Map<From, To, Cast<To>>;
    }
  };
  Loop& loop = loops.core[Index(from)][Index(to)];
  switch (BitWidth(to)) {
    case 8:
      loop = add(uint8_t());
      break;
    case 16:
      loop = add(uint16_t());
      break;
    case 32:
      loop = add(uint32_t());
      break;
    default:
      loop = add(uint64_t());
  }
}

template <class From>
void AddCarrier(Loops& loops, DType from) {
  for (DType to : {DType::kU8, DType::kU16, DType::kU32, DType::kU64}) {
    AddToInteger<From>(loops, from, to);
    loops.core[Index(from)][Index(to) - Index(DType::kU8) + Index(DType::kI8)] =
        loops.core[Index(from)][Index(to)];
  }
  Loop* core = loops.core[Index(from)];
  core[Index(DType::kBool)] = Map<From, uint8_t, IsTrue>;
  core[Index(DType::kF32)] = Map<From, float, Cast<float>>;
  core[Index(DType::kF64)] = Map<From, double, Cast<double>>;
  if constexpr (std::is_same_v<From, double> || (std::is_integral_v<From> && sizeof(From) > 2)) {
    loops.to_odd_f32[Index(from)] = Map<From, float, ToOdd>;
  } else {
    loops.to_odd_f32[Index(from)] = core[Index(DType::kF32)];  // exact
  }
  loops.clamp[Index(from)] = Clamp<From>;
  loops.fits[Index(from)] = Fits<From>;
  loops.are_bits[Index(from)] = AreBits<From>;
}

template <class Small>
void AddSmall(Loops& loops, DType dtype) {
  loops.widen[Index(dtype)] = RunVectors<DecodeVector<Small>>;
  loops.narrow[Index(dtype)] = RunVectors<EncodeVector<Small>>;
}

Loops MakeLoops() {
  Loops loops;
  AddCarrier<uint8_t>(loops, DType::kU8);
  AddCarrier<uint16_t>(loops, DType::kU16);
  AddCarrier<uint32_t>(loops, DType::kU32);
  AddCarrier<uint64_t>(loops, DType::kU64);
  AddCarrier<int8_t>(loops, DType::kI8);
  AddCarrier<int16_t>(loops, DType::kI16);
  AddCarrier<int32_t>(loops, DType::kI32);
  AddCarrier<int64_t>(loops, DType::kI64);
  AddCarrier<float>(loops, DType::kF32);
  AddCarrier<double>(loops, DType::kF64);
  AddSmall<F16>(loops, DType::kF16);
  AddSmall<BF16>(loops, DType::kBF16);
  AddSmall<F8E4M3FN>(loops, DType::kF8E4M3FN);
  AddSmall<F8E5M2>(loops, DType::kF8E5M2);
  AddSmall<F8E4M3FNUZ>(loops, DType::kF8E4M3FNUZ);
  AddSmall<F8E5M2FNUZ>(loops, DType::kF8E5M2FNUZ);
  AddSmall<F8E8M0FNU>(loops, DType::kF8E8M0FNU);
  loops.widen[Index(DType::kBool)] = Map<uint8_t, uint8_t, IsTrue>;
  loops.f64_to_i64_saturated = Map<double, int64_t, Saturate<int64_t>>;
  loops.f64_to_u64_saturated = Map<double, uint64_t, Saturate<uint64_t>>;
  loops.look_up = LookUp;
  loops.stream = Stream;
  return loops;
}

}  // namespace

const Loops* GetLoops() {
  static const Loops kLoops = MakeLoops();
  return &kLoops;
}

}  // namespace HWY_NAMESPACE
}  // namespace convert_internal
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::convert_internal {
HWY_EXPORT(GetLoops);
const Loops& ConvertLoops() { return *HWY_DYNAMIC_DISPATCH(GetLoops)(); }
}  // namespace lathe::convert_internal
#endif
