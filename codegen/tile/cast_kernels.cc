// Conversions between the dtypes that tiles hold, as dtypes' Convert has them. Pairs that are not
// here go through ConvertElements.

#include "codegen/tile/kernel_table.h"
#include "dtypes/small_float.h"
#include "dtypes/wide.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codegen/tile/cast_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// Once a target.
#include "codegen/tile/element_loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace tile {
namespace HWY_NAMESPACE {
namespace {  // names are used again in other files

template <class T>
concept Small = requires(T x) {
  x.bits;
};

template <class To>
struct ConvertTo {
  template <class From>
  static To Apply(From x) {
    if constexpr (Small<From>) {
      return static_cast<To>(x.ToFloat());
    } else if constexpr (Small<To> && std::is_same_v<From, double>) {
      return To::FromDouble(x);
    } else if constexpr (Small<To>) {
      return To::FromFloat(x);
    } else {
      return static_cast<To>(x);
    }
  }
};
struct IsTrue {
  template <class From>
  static uint8_t Apply(From x) {
    return x != From{0};
  }
};
template <class To>
struct FromBool {
  static To Apply(uint8_t x) { return static_cast<To>(x != 0); }
};

// Float to integer. Groups whose values all fit the hardware's conversion take it.
template <class From, class To>
void FloatToInteger(void* dst, const void* a, const void*, const void*, int64_t n,
                    uint32_t scalars) {
  using Direct = std::conditional_t<sizeof(To) == 8, int64_t, int32_t>;
  constexpr From kLimit = sizeof(To) == 8 ? From(0x1p62) : From(0x1p30);
  To* d = static_cast<To*>(dst);
  const From* x = static_cast<const From*>(a);
  n = RoundUpToGroup<From, To>(n);
  if (scalars & 1) return FillTile<To>(d, static_cast<To>(FloatToBits64(*x)), n);
  constexpr int64_t kGroup = 64 / (sizeof(From) > sizeof(To) ? sizeof(From) : sizeof(To));
  for (int64_t i = 0; i < n; i += kGroup) {
    int outside = 0;
    for (int64_t k = i; k < i + kGroup; ++k) outside |= !(x[k] > -kLimit) | !(x[k] < kLimit);
    if (outside == 0) {
#pragma GCC ivdep
      for (int64_t k = i; k < i + kGroup; ++k) d[k] = static_cast<To>(static_cast<Direct>(x[k]));
    } else {
      for (int64_t k = i; k < i + kGroup; ++k) d[k] = static_cast<To>(FloatToBits64(x[k]));
    }
  }
}

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
void F16ToF32(void* dst, const void* a, const void*, const void*, int64_t n, uint32_t scalars) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const int64_t lanes = hn::Lanes(d), step = scalars & 1 ? 0 : lanes;
  const hwy::float16_t* x = static_cast<const hwy::float16_t*>(a);
  for (int64_t i = 0; i < n; i += lanes, x += step) {
    hn::StoreU(hn::PromoteTo(d, hn::LoadU(dh, x)), d, static_cast<float*>(dst) + i);
  }
}
void F32ToF16(void* dst, const void* a, const void*, const void*, int64_t n, uint32_t scalars) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  const hn::Rebind<hwy::float16_t, decltype(d)> dh;
  const int64_t lanes = hn::Lanes(d), step = scalars & 1 ? 0 : lanes;
  const float* x = static_cast<const float*>(a);
  for (int64_t i = 0; i < n; i += lanes, x += step) {
    hn::StoreU(hn::DemoteTo(dh, hn::LoadU(d, x)), dh, static_cast<hwy::float16_t*>(dst) + i);
  }
}
#endif

struct Casts {
  KernelTable& table;
  TileFunction& at(DType from, DType to) {
    return table.cast[static_cast<int>(from)][static_cast<int>(to)];
  }
  template <class From, class To>
  void Plain(DType from, DType to) {
    at(from, to) = UnaryLoop<From, To, ConvertTo<To>>;
  }
  template <class From>
  void IntegerToFloats(DType from) {
    Plain<From, float>(from, DType::kF32);
    Plain<From, double>(from, DType::kF64);
  }
  template <class From>
  void FloatToIntegers(DType from) {
    for (DType to : {DType::kU8, DType::kI8}) at(from, to) = FloatToInteger<From, uint8_t>;
    for (DType to : {DType::kU16, DType::kI16}) at(from, to) = FloatToInteger<From, uint16_t>;
    for (DType to : {DType::kU32, DType::kI32}) at(from, to) = FloatToInteger<From, uint32_t>;
    for (DType to : {DType::kU64, DType::kI64}) at(from, to) = FloatToInteger<From, uint64_t>;
    at(from, DType::kBool) = UnaryLoop<From, uint8_t, IsTrue>;
  }
  template <class S>
  void SmallFloat(DType small) {
    Plain<S, float>(small, DType::kF32);
    Plain<S, double>(small, DType::kF64);
    Plain<float, S>(DType::kF32, small);
    Plain<double, S>(DType::kF64, small);
  }
  template <class From, class To>
  void ToWidth(DType from, DType to_unsigned, DType to_signed) {
    Plain<From, To>(from, to_unsigned);
    Plain<From, To>(from, to_signed);
  }
  template <class From>
  void Integers(DType from) {
    if constexpr (sizeof(From) != 1) ToWidth<From, uint8_t>(from, DType::kU8, DType::kI8);
    if constexpr (sizeof(From) != 2) ToWidth<From, uint16_t>(from, DType::kU16, DType::kI16);
    if constexpr (sizeof(From) != 4) ToWidth<From, uint32_t>(from, DType::kU32, DType::kI32);
    if constexpr (sizeof(From) != 8) ToWidth<From, uint64_t>(from, DType::kU64, DType::kI64);
    at(from, DType::kBool) = UnaryLoop<From, uint8_t, IsTrue>;
    IntegerToFloats<From>(from);
  }
  template <class To>
  void BoolTo(DType to_unsigned, DType to_signed) {
    for (DType to : {to_unsigned, to_signed}) {
      at(DType::kBool, to) = UnaryLoop<uint8_t, To, FromBool<To>>;
    }
  }
};

}  // namespace

void AddCasts(KernelTable& table) {
  Casts casts{table};
  casts.Integers<uint8_t>(DType::kU8);
  casts.Integers<int8_t>(DType::kI8);
  casts.Integers<uint16_t>(DType::kU16);
  casts.Integers<int16_t>(DType::kI16);
  casts.Integers<uint32_t>(DType::kU32);
  casts.Integers<int32_t>(DType::kI32);
  casts.Integers<uint64_t>(DType::kU64);
  casts.Integers<int64_t>(DType::kI64);
  casts.FloatToIntegers<float>(DType::kF32);
  casts.FloatToIntegers<double>(DType::kF64);
  casts.Plain<float, double>(DType::kF32, DType::kF64);
  casts.Plain<double, float>(DType::kF64, DType::kF32);
  casts.BoolTo<uint8_t>(DType::kU8, DType::kI8);
  casts.BoolTo<uint16_t>(DType::kU16, DType::kI16);
  casts.BoolTo<uint32_t>(DType::kU32, DType::kI32);
  casts.BoolTo<uint64_t>(DType::kU64, DType::kI64);
  casts.BoolTo<float>(DType::kF32, DType::kF32);
  casts.BoolTo<double>(DType::kF64, DType::kF64);
  casts.SmallFloat<F16>(DType::kF16);
  casts.SmallFloat<BF16>(DType::kBF16);
  casts.SmallFloat<F8E4M3FN>(DType::kF8E4M3FN);
  casts.SmallFloat<F8E5M2>(DType::kF8E5M2);
  casts.SmallFloat<F8E4M3FNUZ>(DType::kF8E4M3FNUZ);
  casts.SmallFloat<F8E5M2FNUZ>(DType::kF8E5M2FNUZ);
  casts.SmallFloat<F8E8M0FNU>(DType::kF8E8M0FNU);
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  casts.at(DType::kF16, DType::kF32) = F16ToF32;
  casts.at(DType::kF32, DType::kF16) = F32ToF16;
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace tile
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lathe::tile {
HWY_EXPORT(AddCasts);
void AddCastKernels(KernelTable& table) { HWY_DYNAMIC_DISPATCH(AddCasts)(table); }
}  // namespace lathe::tile
#endif
