// Loops between f32 and the small floats, and from f32 to integers, once a Highway target: include
// after hwy/foreach_target.h. The bits are those of small_float.h and of FloatToBits64.

#if defined(LATHE_DTYPES_SMALL_FLOAT_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LATHE_DTYPES_SMALL_FLOAT_LOOPS_INL_H_
#undef LATHE_DTYPES_SMALL_FLOAT_LOOPS_INL_H_
#else
#define LATHE_DTYPES_SMALL_FLOAT_LOOPS_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "dtypes/small_float.h"
#include "dtypes/wide.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lathe {
namespace convert_internal {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Ints = hn::ScalableTag<int32_t>;
using FloatVector = hn::Vec<Floats>;
using IntVector = hn::Vec<Ints>;

inline IntVector Int(uint32_t bits) { return hn::Set(Ints(), static_cast<int32_t>(bits)); }
inline FloatVector AsFloat(IntVector v) { return hn::BitCast(Floats(), v); }
inline IntVector AsInt(FloatVector v) { return hn::BitCast(Ints(), v); }
// Zeros come in from above.
template <int kBits>
inline IntVector ShiftDown(IntVector v) {
  const hn::ScalableTag<uint32_t> d;
  return hn::BitCast(Ints(), hn::ShiftRight<kBits>(hn::BitCast(d, v)));
}
inline IntVector Select(hn::Mask<Ints> mask, IntVector yes, IntVector no) {
  return hn::IfThenElse(mask, yes, no);
}

constexpr uint32_t BitsOf(float value) { return small_float_internal::Bits(value); }

// small_float.h: DecodeMagnitude and EncodeMagnitude, line by line.
template <int kMantissa, int kBias>
inline IntVector DecodeMagnitude(IntVector code) {
  constexpr float kStep = small_float_internal::Power2(1 - kBias - kMantissa);
  const FloatVector subnormal = hn::Mul(hn::ConvertTo(Floats(), code), hn::Set(Floats(), kStep));
  const IntVector normal =
      hn::Add(hn::ShiftLeft<23 - kMantissa>(code), Int(uint32_t{127 - kBias} << 23));
  return Select(hn::Lt(code, Int(1u << kMantissa)), AsInt(subnormal), normal);
}
template <int kMantissa, int kBias>
inline IntVector EncodeMagnitude(IntVector magnitude) {
  constexpr int kShift = 23 - kMantissa;
  constexpr float kAnchor = small_float_internal::Power2(1 - kBias - kMantissa + 23);
  const IntVector subnormal =
      hn::Sub(AsInt(hn::Add(AsFloat(magnitude), hn::Set(Floats(), kAnchor))), Int(BitsOf(kAnchor)));
  const IntVector half =
      hn::Add(Int((1u << (kShift - 1)) - 1), hn::And(ShiftDown<kShift>(magnitude), Int(1)));
  const IntVector normal =
      hn::Sub(ShiftDown<kShift>(hn::Add(magnitude, half)), Int(uint32_t{127 - kBias} << kMantissa));
  constexpr uint32_t kNormal = BitsOf(small_float_internal::Power2(1 - kBias));
  return Select(hn::Lt(magnitude, Int(kNormal)), subnormal, normal);
}

constexpr uint32_t kNaNBits = 0x7fc00000;
constexpr uint32_t kInfinityBits = small_float_internal::kInfinity;

// Of each small float: code to bits of f32 and back.
template <class Small>
struct Format;

template <>
struct Format<F8E4M3FN> {
  static IntVector Decode(IntVector bits) {
    const IntVector code = hn::And(bits, Int(0x7f));
    const IntVector value =
        Select(hn::Eq(code, Int(0x7f)), Int(kNaNBits), DecodeMagnitude<3, 7>(code));
    return hn::Or(value, hn::ShiftLeft<24>(hn::And(bits, Int(0x80))));
  }
  static IntVector Encode(IntVector bits) {
    const IntVector code = EncodeMagnitude<3, 7>(hn::And(bits, Int(0x7fffffff)));
    return hn::Or(hn::Min(code, Int(0x7f)), hn::And(ShiftDown<24>(bits), Int(0x80)));
  }
};

template <>
struct Format<F8E5M2> {
  static IntVector Decode(IntVector bits) {
    const IntVector code = hn::And(bits, Int(0x7f));
    IntVector value = DecodeMagnitude<2, 15>(code);
    value = Select(hn::Eq(code, Int(0x7c)), Int(kInfinityBits), value);
    value = Select(hn::Gt(code, Int(0x7c)), Int(kNaNBits), value);
    return hn::Or(value, hn::ShiftLeft<24>(hn::And(bits, Int(0x80))));
  }
  static IntVector Encode(IntVector bits) {
    const IntVector magnitude = hn::And(bits, Int(0x7fffffff));
    IntVector code = hn::Min(EncodeMagnitude<2, 15>(magnitude), Int(0x7c));
    code = Select(hn::Gt(magnitude, Int(kInfinityBits)), Int(0x7f), code);
    return hn::Or(code, hn::And(ShiftDown<24>(bits), Int(0x80)));
  }
};

template <int kMantissa, int kBias>
struct FnuzFormat {
  static IntVector Decode(IntVector bits) {
    const IntVector magnitude = DecodeMagnitude<kMantissa, kBias>(hn::And(bits, Int(0x7f)));
    const IntVector value = hn::Or(magnitude, hn::ShiftLeft<24>(hn::And(bits, Int(0x80))));
    return Select(hn::Eq(bits, Int(0x80)), Int(kNaNBits), value);
  }
  static IntVector Encode(IntVector bits) {
    const IntVector code = EncodeMagnitude<kMantissa, kBias>(hn::And(bits, Int(0x7fffffff)));
    const IntVector value = hn::Or(code, hn::And(ShiftDown<24>(bits), Int(0x80)));
    const IntVector finite = Select(hn::Gt(code, Int(0x7f)), Int(0x80), value);
    return Select(hn::Eq(code, Int(0)), Int(0), finite);
  }
};
template <>
struct Format<F8E4M3FNUZ> : FnuzFormat<3, 8> {};
template <>
struct Format<F8E5M2FNUZ> : FnuzFormat<2, 16> {};

template <>
struct Format<F8E8M0FNU> {
  static IntVector Decode(IntVector bits) {
    const IntVector value = Select(hn::Eq(bits, Int(0)), Int(0x400000), hn::ShiftLeft<23>(bits));
    return Select(hn::Eq(bits, Int(0xff)), Int(kNaNBits), value);
  }
  static IntVector Encode(IntVector bits) {
    const IntVector magnitude = hn::And(bits, Int(0x7fffffff));
    const IntVector exponent = ShiftDown<23>(magnitude);
    const IntVector rounded = hn::Add(exponent, hn::And(ShiftDown<22>(magnitude), Int(1)));
    const IntVector subnormal = Select(hn::Gt(magnitude, Int(0x400000)), Int(1), Int(0));
    const IntVector finite = Select(hn::Eq(exponent, Int(0)), subnormal, rounded);
    return Select(hn::Eq(exponent, Int(0xff)), Int(0xff), finite);
  }
};

template <>
struct Format<F16> {
  static IntVector Decode(IntVector bits) {
    const IntVector code = hn::And(bits, Int(0x7fff));
    const IntVector value = DecodeMagnitude<10, 15>(code);
    const IntVector infinity = hn::Or(value, Int(kInfinityBits));
    const IntVector special =  // a NaN becomes quiet
        Select(hn::Gt(code, Int(0x7c00)), hn::Or(infinity, Int(kNaNBits)), infinity);
    return hn::Or(Select(hn::Gt(code, Int(0x7bff)), special, value),
                  hn::ShiftLeft<16>(hn::And(bits, Int(0x8000))));
  }
  static IntVector Encode(IntVector bits) {
    const IntVector magnitude = hn::And(bits, Int(0x7fffffff));
    const IntVector code = hn::Min(EncodeMagnitude<10, 15>(magnitude), Int(0x7c00));
    const IntVector nan = hn::Or(Int(0x7e00), hn::And(ShiftDown<13>(magnitude), Int(0x1ff)));
    return hn::Or(Select(hn::Gt(magnitude, Int(kInfinityBits)), nan, code),
                  hn::And(ShiftDown<16>(bits), Int(0x8000)));
  }
};

template <>
struct Format<BF16> {
  static IntVector Decode(IntVector bits) { return hn::ShiftLeft<16>(bits); }
  static IntVector Encode(IntVector bits) {
    const IntVector odd = hn::And(ShiftDown<16>(bits), Int(1));
    const IntVector rounded = ShiftDown<16>(hn::Add(bits, hn::Add(odd, Int(0x7fff))));
    const IntVector magnitude = hn::And(bits, Int(0x7fffffff));
    return Select(hn::Gt(magnitude, Int(kInfinityBits)), Int(0xffff), rounded);
  }
};

// A vector from `in` to `out`, which may be at any address.
template <class Small>
struct DecodeVector {
  using In = decltype(Small::bits);
  using Out = float;
  static void Run(const In* in, float* out) {
    const hn::Rebind<In, Ints> narrow;
    const IntVector bits = hn::PromoteTo(Ints(), hn::LoadU(narrow, in));
    hn::StoreU(AsFloat(Format<Small>::Decode(bits)), Floats(), out);
  }
};
template <class Small>
struct EncodeVector {
  using In = float;
  using Out = decltype(Small::bits);
  static void Run(const float* in, Out* out) {
    const hn::Rebind<Out, Ints> narrow;
    const IntVector code = Format<Small>::Encode(AsInt(hn::LoadU(Floats(), in)));
    hn::StoreU(hn::DemoteTo(narrow, code), narrow, out);
  }
};
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
// By the instructions, which also treat NaN as DecodeF16 and EncodeF16 do.
template <>
struct DecodeVector<F16> {
  using In = uint16_t;
  using Out = float;
  static void Run(const uint16_t* in, float* out) {
    const hn::Rebind<hwy::float16_t, Floats> half;
    const auto codes = hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(in));
    hn::StoreU(hn::PromoteTo(Floats(), codes), Floats(), out);
  }
};
template <>
struct EncodeVector<F16> {
  using In = float;
  using Out = uint16_t;
  static void Run(const float* in, uint16_t* out) {
    const hn::Rebind<hwy::float16_t, Floats> half;
    hn::StoreU(hn::DemoteTo(half, hn::LoadU(Floats(), in)), half,
               reinterpret_cast<hwy::float16_t*>(out));
  }
};
#endif

template <class Kernel>
void RunVectors(const void* in, void* out, int64_t count) {
  using In = typename Kernel::In;
  using Out = typename Kernel::Out;
  const In* x = static_cast<const In*>(in);
  Out* y = static_cast<Out*>(out);
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(Floats()));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) Kernel::Run(x + i, y + i);
  if (i == count) return;
  In rest[hn::MaxLanes(Floats())] = {};
  Out last[hn::MaxLanes(Floats())];
  const size_t n = static_cast<size_t>(count - i);
  std::memcpy(rest, x + i, n * sizeof(In));
  Kernel::Run(rest, last);
  std::memcpy(y + i, last, n * sizeof(Out));
}

inline void StoreLowBits(IntVector v, uint32_t* out) {
  hn::StoreU(v, Ints(), reinterpret_cast<int32_t*>(out));
}
template <class To>
inline void StoreLowBits(IntVector v, To* out) {
  const hn::Rebind<To, Ints> narrow;
  const IntVector low = hn::And(v, Int((1u << (8 * sizeof(To))) - 1));
  hn::StoreU(hn::DemoteTo(narrow, low), narrow, out);
}

// Four vectors at a time take the hardware's conversion, if all their values fit it.
template <class To>
void F32ToInteger(const void* in, void* out, int64_t count) {
  const float* x = static_cast<const float*>(in);
  To* y = static_cast<To*>(out);
  const Floats d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const FloatVector limit = hn::Set(d, 0x1p30f);
  const auto slowly = [](const float* from, To* to, int64_t n) {
    for (int64_t k = 0; k < n; ++k) {
      float value;  // at any address
      std::memcpy(&value, from + k, sizeof value);
      const To bits = static_cast<To>(FloatToBits64(static_cast<double>(value)));
      std::memcpy(to + k, &bits, sizeof bits);
    }
  };
  int64_t i = 0;
  for (; i + 4 * lanes <= count; i += 4 * lanes) {
    const FloatVector a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + i + lanes);
    const FloatVector e = hn::LoadU(d, x + i + 2 * lanes), f = hn::LoadU(d, x + i + 3 * lanes);
    const auto fit = hn::And(hn::And(hn::Lt(hn::Abs(a), limit), hn::Lt(hn::Abs(b), limit)),
                             hn::And(hn::Lt(hn::Abs(e), limit), hn::Lt(hn::Abs(f), limit)));
    if (!hn::AllTrue(d, fit)) {
      slowly(x + i, y + i, 4 * lanes);
      continue;
    }
    StoreLowBits(hn::ConvertTo(Ints(), a), y + i);
    StoreLowBits(hn::ConvertTo(Ints(), b), y + i + lanes);
    StoreLowBits(hn::ConvertTo(Ints(), e), y + i + 2 * lanes);
    StoreLowBits(hn::ConvertTo(Ints(), f), y + i + 3 * lanes);
  }
  slowly(x + i, y + i, count - i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace convert_internal
}  // namespace lathe
HWY_AFTER_NAMESPACE();

#endif  // LATHE_DTYPES_SMALL_FLOAT_LOOPS_INL_H_
